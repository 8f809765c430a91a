package site

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/show/report/pages"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/richtext"
)

//go:embed templates/*.html
var templateFiles embed.FS

//go:embed static/*
var staticFiles embed.FS

// templates are the pages, parsed once.
type templates struct {
	all   map[string]*template.Template
	sent  map[string]*template.Template // the same, with the texts of conversations as they were sent
	alone *template.Template            // the page for those who are not signed in: it needs no other file
}

// signIn writes the page that asks for the token, and then leads to an address.
func (t *templates) signIn(w io.Writer, why, to string) error {
	return t.alone.ExecuteTemplate(w, "signin.html", struct{ Why, To string }{why, to})
}

func newTemplates(now func() time.Time) (*templates, error) {
	base, err := pages.Templates()
	if err != nil {
		return nil, err
	}
	base, err = base.Funcs(functions(now)).ParseFS(templateFiles, "templates/base.html", "templates/parts.html")
	if err != nil {
		return nil, fmt.Errorf("parse the pages: %w", err)
	}
	names, err := templateFiles.ReadDir("templates")
	if err != nil {
		return nil, err
	}
	t := &templates{all: map[string]*template.Template{}, sent: map[string]*template.Template{}}
	if t.alone, err = template.ParseFS(templateFiles, "templates/signin.html"); err != nil {
		return nil, fmt.Errorf("parse the page that asks for the token: %w", err)
	}
	for _, f := range names {
		name := strings.TrimSuffix(f.Name(), ".html")
		if name == "base" || name == "parts" || name == "signin" {
			continue
		}
		one, err := template.Must(base.Clone()).ParseFS(templateFiles, path.Join("templates", f.Name()))
		if err != nil {
			return nil, fmt.Errorf("parse page %s: %w", name, err)
		}
		t.all[name] = one
		t.sent[name] = template.Must(one.Clone()).Funcs(asTheyCame())
	}
	return t, nil
}

// asTheyCame returns the functions that show texts and calls of tools as they were sent.
func asTheyCame() template.FuncMap {
	sent := func(s string) template.HTML { return richtext.AsSent(plot.CleanText(s, MaxShown)) }
	return template.FuncMap{"rich": sent, "called": func(c assay.ToolCall) template.HTML {
		return sent(assay.CallsText([]assay.ToolCall{c}))
	}}
}

// frame is the data around every page.
type frame struct {
	Title string
	Run   *RunRow
	Tab   string
	Live  string
	CSRF  string
	Data  any

	AsSent     bool   // texts are shown as they were sent
	OtherTexts string // the same page with texts shown the other way
}

func (t *templates) write(w io.Writer, r *http.Request, v *View, csrf string) error {
	sent := asSent(r)
	set := t.all
	if sent {
		set = t.sent
	}
	one, ok := set[v.Template]
	if !ok {
		return fmt.Errorf("no page is called %q", v.Template)
	}
	return one.ExecuteTemplate(w, "base.html", frame{v.Title, v.Run, v.Tab, v.Live, csrf, v.Data, sent, otherTexts(r, sent)})
}

// functions returns the words that pages use.
func functions(now func() time.Time) template.FuncMap {
	return template.FuncMap{
		"n":         thousands,
		"count":     func(n int64, one string) string { return assay.Count(n, one) },
		"slug":      func(s runs.State) string { return strings.ReplaceAll(string(s), " ", "-") },
		"usd":       func(d float64) string { return assay.Dollars(d).String() },
		"usdOr":     usdOr,
		"rich":      func(s string) template.HTML { return richtext.HTML(plot.CleanText(s, MaxShown)) },
		"called":    pages.Called,
		"text":      func(s string) string { return plot.CleanText(s, MaxShown) },
		"percent":   percent,
		"when":      when,
		"ago":       func(t time.Time) string { return ago(now(), t) },
		"age":       func(t time.Time) string { return age(now().Sub(t)) },
		"iso":       func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"bytes":     assay.Size,
		"link":      Link,
		"answer":    AnswerLink,
		"bar":       barOf,
		"hitsHere":  func() template.HTML { return HitsHere },
		"arr":       func(all ...any) []any { return all },
		"num":       func(n *int64) int64 { return *n },
		"scrolls":   func(s string) bool { return len(s) > mayScroll || strings.Count(s, "\n") > 5 },
		"shortened": func(s string, n int) string { return assay.Clean(firstLines(s), n) },
	}
}

// HitsHere is where hits come into a page. A template leaves comments out, so that it is a function's word.
const HitsHere = "<!-- hits -->"

// mayScroll is from how many bytes on a text may be taller than its box, which then has to be reached by keys.
const mayScroll = 300

// MaxShown is how much of one text a page shows; the raw bytes are one click away.
const MaxShown = 64 << 10

func thousands(n any) string {
	var v int64
	switch n := n.(type) {
	case int:
		v = int64(n)
	case int64:
		v = n
	case *int64:
		v = *n
	default:
		return fmt.Sprint(n)
	}
	return assay.Thousands(v)
}

func usdOr(d *float64, otherwise string) string {
	if d == nil {
		return otherwise
	}
	return assay.Dollars(*d).String()
}

func percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	p := 100 * float64(part) / float64(whole)
	switch {
	case part == whole:
		return "100%"
	case p > 99.9: // not all of it
		return "99.9%"
	case p > 0 && p < 0.1:
		return "<0.1%"
	case p < 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(math.Floor(p), 'f', 0, 64) + "%"
}

func when(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2 Jan 15:04:05")
}

// ago returns a moment relative to now, past or to come.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	d := now.Sub(t)
	form := "%s ago"
	if d < 0 {
		d, form = -d, "in %s"
	}
	return fmt.Sprintf(form, lasting(d))
}

// age returns how old something is, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return assay.Count(int64(d.Hours()/24), "day")
}

func lasting(d time.Duration) string {
	switch {
	case d < time.Second:
		return "a moment"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Link returns an address with a query: link PATH NAME VALUE …; empty values are left out.
func Link(to string, query ...any) (string, error) {
	q := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		if v := fmt.Sprint(query[i+1]); v != "" && v != "0" {
			q.Add(fmt.Sprint(query[i]), v)
		}
	}
	if len(q) == 0 {
		return to, nil
	}
	return to + "?" + q.Encode(), nil
}

// firstLines is enough of a text for one line of a table.
func firstLines(s string) string {
	if len(s) > 2000 {
		s = s[:2000]
	}
	return strings.Join(strings.Fields(s), " ")
}

// bar is how far something is, in parts of a hundred.
type bar struct{ Good, Ready, Bad, Open float64 }

// ReadyAt returns where the part begins that is ready at a provider.
func (b bar) ReadyAt() float64 { return b.Good }

// BadAt returns where the part without an answer begins.
func (b bar) BadAt() float64 { return b.Good + b.Ready }

// OpenAt returns where the part in flight begins.
func (b bar) OpenAt() float64 { return b.Good + b.Ready + b.Bad }

func barOf(p runs.Progress) bar {
	flying := p.InFlight - p.Ready + p.Live
	whole := float64(max(p.Wanted, p.Answered+p.Failed+p.Open(), 1))
	part := func(n int64) float64 { return 100 * float64(n) / whole }
	return bar{part(p.Answered), part(p.Ready), part(p.Failed), part(flying)}
}

// Static serves the style sheet and the script.
func (s *Site) Static(w http.ResponseWriter, r *http.Request) {
	text, kind, err := staticFile(r.PathValue("name"))
	if err != nil {
		s.Fail(w, r, ErrNoPage)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=300")
	writeWhole(w, r, http.StatusOK, kind, text)
}

func staticFile(name string) ([]byte, string, error) {
	if name == "report.css" {
		return []byte(pages.Stylesheet()), "text/css; charset=utf-8", nil
	}
	kind := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml"}[path.Ext(name)]
	if kind == "" {
		return nil, "", ErrNoPage
	}
	text, err := staticFiles.ReadFile("static/" + name)
	return text, kind, err
}
