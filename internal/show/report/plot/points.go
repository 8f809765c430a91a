package plot

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/stats"
)

// Points are the numbers of a plot, as its files hold them.
type Points struct {
	Fields []string // what distinguishes the points
	What   string   // what is measured, with its unit
	Unit   analysis.Unit
	Level  float64 // of the intervals; 0: there are none
	List   []Point
}

// Point is one number of a plot.
type Point struct {
	Of      []string // a value for each field
	Value   stats.Number
	Between stats.Interval
	N       int // verdicts it rests on; 0: not known
}

// table returns the points as text: raw as programs want them, else as the plot shows them.
func (p *Points) table(raw bool) (head []string, rows [][]string) {
	shows := func(x float64) string { return p.Unit.Show(x) }
	if raw {
		shows = func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	}
	value := p.What
	if raw {
		value = "value"
	}
	head = append(slices.Clone(p.Fields), value)
	counted := slices.ContainsFunc(p.List, func(q Point) bool { return q.N > 0 })
	if p.Level > 0 {
		head = append(head, "low", "high")
	}
	if counted {
		head = append(head, "n")
	}
	for _, q := range p.List {
		row := slices.Clone(q.Of)
		for _, x := range p.numbers(q) {
			text := ""
			switch {
			case x.OK && Finite(x.Value):
				text = shows(x.Value)
			case !raw:
				text = UnknownText
			}
			row = append(row, text)
		}
		if counted {
			row = append(row, strconv.Itoa(q.N))
		}
		rows = append(rows, row)
	}
	return head, rows
}

func (p *Points) numbers(q Point) []stats.Number {
	if p.Level <= 0 {
		return []stats.Number{q.Value}
	}
	return []stats.Number{q.Value, {Value: q.Between.Low, OK: q.Between.OK}, {Value: q.Between.High, OK: q.Between.OK}}
}

// Points returns the numbers of the plot.
func (p *Intervals) Points() *Points {
	out := &Points{Fields: []string{cmp.Or(p.Down, "name")}, What: p.Axis, Unit: p.Unit, Level: p.Level}
	if len(p.Series) > 0 {
		out.Fields = append(out.Fields, cmp.Or(p.Across, "series"))
	}
	p.each(func(row int, d *Interval) {
		of := []string{p.Rows[row].Label}
		if len(p.Series) > 0 {
			of = append(of, p.Series[d.Series])
		}
		out.List = append(out.List, Point{Of: of, Value: d.Value, Between: d.Between, N: d.N})
	})
	return out
}

func (c *Curves) points() *Points {
	out := &Points{Fields: []string{"lane", "branch", "level"}, What: c.Up, Unit: analysis.Share, Level: cmp.Or(c.Level, 0.95)}
	for _, p := range c.Panels {
		for _, k := range p.Curves {
			for _, at := range k.Points {
				out.List = append(out.List, Point{Of: []string{p.Name, k.Name, strconv.Itoa(at.Level)}, Value: at.Value,
					Between: at.Between, N: at.N})
			}
		}
	}
	return out
}

// Counted adds to a tip on how many verdicts its number rests.
func Counted(tip string, n int) string {
	if n <= 0 {
		return tip
	}
	return tip + ", n = " + assay.Thousands(n)
}

// byRun is the field that keeps the runs of a comparison apart: the first stays the first.
const byRun = "run"

// InOrder sorts the rows of a plot by their mean, the best first. Rows that have an order of their own (turns, draws,
// runs) stay as they are.
func (p *Intervals) InOrder(field string, best Better) {
	if field == analysis.ByTurn || field == analysis.ByDraw || field == byRun {
		return
	}
	means := map[string]stats.Number{}
	for _, r := range p.Rows {
		sum, n := 0.0, 0
		for _, d := range r.Dots {
			if d.Value.OK && Finite(d.Value.Value) {
				sum, n = sum+d.Value.Value, n+1
			}
		}
		if n > 0 {
			means[r.Label] = stats.Known(sum / float64(n))
		}
	}
	order := func(a, b IntervalRow) int {
		x, y := means[a.Label], means[b.Label]
		switch {
		case x.OK != y.OK:
			return cmp.Compare(One(y.OK), One(x.OK))
		case best == Less:
			return cmp.Compare(x.Value, y.Value)
		}
		return cmp.Compare(y.Value, x.Value)
	}
	sort.SliceStable(p.Rows, func(i, j int) bool { return order(p.Rows[i], p.Rows[j]) < 0 })
}

// One returns 1 for yes and 0 for no.
func One(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// Table returns the numbers of the figure as text.
func (f *Figure) Table(raw bool) (head []string, rows [][]string) {
	if f.Points != nil {
		return f.Points.table(raw)
	}
	if f.Data == nil {
		return nil, nil
	}
	for _, c := range f.Data.Head {
		head = append(head, c.Text)
	}
	for _, r := range f.Data.Rows {
		var row []string
		for _, c := range r {
			row = append(row, c.Text)
		}
		rows = append(rows, row)
	}
	return head, rows
}

// Numeric reports whether a column holds numbers.
func (f *Figure) Numeric(column int) bool {
	if f.Points != nil {
		return column >= len(f.Points.Fields)
	}
	return f.Data.Head[column].Number
}

// File returns the address of the figure in a format.
func (f *Figure) File(format string) string { return f.Files + "." + format + f.Query }

// Caption describes the figure to a reader who sees nothing else.
func (f *Figure) Caption() string {
	text := strings.TrimSuffix(f.Title, ".") + "."
	if f.Number > 0 {
		text = fmt.Sprintf("Figure %d. ", f.Number) + text
	}
	if f.Of != "" {
		text += " " + f.Of
	}
	if f.Words != "" {
		text += " " + f.Words
	}
	return text
}
