package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
)

// readScore is a score as it is read.
type readScore struct {
	Value    json.RawMessage            `json:"value"`
	Answer   string                     `json:"answer"`
	Why      string                     `json:"explanation"`
	Reason   string                     `json:"reason"`
	Metadata map[string]json.RawMessage `json:"metadata"`
	History  json.RawMessage            `json:"history"`
}

// scored hands on a score as verdicts: one, or one for each element of a list or an object.
func (r *reader) scored(name string, g readScore, row *rows.Answer) error {
	v := &rows.Verdict{At: row.JudgedIn(""), Judging: rows.Judging{Judge: name}}
	if r.logs[r.log].head.mark != nil && len(g.Metadata) > 0 {
		g.ours(v)
		return r.Verdict(v)
	}
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(g.Value, &list) == nil && list != nil:
		for i, one := range list {
			if err := r.score(fmt.Sprintf("%s_%d", name, i+1), one, g, *v); err != nil {
				return err
			}
		}
		return nil
	case json.Unmarshal(g.Value, &object) == nil && object != nil:
		for _, field := range slices.Sorted(maps.Keys(object)) {
			if err := r.score(name+"_"+field, object[field], g, *v); err != nil {
				return err
			}
		}
		return nil
	}
	return r.score(name, g.Value, g, *v)
}

// score hands on one reading.
func (r *reader) score(name string, value json.RawMessage, g readScore, v rows.Verdict) error {
	p := r.placed[r.log]
	v.Stage, v.Reason, v.State = export.StageName(p.scores+name, "score"), g.Why, assay.VerdictValid
	if v.Stage == p.stage {
		v.Stage += "_score"
	}
	if export.NotEmpty(g.History) {
		v.Fields = `{"edited":true}`
	}
	score := func(n float64) { v.Score = &n }
	var n float64
	var yes bool
	switch text, isText := export.PlainText(value); {
	case !export.NotEmpty(value) && string(value) != "false":
		v.State, v.Reason = unscored(g.Reason), cmp.Or(g.Why, g.Reason, "not scored")
	case json.Unmarshal(value, &n) == nil:
		score(n)
	case json.Unmarshal(value, &yes) == nil:
		score(map[bool]float64{true: 1, false: 0}[yes])
	case isText:
		v.Label = text
		if n, ok := map[string]float64{"C": 1, "I": 0, "P": 0.5, "N": 0}[text]; ok {
			score(n)
		}
	default:
		v.State, v.Reason = assay.VerdictMalformed, "the score is neither a number nor a text"
	}
	return r.Verdict(&v)
}

// unscored returns the state of a score that has no value, by the reason it gives.
func unscored(reason string) assay.VerdictState {
	switch reason {
	case "grader_failed":
		return assay.VerdictFailed
	case "invalid_response_format":
		return assay.VerdictMalformed
	case "no_response":
		return assay.VerdictMissing
	}
	return assay.VerdictAbstained
}

// ours reads the fields of a verdict that our own export writes.
func (g readScore) ours(v *rows.Verdict) {
	fields := v.Judging.Named()
	fields["stage"], fields["label"], fields["fallback"] = &v.Stage, &v.Label, &v.Fallback
	for name, to := range fields {
		if text, ok := export.PlainText(g.Metadata[name]); ok {
			*to = text
		}
	}
	if text, ok := export.PlainText(g.Metadata["state"]); ok {
		v.State = assay.VerdictState(text)
	}
	v.Reason = g.Why
	number(g.Metadata["vote"], &v.Vote)
	v.SecondTry = string(g.Metadata["second_try"]) == "true"
	for name, to := range map[string]**float64{"score": &v.Score, "confidence": &v.Confidence} {
		n := new(float64)
		if raw := g.Metadata[name]; export.NotEmpty(raw) && json.Unmarshal(raw, n) == nil {
			*to = n
		}
	}
	if fields := g.Metadata["fields"]; export.NotEmpty(fields) && json.Valid(fields) {
		v.Fields = rows.Raw(fields)
	}
	if !slices.Contains(assay.VerdictStates(), v.State) {
		*v = rows.Verdict{At: v.At, Judging: rows.Judging{Judge: v.Judge}, State: assay.VerdictMalformed, Reason: "its state is not known"}
	}
	v.Stage = export.StageName(v.Stage, "score")
}

// comparison takes in a comparison of our own export.
func (r *reader) comparison(at assay.Place, s *readSample) error {
	p, mark := r.placed[r.log], r.logs[r.log].head.mark
	v := &rows.Verdict{At: rows.At{Rehearsal: mark.Rehearsal, Verb: "compare", Input: p.input, Source: mark.Source, Turn: 1, Draw: 1}}
	for _, g := range s.Scores {
		g.ours(v)
	}
	for name, to := range map[string]*string{"item": &v.Item, "first": &v.First, "second": &v.Second, "template": &v.Template,
		"branch": &v.Branch} {
		if text, ok := export.PlainText(s.Metadata[name]); ok {
			*to = text
		}
	}
	number(s.Metadata["turn"], &v.Turn)
	number(s.Metadata["draw"], &v.Draw)
	v.Stage = cmp.Or(v.Stage, p.stage)
	if len(s.Scores) != 1 || v.First == "" || v.Second == "" {
		r.Bad.At(at, "the comparison does not say which two met, or has no verdict")
		return nil
	}
	if v.Source == "" {
		for _, id := range []string{v.First, v.Second} {
			if err := r.AddItem(&rows.Item{Input: v.Input, Item: id, Cluster: id}); err != nil {
				return err
			}
		}
	}
	return r.Verdict(v)
}
