package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"assay"
	"assay/analysis"
	"assay/dialect"
	"assay/stats"
	"assay/store"
)

// costLine is what a lane cost in a stage.
type costLine struct {
	stage, lane string
	cost        assay.Cost
	answers     int64
	valid       int // of its verdicts, those that are valid; 0: it gives none
}

// costsOf adds up what segments cost.
func costsOf(ctx context.Context, h *home, run store.Run, valid map[judgeOf]int, reprice func([]store.Segment) (map[judgeOf]assay.Cost, error)) ([]costLine, error) {
	segments, err := h.ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var anew map[judgeOf]assay.Cost
	if reprice != nil {
		if anew, err = reprice(segments); err != nil {
			return nil, err
		}
	}
	var out []costLine
	for _, g := range segments {
		i := slices.IndexFunc(out, func(c costLine) bool { return c.stage == g.Stage && c.lane == g.Lane })
		if i < 0 {
			i = len(out)
			out = append(out, costLine{stage: g.Stage, lane: g.Lane})
		}
		out[i].cost = out[i].cost.Add(g.Cost)
		for e, n := range g.Endings {
			if e.Stands() {
				out[i].answers += n
			}
		}
	}
	slices.SortFunc(out, func(a, b costLine) int { return cmp.Or(cmp.Compare(a.stage, b.stage), cmp.Compare(a.lane, b.lane)) })
	for i := range out {
		out[i].valid = valid[judgeOf{out[i].stage, out[i].lane}]
		if reprice != nil {
			out[i].cost = anew[judgeOf{out[i].stage, out[i].lane}]
		}
	}
	return out, nil
}

// per is the cost of one; unknown where a price is, or where there is nothing to divide by.
func (c costLine) per(n int64) *float64 {
	if n == 0 || !c.cost.Known() {
		return nil
	}
	each := c.cost.Sum.Float() / float64(n)
	return &each
}

func printAnalysed(w *World, all []analysed) error {
	for i, a := range all {
		if i > 0 {
			fmt.Fprintln(w.Stdout)
		}
		mark := ""
		if a.rehearsal {
			mark = "REHEARSAL: "
		}
		fmt.Fprintf(w.Stdout, "%sRun %s of %s\n", mark, a.run.ID, a.run.Study)
		printWords(w, a.report)
		for k := range a.report.Tables {
			if err := printFindings(w, &a.report.Tables[k], mark); err != nil {
				return err
			}
		}
		if err := printCosts(w, a.costs); err != nil {
			return err
		}
		printGates(w, a.gates)
	}
	return nil
}

// printWords says the primary findings, before any table.
func printWords(w *World, r *analysis.Report) {
	for _, t := range r.Tables {
		for _, f := range t.Findings {
			if f.Words != "" {
				fmt.Fprintf(w.Stdout, "  %s\n", dialect.Clean(f.Words, 1000))
			}
		}
	}
}

func coverageLine(c analysis.Coverage) string {
	share := "none planned"
	if s := c.Share(); s.OK {
		share = fmt.Sprintf("%.1f%%", 100*s.Value)
	}
	text := fmt.Sprintf("coverage %s: %s planned, %s valid, %s abstained, %s malformed, %s failed, %s missing", share, thousands(int64(c.Planned)), thousands(int64(c.Valid)),
		thousands(int64(c.Abstained)), thousands(int64(c.Malformed)), thousands(int64(c.Failed)), thousands(int64(c.Missing)))
	if c.Excluded > 0 {
		text += fmt.Sprintf(", %s left out by rule", thousands(int64(c.Excluded)))
	}
	return text
}

func printFindings(w *World, t *analysis.Table, mark string) error {
	incomplete := ""
	if t.Incomplete() {
		incomplete = " INCOMPLETE"
	}
	fmt.Fprintf(w.Stdout, "\n%s%s: %s%s\n%s\n", mark, t.Stage, t.Title, incomplete, coverageLine(t.Coverage))
	by := fieldsOf(t)
	shows := columnsOf(t)
	out := table{right: map[int]bool{}}
	for _, f := range by {
		out.head = append(out.head, strings.ToUpper(dialect.Clean(f, 60)))
	}
	out.head = append(out.head, "WHAT")
	for _, c := range shows {
		out.right[len(out.head)] = true
		out.head = append(out.head, c.head)
	}
	out.head = append(out.head, "METHOD", "NOTES")
	for i := range t.Findings {
		f := &t.Findings[i]
		var row []any
		for _, name := range by {
			row = append(row, f.Of(name))
		}
		row = append(row, f.What)
		for _, c := range shows {
			row = append(row, c.cell(f))
		}
		out.add(append(row, f.Method, strings.Join(notesOf(f), "; "))...)
	}
	if err := out.write(w.Stdout); err != nil {
		return err
	}
	if err := printMatrix(w, t.Matrix); err != nil {
		return err
	}
	for _, c := range t.Confusions {
		if err := printConfusion(w, c); err != nil {
			return err
		}
	}
	for _, n := range t.Notes {
		fmt.Fprintf(w.Stdout, "note: %s\n", dialect.Clean(n, 400))
	}
	return nil
}

// notesOf are the notes of a finding, with why there is no number.
func notesOf(f *analysis.Finding) []string {
	notes := slices.Clone(f.Notes)
	if !f.Value.OK {
		notes = append([]string{"unknown: " + f.Value.Why}, notes...)
	}
	if f.Other != nil {
		value := "unknown"
		if f.Other.Value.OK {
			value = f.Unit.Show(f.Other.Value.Value)
		}
		notes = append(notes, fmt.Sprintf("%s: %s of %d", f.Other.Rule, value, f.Other.N))
	}
	return notes
}

// fieldsOf are the fields that any finding of the table is told apart by.
func fieldsOf(t *analysis.Table) []string {
	var out []string
	for _, f := range t.Findings {
		for _, v := range f.By {
			if !slices.Contains(out, v.Field) {
				out = append(out, v.Field)
			}
		}
	}
	return out
}

// findingColumn is a column of numbers.
type findingColumn struct {
	head string
	cell func(*analysis.Finding) string
}

// columnsOf are the columns that the table has anything for.
func columnsOf(t *analysis.Table) []findingColumn {
	has := func(yes func(*analysis.Finding) bool) bool {
		return slices.ContainsFunc(t.Findings, func(f analysis.Finding) bool { return yes(&f) })
	}
	bound := func(i func(*analysis.Finding) stats.Interval, end func(stats.Interval) float64) func(*analysis.Finding) string {
		return func(f *analysis.Finding) string {
			if at := i(f); at.OK {
				return f.Unit.Show(end(at))
			}
			return "–"
		}
	}
	interval := func(f *analysis.Finding) stats.Interval { return f.Interval }
	bounds := func(f *analysis.Finding) stats.Interval { return f.Bounds }
	low, high := func(i stats.Interval) float64 { return i.Low }, func(i stats.Interval) float64 { return i.High }
	out := []findingColumn{
		{"VALUE", func(f *analysis.Finding) string { return shownIn(f.Unit, f.Value) }},
		{"LOW", bound(interval, low)}, {"HIGH", bound(interval, high)},
		{"N", func(f *analysis.Finding) string { return thousands(int64(f.N)) }},
		{"CLUSTERS", func(f *analysis.Finding) string { return thousands(int64(f.Clusters)) }},
		{"COVERED", func(f *analysis.Finding) string { return shownIn(analysis.Share, f.Coverage.Share()) }},
	}
	if has(func(f *analysis.Finding) bool { return f.Bounds.OK }) {
		out = append(out, findingColumn{"AT LEAST", bound(bounds, low)}, findingColumn{"AT MOST", bound(bounds, high)})
	}
	if has(func(f *analysis.Finding) bool { return f.Rank != nil }) {
		out = append(out, findingColumn{"RANK", func(f *analysis.Finding) string {
			if f.Rank == nil {
				return ""
			}
			return fmt.Sprintf("%d (%d–%d)", f.Rank.Rank, f.Rank.Best, f.Rank.Worst)
		}})
	}
	if has(func(f *analysis.Finding) bool { return f.P.OK }) {
		out = append(out, findingColumn{"P", func(f *analysis.Finding) string { return shownP(f.P) }})
	}
	if has(func(f *analysis.Finding) bool { return f.Holm.OK }) {
		out = append(out, findingColumn{"P HOLM", func(f *analysis.Finding) string { return shownP(f.Holm) }})
	}
	return out
}

func shownIn(u analysis.Unit, n stats.Number) string {
	if !n.OK {
		return "–"
	}
	return u.Show(n.Value)
}

func shownP(n stats.Number) string {
	if !n.OK {
		return ""
	}
	return fmt.Sprintf("%.2g", n.Value)
}

// maxMatrix is how many names a matrix is printed for.
const maxMatrix = 12

func printMatrix(w *World, m *analysis.Matrix) error {
	if m == nil || len(m.Names) > maxMatrix {
		return nil
	}
	t := table{head: append([]string{"WON AGAINST"}, m.Names...), right: map[int]bool{}}
	for i, row := range m.Shares {
		cells := []any{m.Names[i]}
		for k, s := range row {
			t.right[k+1] = true
			if i == k {
				s = stats.Undefined("itself")
			}
			cells = append(cells, shownIn(analysis.Share, s))
		}
		t.add(cells...)
	}
	return t.write(w.Stdout)
}

// printConfusion shows what a judge said by what is true.
func printConfusion(w *World, c analysis.Confusion) error {
	t := table{head: []string{c.Judge + ": GOLD SAYS"}, right: map[int]bool{}}
	for i, l := range c.Labels {
		t.right[i+1] = true
		t.head = append(t.head, "JUDGE SAYS "+dialect.Clean(l, 60))
	}
	for i, row := range c.Counts {
		cells := []any{c.Labels[i]}
		for _, n := range row {
			cells = append(cells, thousands(int64(n)))
		}
		t.add(cells...)
	}
	return t.write(w.Stdout)
}

func printCosts(w *World, costs []costLine) error {
	if len(costs) == 0 {
		return nil
	}
	fmt.Fprintln(w.Stdout)
	t := table{head: []string{"STAGE", "LANE", "COST", "ANSWERS", "PER ANSWER", "PER VALID VERDICT"}, right: map[int]bool{2: true, 3: true, 4: true, 5: true}}
	for _, c := range costs {
		verdict := ""
		if c.valid > 0 {
			verdict = shownMoney(c.per(int64(c.valid)))
		}
		t.add(c.stage, c.lane, c.cost, thousands(c.answers), shownMoney(c.per(c.answers)), verdict)
	}
	return t.write(w.Stdout)
}

func shownMoney(d *float64) string {
	if d == nil {
		return "unknown"
	}
	return assay.Dollars(*d).String()
}

func printGates(w *World, gates []analysis.Passage) {
	if len(gates) > 0 {
		fmt.Fprintln(w.Stdout)
	}
	for _, g := range gates {
		if g.Passed {
			fmt.Fprintf(w.Stdout, "passed: %s\n", dialect.Clean(g.Condition, 400))
		} else {
			fmt.Fprintf(w.Stdout, "FAILED: %s (%s)\n", dialect.Clean(g.Condition, 400), dialect.Clean(g.Why, 400))
		}
	}
}
