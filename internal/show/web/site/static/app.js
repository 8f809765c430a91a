// Pages that change by themselves, keys for the arena and the grid, and times as the reader's clock has them. Nothing else: every page
// works without it.
"use strict";

(function () {
  // Times are written in UTC by the server.
  function localTimes(within) {
    for (const t of within.querySelectorAll("time[datetime]")) {
      const at = new Date(t.dateTime);
      if (isNaN(at)) continue;
      t.title = t.dateTime;
      const year = at.getFullYear() === new Date().getFullYear() ? undefined : "numeric";
      t.textContent = at.toLocaleString(undefined, { year, day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
    }
  }

  // What is open or in use in a fragment stays so.
  function replace(old, fresh) {
    localTimes(fresh);
    if (old.innerHTML === fresh.innerHTML) return;
    if (old.contains(document.activeElement) && document.activeElement !== document.body) {
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) && document.activeElement.type !== "checkbox") return;
    }
    const open = Array.from(old.querySelectorAll("details"), (d) => d.open);
    fresh.querySelectorAll("details").forEach((d, i) => { if (i < open.length) d.open = open[i]; });
    const at = old.contains(document.activeElement) && document.activeElement.type === "checkbox" ? document.activeElement.value : null;
    const ticked = new Set(Array.from(old.querySelectorAll("input[type=checkbox]:checked"), (b) => b.value));
    for (const b of fresh.querySelectorAll("input[type=checkbox]")) if (ticked.has(b.value)) b.checked = true;
    const boxes = Array.from(old.querySelectorAll(".scroll"), (b) => b.scrollLeft);
    const left = old.scrollLeft;
    old.replaceChildren(...fresh.childNodes);
    old.scrollLeft = left;
    for (const b of old.querySelectorAll("input[type=checkbox]")) if (b.value === at) b.focus();
    old.querySelectorAll(".scroll").forEach((b, i) => { if (i < boxes.length) b.scrollLeft = boxes[i]; });
  }

  let busy = false, again = false, last = 0;

  async function refresh() {
    if (busy || document.hidden) { again = true; return; }
    busy = true; again = false;
    try {
      const wait = last + 1000 - Date.now();
      if (wait > 0) await new Promise((done) => setTimeout(done, wait));
      last = Date.now();
      const answer = await fetch(location.pathname + location.search, { credentials: "same-origin", cache: "no-store" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const old of document.querySelectorAll("[data-live]")) {
        const fresh = page.getElementById(old.id);
        if (fresh) replace(old, fresh);
      }
    } catch (e) {
      // The server is away for a moment; the next news try again.
    } finally {
      busy = false;
      if (again || waits()) refresh();
    }
  }

  // A page that waits for something looks again by itself: it may have been made before anybody listened for news.
  const waits = () => document.querySelector("[data-live] .working") !== null;

  function listen(where) {
    const mark = document.getElementById("live");
    const say = (word, state) => { if (mark) { mark.textContent = word; mark.dataset.state = state; } };
    const news = new EventSource(where);
    let lost = false;
    news.addEventListener("hello", () => { say("live", "on"); if (lost) refresh(); lost = false; });
    news.addEventListener("change", refresh);
    news.onerror = () => { lost = true; say("not connected", "off"); };
    addEventListener("pagehide", () => news.close());
  }

  // A key presses the button that names it, unless the reader is typing.
  function keys() {
    addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.repeat || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
      for (const b of document.querySelectorAll("[data-key]")) {
        if (b.dataset.key.split(" ").includes(e.key.toLowerCase()) && !b.disabled) {
          e.preventDefault();
          b.click();
          return;
        }
      }
    });
  }

  // A figure's numbers go to the clipboard; without it, the link shows them.
  async function copy(link) {
    const said = link.dataset.said || (link.dataset.said = link.textContent);
    const say = (words) => { link.textContent = words; setTimeout(() => { link.textContent = said; }, 2000); };
    try {
      const answer = await fetch(link.href, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(answer.statusText);
      await navigator.clipboard.writeText(await answer.text());
      say("Copied");
    } catch (e) {
      location.href = link.href;
    }
  }

  // A command goes to the clipboard.
  document.documentElement.classList.add("script");
  document.addEventListener("click", async (e) => {
    const button = e.target.closest && e.target.closest("button[data-copies]");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "Copied";
    } catch (err) {
      getSelection().selectAllChildren(code);
      button.textContent = "Marked";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });

  document.addEventListener("click", (e) => {
    const link = e.target.closest && e.target.closest("a[data-copy]");
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    copy(link);
  });

  // Keys for the grid: j and k go from item to item, h and l from lane to lane, Enter opens, n turns the page, / searches. All are links.
  function gridKeys() {
    if (!document.querySelector("#grid, #compare")) return;
    const rows = () => Array.from(document.querySelectorAll("table.matrix tbody tr"));
    const cells = (row) => Array.from(row.querySelectorAll("a"));

    function at() {
      const all = rows();
      const row = all.findIndex((r) => r.contains(document.activeElement));
      return { row, column: row < 0 ? 0 : cells(all[row]).indexOf(document.activeElement) };
    }

    function go(down, right) {
      const all = rows();
      if (all.length === 0) return;
      const here = at();
      const row = here.row < 0 ? 0 : Math.min(all.length - 1, Math.max(0, here.row + down));
      const links = cells(all[row]);
      if (links.length === 0) return;
      const link = links[Math.min(links.length - 1, Math.max(0, here.column + right))];
      link.focus();
      link.scrollIntoView({ block: "nearest", inline: "nearest" });
    }

    const keys = { j: () => go(1, 0), k: () => go(-1, 0), l: () => go(0, 1), h: () => go(0, -1),
      n: () => { const next = document.querySelector(".pager a[rel=next]"); if (next) next.click(); },
      "/": () => { const box = document.querySelector("[data-slash]"); if (box) { box.focus(); box.select(); } } };

    addEventListener("keydown", (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
      const does = keys[e.key];
      if (!does) return;
      e.preventDefault();
      does();
    });
  }

  // Two runs can be compared: a third tick takes the first one away, and the button waits for the second.
  function ticks() {
    const form = document.getElementById("pick-two");
    if (!form) return;
    const order = [];
    const boxes = () => Array.from(document.querySelectorAll('input[form="pick-two"]:checked'));
    const look = () => { form.querySelector("button").disabled = boxes().length !== 2; };
    document.addEventListener("change", (e) => {
      if (!e.target.matches('input[form="pick-two"]')) return;
      if (e.target.checked) order.push(e.target.value);
      while (boxes().length > 2) {
        const first = order.shift();
        for (const b of boxes()) if (b.value === first && b !== e.target) b.checked = false;
        if (order.length === 0) break;
      }
      look();
    });
    look();
  }

  localTimes(document);
  ticks();
  keys();
  gridKeys();
  for (const b of document.querySelectorAll("[data-stop]")) b.addEventListener("click", () => window.stop());
  document.addEventListener("visibilitychange", () => { if (!document.hidden && again) refresh(); });
  if (document.body.dataset.news) listen(document.body.dataset.news);
  if (waits()) refresh();
})();
