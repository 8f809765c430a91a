package judge

import (
	"encoding/json"
	"slices"
)

// Answer returns the JSON Schema to send where the judge's lane has structured output, or nil where the form of the
// reply is not JSON. A bare rubric has that of the study alone. It keeps to what every provider's strict mode takes:
// all fields required, no others, no bounds. The explanation comes first, so that the judge reasons before it decides.
// Prompts ask for the same JSON in words.
func (r Rubric) Answer() json.RawMessage {
	if r.Form != FormJSON || len(r.Prompts) == 0 || r.Weighed {
		return nil
	}
	if r.Schema != nil || r.Bare {
		return r.Schema
	}
	var fields object
	add := func(name string, schema object) {
		if name != "" {
			fields = append(fields, member{name, schema})
		}
	}
	add(r.Explanation, object{{"type", "string"}})
	add(r.Score, r.scoreSchema())
	add(r.Label, r.labelSchema())
	add(r.Confidence, object{{"type", "number"}})
	var required []any
	for _, f := range fields {
		required = append(required, f.key)
	}
	schema, err := json.Marshal(object{
		{"type", "object"}, {"properties", fields}, {"required", required}, {"additionalProperties", false},
	})
	if err != nil {
		return nil // texts and numbers can always be written
	}
	return schema
}

func (r Rubric) labelSchema() object {
	words := r.Words()
	switch {
	case len(words) == 0:
		return object{{"type", "string"}}
	case !slices.ContainsFunc(words, func(w string) bool { return w != "true" && w != "false" }):
		return object{{"type", "boolean"}}
	}
	return object{{"type", "string"}, {"enum", words}}
}

// maxListed is how many whole scores a schema lists one by one.
const maxListed = 20

func (r Rubric) scoreSchema() object {
	if !r.Range.Whole {
		return object{{"type", "number"}}
	}
	if r.Range.Low == nil || r.Range.High == nil || *r.Range.High-*r.Range.Low >= maxListed {
		return object{{"type", "integer"}}
	}
	var all []any
	for x := *r.Range.Low; x <= *r.Range.High; x++ {
		all = append(all, x)
	}
	return object{{"type", "integer"}, {"enum", all}}
}

// Words lists the labels or the range of scores that a judge may give, for people who judge.
func (r Rubric) Words() []string {
	var words []string
	for _, l := range r.Labels {
		words = append(words, l.word())
	}
	return words
}
