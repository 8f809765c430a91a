package cli

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/analysis"
)

// writeFindings prints one row a finding, for spreadsheets. What does not exist is empty, and why says the reason.
func writeFindings(w io.Writer, all []analysed) error {
	out := csv.NewWriter(w)
	head := []any{
		"run", "study", "rehearsal", "stage", "title", "method", "people", "about", "what", "unit", "value", "low", "high", "level", "n", "clusters", "coverage",
		"incomplete", "bound_low", "bound_high", "p", "p_holm", "rank", "interval_from", "rule", "other_rule", "other_value", "primary", "words", "notes", "why",
	}
	if err := out.Write(csvRow(head)); err != nil {
		return err
	}
	for _, a := range all {
		for i := range a.report.Tables {
			t := tableOf(&a.report.Tables[i])
			for _, f := range t.Findings {
				if err := out.Write(csvRow(findingRow(a, t, f))); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func findingRow(a analysed, t tableDocument, f findingDocument) []any {
	number := func(x *float64) any {
		if x == nil {
			return nil
		}
		return json.Number(strconv.FormatFloat(*x, 'g', -1, 64))
	}
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
	notes := strings.Join(append(append([]string(nil), f.Notes...), t.Notes...), "; ")
	return []any{
		a.run.ID, a.run.Study, a.rehearsal, t.Stage, t.Title, t.Method, t.People, strings.Join(about, " "), f.What, f.Unit, number(f.Value), number(f.Low),
		number(f.High), f.Level, f.N, f.Clusters, number(f.Coverage.Share), f.Coverage.Share == nil || *f.Coverage.Share < analysis.Complete || t.Incomplete,
		number(f.BoundLow), number(f.BoundHigh), number(f.P), number(f.Holm), rank, f.Method, f.Rule, other, otherValue, f.Primary, f.Words, notes, f.Why,
	}
}
