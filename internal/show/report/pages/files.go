package pages

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"assay/internal/assay"
	"assay/internal/show/report/plot"
)

// FigureFormats returns what a figure can be written as.
func FigureFormats() []string { return []string{"md", "tex", "svg", "csv"} }

// WriteFigure writes a figure in one of [FigureFormats]: its numbers as a table, or the plot by itself. Safe marks what
// a spreadsheet would take for a formula.
func WriteFigure(w io.Writer, f *plot.Figure, format string, safe func(string) string) error {
	switch format {
	case "md":
		return writeMarkdown(w, f)
	case "tex":
		return writeLaTeX(w, f)
	case "csv":
		return writeCSV(w, f, safe)
	case "svg":
		return writeSVG(w, f)
	}
	return fmt.Errorf("no format of figures is called %q", format)
}

func writeMarkdown(w io.Writer, f *plot.Figure) error {
	var b strings.Builder
	head, rows := f.Table(false)
	if len(head) == 0 {
		return fmt.Errorf("figure %q has no numbers", f.Title)
	}
	fmt.Fprintf(&b, "**%s**\n\n", escaped(f.Caption()))
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + escaped(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(head)
	for i := range head {
		if f.Numeric(i) {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for _, r := range rows {
		line(r)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeLaTeX(w io.Writer, f *plot.Figure) error {
	var b strings.Builder
	head, rows := f.Table(false)
	if len(head) == 0 {
		return fmt.Errorf("figure %q has no numbers", f.Title)
	}
	align := make([]byte, len(head))
	for i := range head {
		align[i] = 'l'
		if f.Numeric(i) {
			align[i] = 'r'
		}
	}
	fmt.Fprintf(&b, "\\begin{table}\n\\centering\n\\caption{%s}\n\\begin{tabular}{%s}\n\\hline\n", latex(f.Caption()), align)
	line := func(cells []string) {
		for i, c := range cells {
			if i > 0 {
				b.WriteString(" & ")
			}
			b.WriteString(latex(c))
		}
		b.WriteString(" \\\\\n")
	}
	line(head)
	b.WriteString("\\hline\n")
	for _, r := range rows {
		line(r)
	}
	b.WriteString("\\hline\n\\end{tabular}\n\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// latex escapes what LaTeX takes for commands.
func latex(text string) string {
	return strings.NewReplacer(
		`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "$", `\$`, "&", `\&`, "#", `\#`, "%", `\%`, "_", `\_`, "^", `\textasciicircum{}`,
		"~", `\textasciitilde{}`, "<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, "−", "$-$", "…", `\ldots{}`, "↓", "", "→",
		"",
	).Replace(assay.Clean(text, plot.MaxWords))
}

func writeCSV(w io.Writer, f *plot.Figure, safe func(string) string) error {
	head, rows := f.Table(true)
	out := assay.NewCSV(w)
	for i, r := range append([][]string{head}, rows...) {
		cells := make([]string, len(r))
		for k, c := range r {
			cells[k] = c
			if i == 0 || !f.Numeric(k) || f.Points == nil {
				cells[k] = safe(c)
			}
		}
		if err := out.Write(cells); err != nil {
			return fmt.Errorf("write the numbers of a figure: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

// writeSVG writes the plot as a file of its own: with its colours, without links, on white.
func writeSVG(w io.Writer, f *plot.Figure) error {
	if f.Scene == nil {
		return fmt.Errorf("figure %q has no plot", f.Title)
	}
	t, err := Templates()
	if err != nil {
		return err
	}
	alone := *f.Scene
	alone.Shapes = nil
	for _, s := range f.Scene.Shapes {
		s.Link = ""
		alone.Shapes = append(alone.Shapes, s)
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "plot", &alone); err != nil {
		return fmt.Errorf("write a plot: %w", err)
	}
	open, rest, _ := strings.Cut(b.String(), "</desc>")
	open = strings.Replace(open, "<svg ", `<svg xmlns="http://www.w3.org/2000/svg" `, 1)
	_, err = fmt.Fprintf(w, "%s</desc>\n<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>%s\n", open,
		plotStyle(Stylesheet()), rest)
	return err
}

var (
	cssVariable = regexp.MustCompile(`(--[a-z0-9]+): ([^;]+);`)
	cssUse      = regexp.MustCompile(`var\((--[a-z0-9]+)\)`)
)

// plotStyle returns the part of the style sheet that plots need, with the light colours in place: programs that draw
// read no variables.
func plotStyle(css string) string {
	light, rest, _ := strings.Cut(css, "@media")
	values := map[string]string{}
	for _, m := range cssVariable.FindAllStringSubmatch(light, -1) {
		values[m[1]] = m[2]
	}
	var b strings.Builder
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, ".plot") && !strings.HasPrefix(line, ".plot a ") {
			b.WriteString(cssUse.ReplaceAllStringFunc(line, func(use string) string { return values[cssUse.FindStringSubmatch(use)[1]] }))
		}
	}
	return b.String()
}
