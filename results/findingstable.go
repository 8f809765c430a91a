package results

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/analysis"
)

// FindingColumns head the rows that Rows makes.
func FindingColumns() []any {
	return []any{
		"run", "study", "rehearsal", "stage", "title", "method", "people", "about", "what", "unit", "value", "low", "high", "level", "n", "clusters", "coverage",
		"incomplete", "bound_low", "bound_high", "p", "p_holm", "rank", "wins", "ties", "losses", "interval_from", "rule", "other_rule", "other_value", "primary", "words", "notes", "why",
	}
}

// Rows are one row a finding, for spreadsheets. What does not exist is nil, and why says the reason.
func (a *Findings) Rows() [][]any {
	var out [][]any
	for i := range a.Report.Tables {
		t := tableOf(&a.Report.Tables[i])
		for _, f := range t.Findings {
			out = append(out, a.row(t, f))
		}
	}
	return out
}

func (a *Findings) row(t TableJSON, f FindingJSON) []any {
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
