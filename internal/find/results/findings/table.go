package findings

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/internal/find/analysis"
)

// findingColumns head the rows of findings.
func findingColumns() []any {
	return []any{
		"run", "study", "rehearsal", "stage", "title", "method", "people", "about", "what", "unit", "value", "low", "high", "level", "n",
		"clusters", "coverage", "incomplete", "bound_low", "bound_high", "p", "p_holm", "rank", "wins", "ties", "losses", "interval_from",
		"rule", "other_rule", "other_value", "primary", "words", "notes", "why", "margin", "verdict",
	}
}

// Fields returns the fields that findings of some runs are grouped by, and Counts the kinds that they count: a column
// each.
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

// Table returns one row a finding with its heads: those of findingColumns, the standard error, a column for each field
// that findings are grouped by, and one for each kind that is counted. A field that is called as another column is
// by_NAME.
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

// number returns a number as it is written; nil where there is none.
func number(x *float64) any {
	if x == nil {
		return nil
	}
	return json.Number(strconv.FormatFloat(*x, 'g', -1, 64))
}

// row returns a finding under findingColumns. What does not exist is nil, and why gives the reason.
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
		a.Run.ID, a.Run.Study, a.Rehearsal, t.Stage, t.Title, t.Method, t.People, strings.Join(about, " "), f.What, f.Unit, number(f.Value),
		number(f.Low), number(f.High), f.Level, f.N, f.Clusters, number(f.Coverage.Share), f.Coverage.Share == nil ||
			*f.Coverage.Share < analysis.Complete || t.Incomplete, number(f.BoundLow), number(f.BoundHigh), number(f.P), number(f.Holm),
		rank, record[0], record[1], record[2], f.Method, f.Rule, other, otherValue, f.Primary, f.Words, notes, f.Why, number(f.Margin),
		f.Verdict,
	}
}

// WideTable returns one row for each group of findings with its heads: the fields, then of each kind of finding its
// value, standard error, bounds and number of verdicts, then what is counted. A field that is called as another column
// is by_NAME.
func WideTable(all []*Findings) [][]any {
	fields, counts := Fields(all)
	var kinds []string
	for _, a := range all {
		for i := range a.Report.Tables {
			for _, f := range a.Report.Tables[i].Findings {
				if !slices.Contains(kinds, f.What) {
					kinds = append(kinds, f.What)
				}
			}
		}
	}
	head := []any{"run", "study", "rehearsal", "stage", "title", "method"}
	for _, name := range fields {
		if slices.Contains(head, any(name)) || slices.Contains(kinds, name) {
			name = "by_" + name
		}
		head = append(head, name)
	}
	for _, k := range kinds {
		head = append(head, k, k+" se", k+" low", k+" high", k+" n")
	}
	for _, name := range counts {
		head = append(head, name+" count")
	}
	out := [][]any{head}
	for _, a := range all {
		for i := range a.Report.Tables {
			t := tableOf(&a.Report.Tables[i])
			out = append(out, a.wide(t, fields, kinds, counts)...)
		}
	}
	return out
}

// wide returns the rows of one table.
func (a *Findings) wide(t TableJSON, fields, kinds, counts []string) [][]any {
	var out [][]any
	at := map[string]int{}
	width := 6 + len(fields) + 5*len(kinds) + len(counts)
	for _, f := range t.Findings {
		key := fmt.Sprint(f.By) // the keys of a map are printed in order
		row, ok := at[key]
		if !ok {
			row = len(out)
			at[key] = row
			one := make([]any, 0, width)
			one = append(one, a.Run.ID, a.Run.Study, a.Rehearsal, t.Stage, t.Title, t.Method)
			for _, name := range fields {
				one = append(one, f.By[name])
			}
			out = append(out, one[:width])
		}
		k := 6 + len(fields) + 5*slices.Index(kinds, f.What)
		copy(out[row][k:], []any{number(f.Value), number(f.SE), number(f.Low), number(f.High), f.N})
		for i, name := range counts {
			if n, ok := f.Counts[name]; ok {
				out[row][6+len(fields)+5*len(kinds)+i] = n
			}
		}
	}
	return out
}
