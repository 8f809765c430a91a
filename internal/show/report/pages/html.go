package pages

import (
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"strings"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/richtext"
)

//go:embed assets
var assets embed.FS

// Stylesheet returns the one style sheet of reports and pages. It needs no other file, and nothing in a fragment
// carries a style of its own, so that a Content-Security-Policy may forbid those.
func Stylesheet() string {
	text, err := assets.ReadFile("assets/style.css")
	if err != nil {
		panic(err) // it is inside the binary
	}
	return string(text)
}

// Templates returns the fragments by name, for pages to clone and add to:
//
//	figure    *Figure     a plot with its table
//	grid      *Grid       a table in a box of its own
//	findings  *Findings   one table of findings: plots, numbers, coverage
//	matrix    *Matrix     items by lanes
//	items     []Item      what is behind the cells of a matrix
//	summary   *Summary    the answer of a run, with its leaderboard
//	words     []string    primary findings in words
//	gates     []analysis.Passage
//	example   Example
//	rehearsal nothing     the mark that nothing was really asked
//
// The functions clean and prose make foreign words fit to show.
func Templates() (*template.Template, error) {
	funcs := template.FuncMap{
		"clean":  func(s any) string { return assay.Clean(fmt.Sprint(s), plot.MaxWords) },
		"ticked": ticked,
		"prose":  func(s string) string { return plot.CleanText(s, plot.MaxText) },
		"rich":   func(s string) template.HTML { return richtext.Both(plot.CleanText(s, plot.MaxText)) },
		"called": Called,
		"jpeg": func(b []byte) template.URL {
			return template.URL("data:image/jpeg;base64," + base64.StdEncoding.EncodeToString(b))
		},
		"source": func(s string) string { return plot.CleanText(s, plot.MaxSource) },
		"score":  scoreText,
		"long":   func(s string) bool { return utf8.RuneCountInString(s) > longName },
	}
	t, err := template.New("report").Funcs(funcs).ParseFS(assets, "assets/*.html")
	if err != nil {
		return nil, fmt.Errorf("read the fragments: %w", err)
	}
	return t, nil
}

// Called returns a call of a tool, fit to show.
func Called(c assay.ToolCall) template.HTML {
	return richtext.Call(assay.ToolCall{Name: assay.Clean(c.Name, plot.MaxWords),
		Arguments: []byte(plot.CleanText(c.Given(), plot.MaxText))})
}

// ticked returns words with what stands between backticks as code.
func ticked(s string) template.HTML {
	parts := strings.Split(assay.Clean(s, plot.MaxWords), "`")
	var b strings.Builder
	for i, part := range parts {
		part = html.EscapeString(part)
		switch {
		case i%2 == 0:
			b.WriteString(part)
		case i == len(parts)-1:
			b.WriteString("`" + part)
		default:
			b.WriteString(`<code class="in">` + part + "</code>")
		}
	}
	return template.HTML(b.String())
}

// longName is from how many letters on a name may be broken anywhere.
const longName = 26

func scoreText(s *float64) string {
	if s == nil {
		return ""
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", *s), "0"), ".")
}
