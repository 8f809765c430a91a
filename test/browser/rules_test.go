package browser_test

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

//go:embed rules.js
var rules string

// accessible fails where a page breaks a rule of accessibility, light or dark.
func (v *visitor) accessible(what string) {
	v.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		v.scheme(scheme)
		if found := read(v, "look for broken rules", chromedp.Evaluate[string](rules)); found != "" {
			v.t.Errorf("%s, %s:\n%s", what, scheme, found)
		}
	}
	v.scheme("light")
}

// scheme asks pages for a light or a dark look.
func (v *visitor) scheme(name string) {
	v.t.Helper()
	params := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}}
	if _, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, params); err != nil {
		v.t.Fatal(err)
	}
}

// worst breaks every rule once, and names it after the rule's mark.
const worst = `<!doctype html><html><head><title> </title></head><body style="color-scheme: light; background: #fff">
<p>outside of everything</p>
<div><h1>One</h1><h3>Three</h3><h2></h2></div>
<img src="data:,"><svg width="9" height="9"><rect width="9" height="9"></rect></svg>
<a href="#x"> </a><input type="text"><label for="nowhere">of nothing</label>
<i id="twice"></i><i id="twice"></i>
<div role="img" aria-label="plot"><a href="#y">y</a></div>
<a href="#z">around <button>a button</button></a>
<b tabindex="3">first of all</b><div aria-hidden="true"><a href="#h">hidden</a></div>
<div style="overflow: auto; width: 40px; height: 20px"><div style="width: 400px">wide</div></div>
<div tabindex="0" style="overflow: auto; width: 40px; height: 20px"><div style="width: 400px">wide, without a name</div></div>
<table><tr><td>no head</td></tr></table><table><tr><th>no scope</th><th scope="col"></th></tr></table>
<ul><p>no item of a list</p></ul><nav>a</nav><nav>b</nav>
<p style="color: #999">hard to read</p>
</body></html>`

// fine breaks none.
const fine = `<!doctype html><html lang="en"><head><title>Fine</title></head><body style="background: #fff; color: #222">
<nav aria-label="a">a</nav><nav aria-label="b">b</nav>
<main><h1>One</h1><h2>Two</h2><img alt="" src="data:,"><svg role="img" aria-label="a plot" width="90" height="20"><rect width="90" height="20" fill="#123"></rect><text x="9" y="15" fill="#fff">white</text></svg>
<a href="#x">x</a><label>Name <input type="text"></label><div tabindex="0" role="group" aria-label="wide" style="overflow: auto; width: 40px"><div style="width: 400px">wide</div></div>
<table><tr><th scope="col">head</th></tr><tr><td>cell</td></tr></table><button disabled style="color: #ccc">not now</button>
<p style="color: #fff; background: #333">white on dark</p><ul><li>one</li></ul></main></body></html>`

func TestEveryRuleIsFoundWhereItIsBroken(t *testing.T) {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	dir := t.TempDir()
	v := visit(t, ctx, dashboard(t, ctx, dir))
	look := func(name, page string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		v.do(name, chromedp.Navigate("file://"+file), chromedp.WaitReady(chromedp.CSS("body")))
		return read(v, "look for broken rules", chromedp.Evaluate[string](rules))
	}
	if found := look("fine.html", fine); found != "" {
		t.Errorf("a page that breaks no rule: %s", found)
	}
	found := look("worst.html", worst)
	for _, rule := range []string{
		"lang", "title", "main", "image-name: <img", "image-name: <svg", "control-name", "field-label", "double-id: twice",
		"no-such-id: for=nowhere", "heading-order: <h3", "heading-empty", "image-with-controls", "nested-controls", "tab-order",
		"hidden-control", "scroll-focus", "scroll-name", "table-head: ", "table-scope", "table-head-empty", "list: <p", "landmark-unique",
		"region: outside", "contrast: 2.85",
	} {
		if !strings.Contains("\n"+found, "\n"+rule) {
			t.Errorf("%s is broken and not found", rule)
		}
	}
	if found := look("two.html", strings.Replace(fine, "<h2>Two</h2>", "<h1>Two</h1>", 1)); !strings.HasPrefix(found, "one-h1: 2") {
		t.Errorf("two first headings: %q", found)
	}
	if t.Failed() {
		t.Log(found)
	}
}
