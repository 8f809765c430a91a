package results

import (
	"fmt"
	"slices"
)

// WideTable is one row for each group of findings with its heads: the fields, then of each kind of finding its value, standard error, bounds and number of
// verdicts, then what is counted. A field that is called as another column is by_NAME.
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

// wide are the rows of one table.
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
