package report

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

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

// table are the points as text: raw as programs want them, else as the plot shows them.
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
			case x.OK && finite(x.Value):
				text = shows(x.Value)
			case !raw:
				text = unknownText
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

func (p *Intervals) points() *Points {
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
				out.List = append(out.List, Point{Of: []string{p.Name, k.Name, strconv.Itoa(at.Level)}, Value: at.Value, Between: at.Between, N: at.N})
			}
		}
	}
	return out
}

// counted adds to a tip on how many verdicts its number rests.
func counted(tip string, n int) string {
	if n <= 0 {
		return tip
	}
	return tip + ", n = " + assay.Thousands(n)
}

// byRun is the field that keeps the runs of a comparison apart: the first stays the first.
const byRun = "run"

// inOrder sorts the rows of a plot by their mean, the best first. Rows that have an order of their own (turns, draws, runs)
// stay as they are.
func (p *Intervals) inOrder(field string, best Better) {
	if field == analysis.ByTurn || field == analysis.ByDraw || field == byRun {
		return
	}
	means := map[string]stats.Number{}
	for _, r := range p.Rows {
		sum, n := 0.0, 0
		for _, d := range r.Dots {
			if d.Value.OK && finite(d.Value.Value) {
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
			return cmp.Compare(one(y.OK), one(x.OK))
		case best == Less:
			return cmp.Compare(x.Value, y.Value)
		}
		return cmp.Compare(y.Value, x.Value)
	}
	sort.SliceStable(p.Rows, func(i, j int) bool { return order(p.Rows[i], p.Rows[j]) < 0 })
}
