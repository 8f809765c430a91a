package study

import (
	"encoding/json"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/decode"
	"assay/internal/study/expr"
	"assay/internal/study/inputs"
)

// Specs returns the study's inputs, and the rows of its import stages, as package inputs takes them. Conditions on
// items are compiled; what is wrong with them was reported when the study was read.
func (s *Study) Specs() map[string]inputs.Spec {
	specs := make(map[string]inputs.Spec, len(s.Inputs))
	for _, e := range s.Inputs {
		specs[e.Name] = e.Value.spec(e.Name, e.At)
	}
	for i := range s.Stages {
		if st := &s.Stages[i]; st.Import != nil {
			specs[ImportRows(st.Name)] = st.Import.spec(st.Name)
		}
	}
	return specs
}

func (in Input) spec(name string, at assay.Place) inputs.Spec {
	spec := inputs.Spec{
		Name: name, At: at, File: in.File, Files: in.Files, Format: in.Format, Of: in.Of, All: in.All.List, ID: in.ID, Text: in.Text,
		Limit: in.Limit, Rows: in.Rows, Cluster: in.Cluster, Expect: in.Expect.Const, ExpectField: in.Expect.Field,
	}
	if in.Sample != nil {
		spec.Sample = &inputs.Sample{N: in.Sample.N, Seed: in.Sample.Seed}
	}
	for _, j := range in.Join {
		left, right, _ := strings.Cut(j.Match, "=")
		spec.Join = append(spec.Join, inputs.Join{
			At: j.At, With: j.With, Left: strings.TrimSpace(left), Right: strings.TrimSpace(right), As: j.As,
			Missing: inputs.Missing(j.Missing),
		})
	}
	for _, item := range in.Items {
		spec.Items = append(spec.Items, inlineItem(item.JSON))
	}
	if keep := in.Keep; keep != nil {
		spec.Where = func(it assay.Item) (bool, error) { return keep.Bool(expr.Vars{Item: &it}) }
	}
	return spec
}

// inlineItem returns an item written in the study: a map of fields, or a bare text.
func inlineItem(raw json.RawMessage) map[string]any {
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err == nil {
		return fields
	}
	var text any
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil
	}
	return map[string]any{"text": text}
}

func (r *run) checkInputs() {
	names := r.study.Inputs.Names()
	for i := range r.study.Inputs {
		e := &r.study.Inputs[i]
		in := &e.Value
		if !stageName.MatchString(e.Name) {
			r.found.Add(e.At, "small letters, digits and _, starting with a letter", "input name %s", decode.Quote(e.Name))
		}
		if in.Of != "" {
			r.known(in.Key("of"), "input", in.Of, names)
		}
		for i, name := range in.All.List {
			r.known(in.All.Places[i], "input", name, names)
		}
		if in.Has("limit") && in.Limit < 1 {
			r.found.Add(in.Key("limit"), "leave it out for all of them", "limit: want at least 1, got %d", in.Limit)
		}
		for _, j := range in.Join {
			if left, right, ok := strings.Cut(j.Match, "="); !ok || strings.TrimSpace(left) == "" || strings.TrimSpace(right) == "" {
				r.found.Add(j.Key("match"), "such as statement = id", "join: match must say left = right")
			}
		}
		in.Keep = r.compile(in.Filter, expr.Rows)
	}
}
