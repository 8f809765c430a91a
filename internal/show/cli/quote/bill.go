package quote

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/plan"
)

// Row is what is asked of a model, and what it costs.
type Row struct {
	Provider, Model string
	Requests        int64
	Batches         int // batch files; 0: not cut yet, or of none
	Exact           bool
	Live            bool
	Cost            plan.Price
}

// mostRows is how many lines a bill has at most: more are summed in the last.
const mostRows = 12

// Bill returns a line for every model that is asked, the dearest first.
func Bill(parts []Row) []string {
	rows := perModel(parts)
	if len(rows) > mostRows {
		rest := rows[mostRows-1:]
		sum := Row{Provider: assay.Count(len(rest), "more model"), Exact: true}
		for _, r := range rest {
			sum.Requests, sum.Exact, sum.Cost = sum.Requests+r.Requests, sum.Exact && r.Exact, sum.Cost.Plus(r.Cost)
		}
		rows = append(rows[:mostRows-1], sum)
	}
	const columns = 4
	cells, wide := make([][columns]string, len(rows)), [columns]int{}
	for i, r := range rows {
		cells[i] = [columns]string{r.Provider, r.Model, UpTo(r.Exact) + assay.Thousands(r.Requests) + r.way(), r.Cost.Expected.String()}
		for c, text := range cells[i] {
			wide[c] = max(wide[c], len([]rune(text)))
		}
	}
	const price = 3
	lines := make([]string, len(rows))
	for i, row := range cells {
		var line []string
		for c, text := range row {
			pad := strings.Repeat(" ", wide[c]-len([]rune(text)))
			if text += pad; c == price {
				text = pad + row[c]
			}
			line = append(line, text)
		}
		lines[i] = strings.TrimRight(strings.Join(line, "  "), " ")
	}
	return lines
}

// perModel sums what is asked of a model in the same way.
func perModel(parts []Row) []Row {
	var rows []Row
	for _, p := range parts {
		i := slices.IndexFunc(rows, func(r Row) bool {
			return r.Provider == p.Provider && r.Model == p.Model && r.Live == p.Live
		})
		if i < 0 {
			rows = append(rows, p)
			continue
		}
		r := &rows[i]
		if r.Batches += p.Batches; p.Batches == 0 || r.Batches == p.Batches {
			r.Batches = 0 // of one of them it is not known
		}
		r.Requests, r.Exact, r.Cost = r.Requests+p.Requests, r.Exact && p.Exact, r.Cost.Plus(p.Cost)
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Cost.Expected.Sum, a.Cost.Expected.Sum) })
	return rows
}

// way returns how it travels.
func (r Row) way() string {
	switch {
	case r.Model == "":
		return ""
	case r.Live:
		return " live"
	case r.Batches == 0:
		return " in batches"
	}
	return " in " + assay.Count(r.Batches, "batch file")
}
