// Rules of accessibility that a page can break, each with a name. The result is a list of lines: the rule, and what breaks it.
(() => {
  const found = new Map();
  const broken = (rule, what) => {
    const list = found.get(rule) || [];
    if (list.length < 3) list.push(typeof what === "string" ? what : what.outerHTML.replace(/\s+/g, " ").slice(0, 160));
    found.set(rule, list);
  };
  const all = (selector, within) => Array.from((within || document).querySelectorAll(selector));
  const seen = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest("[aria-hidden=true]");
  const texts = (ids) => (ids || "").split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent || "").join(" ");
  const svgTitle = (e) => Array.from(e.children).find((c) => c.tagName.toLowerCase() === "title")?.textContent || "";
  const name = (e) => [e.getAttribute("aria-label"), texts(e.getAttribute("aria-labelledby")), e.getAttribute("title"), e.getAttribute("alt"), e.textContent,
    ...all("img[alt]", e).map((i) => i.alt), ...all("svg", e).map((s) => s.getAttribute("aria-label") || svgTitle(s))].join(" ").trim();
  const focusable = "a[href], button:not([disabled]), input:not([type=hidden]):not([disabled]), select:not([disabled]), textarea:not([disabled]), summary, [tabindex]:not([tabindex='-1'])";

  if (!document.documentElement.lang) broken("lang", "the page does not say its language");
  if (!document.title.trim()) broken("title", "the page has no title");
  if (all("main, [role=main]").filter(seen).length !== 1) broken("main", all("main").length + " main parts");

  for (const e of all("img")) if (!e.hasAttribute("alt")) broken("image-name", e);
  for (const e of all("svg")) {
    const named = (e.getAttribute("aria-label") || "").trim() || texts(e.getAttribute("aria-labelledby")).trim() || svgTitle(e).trim();
    if (seen(e) && !named && e.getAttribute("role") !== "presentation") broken("image-name", e);
  }
  for (const e of all("a[href], button, summary, [role=button], [role=link]")) if (seen(e) && !name(e)) broken("control-name", e);
  for (const e of all("input:not([type=hidden]):not([type=submit]), select, textarea")) {
    const named = Array.from(e.labels || []).some((l) => l.textContent.trim()) || (e.getAttribute("aria-label") || "").trim() || texts(e.getAttribute("aria-labelledby")).trim() || e.title.trim();
    if (seen(e) && !named) broken("field-label", e);
  }

  const ids = new Set();
  for (const e of all("[id]")) {
    if (ids.has(e.id)) broken("double-id", e.id);
    ids.add(e.id);
  }
  for (const e of all("[for], [aria-labelledby], [aria-describedby], [aria-controls]")) {
    for (const a of ["for", "aria-labelledby", "aria-describedby", "aria-controls"]) {
      for (const id of (e.getAttribute(a) || "").split(/\s+/).filter(Boolean)) if (!ids.has(id)) broken("no-such-id", a + "=" + id);
    }
  }

  let level = 0;
  const heads = all("h1, h2, h3, h4, h5, h6").filter(seen);
  for (const h of heads) {
    const n = Number(h.tagName[1]);
    if (n > level + 1) broken("heading-order", h);
    if (!h.textContent.trim()) broken("heading-empty", h);
    level = n;
  }
  if (heads.filter((h) => h.tagName === "H1").length !== 1) broken("one-h1", heads.filter((h) => h.tagName === "H1").length + " first headings");

  for (const e of all("[role=img]")) if (e.querySelector(focusable)) broken("image-with-controls", e);
  for (const e of all("a[href], button")) if (e.querySelector("a[href], button, input, select")) broken("nested-controls", e);
  for (const e of all("[tabindex]")) if (Number(e.getAttribute("tabindex")) > 0) broken("tab-order", e);
  for (const e of all("[aria-hidden=true]")) if (e.matches(focusable) || e.querySelector(focusable)) broken("hidden-control", e);

  for (const e of all("body *")) {
    if (!seen(e) || /^(textarea|select|input|html|body)$/i.test(e.tagName)) continue;
    const s = getComputedStyle(e);
    const scrolls = /auto|scroll/.test(s.overflowX) && e.scrollWidth > e.clientWidth + 1 || /auto|scroll/.test(s.overflowY) && e.scrollHeight > e.clientHeight + 1;
    if (scrolls && e.tabIndex < 0 && !e.querySelector(focusable)) broken("scroll-focus", e);
    if (scrolls && e.hasAttribute("tabindex") && !(e.getAttribute("aria-label") || texts(e.getAttribute("aria-labelledby"))).trim()) broken("scroll-name", e);
  }

  for (const t of all("table").filter(seen)) {
    if (!t.querySelector("th")) broken("table-head", t);
    for (const h of all("th", t)) {
      if (!h.hasAttribute("scope")) broken("table-scope", h);
      if (!h.textContent.trim() && !h.getAttribute("aria-label")) broken("table-head-empty", t);
    }
  }
  for (const l of all("ul, ol")) for (const c of l.children) if (!/^(LI|SCRIPT|TEMPLATE)$/.test(c.tagName)) broken("list", c);
  for (const d of all("dl")) for (const c of d.children) if (!/^(DT|DD|DIV|SCRIPT|TEMPLATE)$/.test(c.tagName)) broken("list", c);

  const landmarks = {};
  for (const e of all("nav, aside, form[aria-label], section[aria-label], [role=navigation], [role=search]").filter(seen)) {
    const key = (e.getAttribute("role") || e.tagName) + "/" + (e.getAttribute("aria-label") || texts(e.getAttribute("aria-labelledby"))).trim();
    if (landmarks[key]) broken("landmark-unique", key);
    landmarks[key] = true;
  }

  // Contrast: the colour of every text against what is painted behind it.
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const colours = new Map();
  const rgba = (text) => {
    if (!colours.has(text)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = "#000";
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const d = canvas.getImageData(0, 0, 1, 1).data;
      colours.set(text, [d[0], d[1], d[2], d[3] / 255]);
    }
    return colours.get(text);
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3])).concat(1);
  const light = (c) => [0, 1, 2].map((i) => c[i] / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.documentElement).colorScheme.includes("dark");
  const behind = (e) => {
    const layers = [];
    for (let p = e; p; p = p.parentElement) {
      const c = rgba(getComputedStyle(p).backgroundColor);
      if (c[3] > 0) layers.push(c);
      if (c[3] === 1) break;
    }
    return layers.reduceRight((under, top) => over(top, under), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const behindInPlot = (e) => {
    const box = e.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    let under = behind(e.closest("svg"));
    for (const shape of all("rect", e.closest("svg"))) {
      if (shape.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING) {
        const b = shape.getBoundingClientRect(), s = getComputedStyle(shape);
        if (b.left <= x && x <= b.right && b.top <= y && y <= b.bottom && s.fill !== "none") {
          const c = rgba(s.fill);
          under = over([c[0], c[1], c[2], c[3] * Number(s.fillOpacity)], under);
        }
      }
    }
    return under;
  };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    const e = n.parentElement;
    if (!n.data.trim() || /^(script|style|title|desc|option|noscript)$/i.test(e.tagName) || !seen(e)) continue;
    if (!e.closest("main, header, nav, footer, aside, [role=main], [role=banner], [role=navigation], section[aria-label], .skip, dialog")) broken("region", n.data.trim().slice(0, 60));
    if (e.closest(":disabled, [aria-disabled=true]") || !e.getClientRects().length) continue;
    const s = getComputedStyle(e), plot = e.closest("svg");
    let colour = rgba(plot ? s.fill : s.color), opacity = colour[3];
    for (let p = e; p; p = p.parentElement) opacity *= Number(getComputedStyle(p).opacity);
    const under = plot ? behindInPlot(e) : behind(e);
    const size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.66 && Number(s.fontWeight) >= 700;
    const r = ratio(over([colour[0], colour[1], colour[2], opacity], under), under);
    if (r < (large ? 3 : 4.5) - 0.005) broken("contrast", r.toFixed(2) + " " + e.className.toString() + " " + n.data.trim().slice(0, 50));
  }
  return Array.from(found, ([rule, list]) => list.map((what) => rule + ": " + what).join("\n")).join("\n");
})()
