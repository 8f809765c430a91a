package richtext

import (
	"regexp"
	"strings"
	"testing"

	"assay/internal/assay"
)

func TestMarkdownIsRendered(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"paragraphs": {"one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"},
		"emphasis":   {"a *b* **c** ~~d~~ `e<f`", "<p>a <em>b</em> <strong>c</strong> <del>d</del> <code>e&lt;f</code></p>"},
		"headings":   {"# A\n\n### B", `<p class="heading heading1">A</p><p class="heading heading3">B</p>`},
		"lists":      {"- a\n- b\n\n3. c\n4. d", `<ul><li>a</li><li>b</li></ul><ol start="3"><li>c</li><li>d</li></ol>`},
		"quotes":     {"> said\n> so", "<blockquote><p>said<br>so</p></blockquote>"},
		"code": {"```go\nif a < b {\n\treturn\n}\n```",
			"<p class=\"language\">go</p><pre class=\"code\">if a &lt; b {\n\treturn\n}\n</pre>"},
		"open fence": {"```\ncut of", "<pre class=\"code\">cut of\n</pre>"},
		"table": {"| a | b |\n|---|--:|\n| x | 1 |",
			`<table><tr><th scope="col">a</th><th scope="col" class="n">b</th></tr><tr><td>x</td><td class="n">1</td></tr></table>`},
		"formulas":    {`\(x_1\) is \*not\* bold`, `<p>\(x_1\) is *not* bold</p>`},
		"links":       {`[here](https://a.example "t") <https://b.example> ![cat](c.png)`, `<p>here (https://a.example &#34;t&#34;) https://b.example <span class="soft">[picture] </span>cat (c.png)</p>`},
		"definitions": {"[x]: https://a.example", "<p>[x]: https://a.example</p>"},
		"json":        {` {"b":1.50,"a":["<i>"]} `, "<pre class=\"code\">{\n  &#34;b&#34;: 1.50,\n  &#34;a&#34;: [\n    &#34;&lt;i&gt;&#34;\n  ]\n}</pre>"},
		"arabic":      {"**مرحبا**", "<p><strong>مرحبا</strong></p>"},
	} {
		if got := string(HTML(c.text)); got != `<div class="md">`+c.want+`</div>` {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestATextThatRenderingWouldShortenIsShownAsSent(t *testing.T) {
	for _, text := range []string{
		"| a |\n|---|\n| x | lost |",
		strings.Repeat("> ", 200) + "deep",
		strings.Repeat("- ", 200) + "deep",
		strings.Repeat("*a_", 20000) + "deep", // the parser would take a minute
	} {
		if got := string(HTML(text)); !strings.HasPrefix(got, `<div class="sent">`) || !strings.Contains(got, text[len(text)-4:]) {
			t.Errorf("%.40q: %.200s", text, got)
		}
	}
}

func TestATextIsThereInBothForms(t *testing.T) {
	for text, want := range map[string]string{
		"plain\nlines": `<div class="sent">plain` + "\nlines</div>",
		"a < b":        `<div class="sent">a &lt; b</div>`,
		"a *b*":        `<div class="both"><div class="md"><p>a <em>b</em></p></div><div class="sent">a *b*</div></div>`,
	} {
		if got := string(Both(text)); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestACallIsLaidOutAndStaysText(t *testing.T) {
	for given, want := range map[string]string{
		`{"a":["<i>"],"b":2}`: "{\n  &#34;a&#34;: [\n    &#34;&lt;i&gt;&#34;\n  ],\n  &#34;b&#34;: 2\n}",
		`{"a":</pre>`:         `{&#34;a&#34;:&lt;/pre&gt;`,
	} {
		got := string(Call(assay.ToolCall{Name: "<b>f", Arguments: []byte(given)}))
		if got != `<div class="md call"><p class="language">calls <b>&lt;b&gt;f</b></p><pre class="code">`+want+`</pre></div>` {
			t.Errorf("%s: %s", given, got)
		}
	}
}

var hostile = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, "<style>*{display:none}</style>", `<!-- x --><b>y</b>`,
	`[x](javascript:alert(1))`, `![x](https://evil.example/p.png)`, `<javascript:alert(1)>`, `[x](data:text/html,<script>)`,
	"# <svg/onload=alert(1)>", "```\"><script>\n</pre><script>\n```", "|<b>|\n|---|\n|<img src=x>|", "`</code><script>`",
	`{"a":"</pre><script>"}`, `[a](<"onmouseover="x>)`, "~~~ \" onclick=x\n~~~", "&lt;script&gt;&#60;b&#62;", "<a href='javascript:x'>q</a>",
	"<div\n\nonclick=x>", "[x](u \"<b>\")", `<iframe src="https://evil.example"></iframe>`,
}

func TestNothingInATextComesAlive(t *testing.T) {
	for _, text := range hostile {
		inert(t, text)
	}
}

func FuzzTextsStayInert(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Add("| a |\n|---|\n| x | lost |\n\n1. *b* **c\n\t\tcode\n> q")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<14 {
			inert(t, text)
		}
	})
}

var tags = regexp.MustCompile(`<[^>]*>`)

// ours are all tags that a text may become.
var ours = regexp.MustCompile(`^<(/(div|p|ul|ol|li|blockquote|pre|code|em|strong|del|table|tr|td|th|span)|div class="(md|sent)"|` +
	`p( class="(heading heading[1-6]|language|sent)")?|ul|ol start="[0-9]+"|li|blockquote|pre class="code"|code|em|strong|del|table|tr|td( class="n")?|` +
	`th scope="col"( class="n")?|span class="soft"|br|hr)>$`)

func inert(t *testing.T, text string) {
	t.Helper()
	got := string(HTML(text))
	for _, tag := range tags.FindAllString(got, -1) {
		if !ours.MatchString(tag) {
			t.Fatalf("%q: tag %s in %s", text, tag, got)
		}
	}
	if rest := tags.ReplaceAllString(got, ""); strings.ContainsAny(rest, "<>") {
		t.Fatalf("%q: %s", text, got)
	}
}
