package results

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
)

// findingColumns head the rows of findings.
func findingColumns() []any {
	return []any{
		"run", "study", "rehearsal", "stage", "title", "method", "people", "about", "what", "unit", "value", "low", "high", "level", "n", "clusters", "coverage",
		"incomplete", "bound_low", "bound_high", "p", "p_holm", "rank", "wins", "ties", "losses", "interval_from", "rule", "other_rule", "other_value", "primary", "words", "notes", "why",
	}
}

// Fields are the fields that findings of some runs are grouped by, and Counts the kinds that they count: a column each.
func Fields(all []*Findings) (fields, counts []string) {
	for _, a := range all {
		for i := range a.Report.Tables {
			for _, f := range a.Report.Tables[i].Findings {
				for _, v := range f.By {
					if !slices.Contains(fields, v.Field) {
						fields = append(fields, v.Field)
					}
				}
				for _, c := range f.Counts {
					if !slices.Contains(counts, c.Name) {
						counts = append(counts, c.Name)
					}
				}
			}
		}
	}
	return fields, counts
}

// Table is one row a finding with its heads: those of findingColumns, the standard error, a column for each field that findings are grouped by, and
// one for each kind that is counted. A field that is called as another column is by_NAME.
func Table(all []*Findings) [][]any {
	fields, counts := Fields(all)
	head := append(findingColumns(), "se")
	for _, name := range append(slices.Clone(fields), counts...) {
		if slices.Contains(head, any(name)) {
			name = "by_" + name
		}
		head = append(head, name)
	}
	out := [][]any{head}
	for _, a := range all {
		for i := range a.Report.Tables {
			t := tableOf(&a.Report.Tables[i])
			for _, f := range t.Findings {
				row := append(a.row(t, f), number(f.SE))
				for _, name := range fields {
					row = append(row, f.By[name])
				}
				for _, name := range counts {
					if n, ok := f.Counts[name]; ok {
						row = append(row, n)
					} else {
						row = append(row, nil)
					}
				}
				out = append(out, row)
			}
		}
	}
	return out
}

// number is a number as it is written; nil where there is none.
func number(x *float64) any {
	if x == nil {
		return nil
	}
	return json.Number(strconv.FormatFloat(*x, 'g', -1, 64))
}

// row is a finding under findingColumns. What does not exist is nil, and why says the reason.
func (a *Findings) row(t TableJSON, f FindingJSON) []any {
	var about []string
	for _, field := range slices.Sorted(maps.Keys(f.By)) {
		about = append(about, field+"="+f.By[field])
	}
	rank, other, otherValue := "", "", any(nil)
	if f.Rank != nil {
		rank = strconv.Itoa(f.Rank.Rank)
	}
	if f.Other != nil {
		other, otherValue = f.Other.Rule, number(f.Other.Value)
	}
	var record [3]any
	if f.Record != nil {
		record = [3]any{f.Record.Wins, f.Record.Ties, f.Record.Losses}
	}
	notes := strings.Join(append(append([]string(nil), f.Notes...), t.Notes...), "; ")
	return []any{
		a.Run.ID, a.Run.Study, a.Rehearsal, t.Stage, t.Title, t.Method, t.People, strings.Join(about, " "), f.What, f.Unit, number(f.Value), number(f.Low),
		number(f.High), f.Level, f.N, f.Clusters, number(f.Coverage.Share), f.Coverage.Share == nil || *f.Coverage.Share < analysis.Complete || t.Incomplete,
		number(f.BoundLow), number(f.BoundHigh), number(f.P), number(f.Holm), rank, record[0], record[1], record[2], f.Method, f.Rule, other, otherValue, f.Primary, f.Words, notes, f.Why,
	}
}
