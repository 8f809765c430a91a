package pages

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/plot"
	"assay/internal/show/report/words"
)

// Markdown writes the same report without plots: every number of every plot is in a table.
func Markdown(w io.Writer, d *report.Document) error {
	b := bufio.NewWriter(w)
	m := markdown{b}
	p := newPage(d)
	m.head(p)
	if p.Grid != nil {
		m.heading(2, "Item by item")
		m.grid(matrixGrid(p.Grid))
	}
	m.findings(p)
	m.heading(2, "Cost")
	for _, f := range p.Quality {
		m.figure(f)
	}
	m.grid(p.Costs)
	m.heading(2, "Coverage")
	m.titled(p.Requests)
	m.titled(p.Verdicts)
	if p.Timeline != nil {
		m.figure(p.Timeline)
	}
	m.heading(2, "Study and method")
	for _, text := range p.Method {
		m.para(text)
	}
	for _, g := range []*plot.Grid{p.Inputs, p.Stages, p.Lanes, p.Billed, p.Judged} {
		m.titled(g)
	}
	m.wordings(d)
	if len(p.Works) > 0 {
		m.heading(3, "References")
		for _, w := range p.Works {
			m.para(w)
		}
	}
	m.examples(d.Examples)
	m.origin(d)
	if err := b.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

type markdown struct{ w *bufio.Writer }

func (m markdown) head(p *page) {
	title := assay.Clean(p.Study, plot.MaxName)
	if p.Rehearsal {
		title = "Rehearsal: " + title
	}
	m.heading(1, title)
	m.para("Run " + p.Run + ", " + p.Times() + ".")
	if p.Lead() != "" {
		m.para(p.Lead())
	}
	if p.Rehearsal {
		m.para("Rehearsal. A simulator gave these answers: nothing was really asked or paid, and nothing here says anything about a model.")
	}
	m.para(p.Standing.Sentence)
	if p.Note != "" {
		m.para("Note: " + p.Note)
	}
	for _, r := range p.Remarks {
		m.para(r)
	}
	m.summary(p.Answer)
	if p.About() != "" {
		m.para(p.About())
	}
	for _, f := range p.Facts {
		fmt.Fprintf(m.w, "- %s: %s\n", escaped(f.Name), escaped(f.Value))
	}
	fmt.Fprintln(m.w)
}

// summary is the answer, before anything else.
func (m markdown) summary(s *words.Summary) {
	m.para(s.Headline.String())
	if line := s.BasisLine(); line != "" {
		m.para(line)
	}
	if s.Board != nil {
		m.grid(boardGrid(s.Board))
	}
	for _, f := range s.Further {
		m.para(f.String())
	}
	m.titled(s.SideGrid())
	m.caveats(s.Caveats)
	state := "Complete."
	if !s.Complete {
		state = "Incomplete."
	}
	fmt.Fprintf(m.w, "- **%s** %s\n\n", state, escaped(s.Coverage))
}

func (m markdown) caveats(all []words.Caveat) {
	for _, c := range all {
		fmt.Fprintf(m.w, "- **%s** %s", escaped(c.Title), escaped(c.Text))
		if c.Command != "" {
			fmt.Fprintf(m.w, " %s", escaped(c.Command))
		}
		fmt.Fprintln(m.w)
		for _, p := range c.Points {
			fmt.Fprintf(m.w, "  - %s\n", escaped(p))
		}
	}
}

// boardGrid returns the board as a table of text.
func boardGrid(b *words.Board) *plot.Grid {
	g := &plot.Grid{Caption: "Leaderboard",
		Head: []plot.Column{{Text: ""}, {Text: "rank"}, {Text: b.Field, Foreign: true}, {Text: "model", Foreign: true}}}
	for _, c := range b.Columns {
		g.Head = append(g.Head, plot.Column{Text: c.Label + ": " + c.Head, Number: true, Foreign: true},
			plot.Column{Text: "interval", Number: true})
		if c.Corrected {
			g.Head = append(g.Head, plot.Column{Text: words.JudgeAlone, Number: true})
		}
	}
	g.Head = append(g.Head, plot.Column{Text: "$ per 1,000 answers", Number: true})
	for _, r := range b.Rows {
		row := []plot.Cell{{Text: r.Bracket()}, {Text: r.Rank}, plot.Foreign(r.Name), plot.Foreign(r.Model)}
		for i, c := range r.Cells {
			if row = append(row, plot.Number(c.Text), plot.Number(c.Between)); b.Columns[i].Corrected {
				row = append(row, plot.Number(cmp.Or(c.Judge, plot.NoneText)))
			}
		}
		g.Rows = append(g.Rows, append(row, plot.Number(r.Cost)))
	}
	if b.Note != "" {
		g.Notes = append(g.Notes, b.Note)
	}
	return g.Trimmed()
}

func (m markdown) findings(p *page) {
	words := append(append([]string{}, p.Words...), p.More...)
	if len(words)+len(p.Gates) > 0 {
		m.heading(2, "What may be said")
	}
	for _, w := range words {
		fmt.Fprintf(m.w, "- %s\n", escaped(w))
	}
	for _, g := range p.Gates {
		fmt.Fprintf(m.w, "- %s\n", gateText(g))
	}
	if len(words)+len(p.Gates) > 0 {
		fmt.Fprintln(m.w)
	}
	if len(p.Findings) > 0 {
		m.heading(2, "Findings")
	} else {
		m.para("There are no findings: no stage of the run judges or compares, or nothing has been judged yet.")
	}
	for _, f := range p.Findings {
		m.heading(3, f.Stage+": "+f.Title+marks(f))
		m.para(f.Coverage)
		m.grid(f.Numbers)
		for _, fig := range f.Figures {
			if fig.Data != nil {
				m.figure(fig)
			}
		}
	}
}

func marks(f *figures.Findings) string {
	text := ""
	for _, mark := range []struct {
		on   bool
		name string
	}{{f.Primary, "primary"}, {f.Incomplete, "incomplete"}, {f.People, "people"}, {f.Unvalidated, "judge unchecked"},
		{f.Rehearsal, "rehearsal"}} {
		if mark.on {
			text += ", " + mark.name
		}
	}
	if text == "" {
		return ""
	}
	return " (" + text[2:] + ")"
}

func gateText(g analysis.Passage) string {
	if g.Passed {
		return "passed: " + escaped(g.Condition)
	}
	return "FAILED: " + escaped(g.Condition) + " (" + escaped(g.Why) + ")"
}

func (m markdown) heading(level int, text string) {
	fmt.Fprintf(m.w, "%s %s\n\n", strings.Repeat("#", level), escaped(text))
}

func (m markdown) para(text string) { fmt.Fprintf(m.w, "%s\n\n", escaped(text)) }

func (m markdown) figure(f *plot.Figure) {
	title := f.Title
	if f.Number > 0 {
		title = fmt.Sprintf("Figure %d. %s", f.Number, f.Title)
	}
	m.heading(4, title)
	m.grid(f.Data)
	for _, n := range f.Notes {
		m.para(n)
	}
}

// titled is a table under its own name.
func (m markdown) titled(g *plot.Grid) {
	if g != nil {
		m.heading(3, g.Caption)
		m.grid(g)
	}
}

func (m markdown) grid(g *plot.Grid) {
	if g == nil || len(g.Rows) == 0 {
		return
	}
	for _, c := range g.Head {
		fmt.Fprintf(m.w, "| %s ", escaped(c.Text))
	}
	fmt.Fprint(m.w, "|\n")
	for _, c := range g.Head {
		if c.Number {
			fmt.Fprint(m.w, "|---:")
		} else {
			fmt.Fprint(m.w, "|---")
		}
	}
	fmt.Fprint(m.w, "|\n")
	for _, row := range g.Rows {
		for _, c := range row {
			fmt.Fprintf(m.w, "| %s ", escaped(strings.TrimSpace(c.Text+" "+strings.Join(c.Marks, " "))))
		}
		fmt.Fprint(m.w, "|\n")
	}
	fmt.Fprintln(m.w)
	for _, n := range g.Footnotes {
		fmt.Fprintf(m.w, "- %s: %s\n", n.Mark, escaped(n.Text))
	}
	if len(g.Footnotes) > 0 {
		fmt.Fprintln(m.w)
	}
	for _, n := range g.Notes {
		m.para(n)
	}
}

func (m markdown) examples(all []report.Example) {
	if len(all) == 0 {
		return
	}
	m.heading(2, "Examples")
	for _, e := range all {
		m.heading(3, e.Stage+", item "+e.Item)
		for _, p := range e.Shown {
			m.para("shown: " + p.Label + ", " + p.Note)
		}
		for _, a := range e.Answers {
			m.para(strings.TrimSpace(a.Place + " " + a.Lane))
			for _, t := range a.Turns {
				m.block(t.Role, plot.CleanText(strings.TrimSpace(t.Text+"\n\n"+assay.CallsText(t.Calls)), plot.MaxText))
			}
		}
		for _, v := range e.Verdicts {
			said := v.Label
			if said == "" {
				said = scoreText(v.Score)
			}
			if said == "" {
				said = v.State
			}
			m.para(v.Judge + ": " + said)
			if v.Reason != "" {
				m.block("why", plot.CleanText(v.Reason, plot.MaxText))
			}
		}
	}
}

// block is a text that keeps its lines and cannot end its own block: every line is indented by four.
func (m markdown) block(name, text string) {
	fmt.Fprintf(m.w, "%s:\n\n    %s\n\n", escaped(name), strings.ReplaceAll(text, "\n", "\n    "))
}

func (m markdown) origin(d *report.Document) {
	m.heading(2, "How to make it again")
	m.grid(&plot.Grid{Head: []plot.Column{{Text: "what"}, {Text: "which"}}, Rows: append([][]plot.Cell{
		{{Text: "program"}, {Text: "assay " + d.Origin.Version}}, {{Text: "study digest"}, {Text: d.Origin.Digest}},
		{{Text: "prices and rules of"}, {Text: d.Origin.Catalog}}, {{Text: "seed of resamples"}, {Text: fmt.Sprint(d.Origin.Seed)}},
	}, paged{d}.seedRows()...)})
	if len(d.Origin.Commands) > 0 {
		m.block("commands", plot.CleanText(strings.Join(d.Origin.Commands, "\n"), plot.MaxSource))
	}
	if d.Origin.Source != "" {
		m.block("the study file, as the run keeps it", plot.CleanText(d.Origin.Source, plot.MaxSource))
	}
}

// escaped returns a foreign text on one line in which no character means anything to Markdown or HTML.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range assay.Clean(s, plot.MaxWords) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case strings.ContainsRune("\\`*_{}[]#|~$!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "://", ":\u200b//") // no renderer makes a link of it
}

// matrixGrid returns the matrix as a table of text.
func matrixGrid(m *report.Matrix) *plot.Grid {
	g := &plot.Grid{Caption: m.Caption, Head: []plot.Column{{Text: m.Item.Name}},
		Notes: append([]string{strings.Join(m.Legend, "; ")}, m.Notes...)}
	for _, l := range m.Lanes {
		g.Head = append(g.Head, plot.Column{Text: l.Name, Foreign: true})
	}
	g.Head = append(g.Head, plot.Column{Text: "seen"})
	for _, r := range m.Rows {
		row := []plot.Cell{plot.Foreign(r.Item)}
		for _, c := range r.Cells {
			row = append(row, plot.Foreign(strings.TrimSpace(strings.Join([]string{c.Sign, c.Flips, c.Also}, " "))))
		}
		g.Rows = append(g.Rows, append(row, plot.Cell{Text: strings.Join(r.Is, ", ")}))
	}
	return g
}
