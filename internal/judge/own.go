package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"assay/internal/assay"
)

// Own is a rubric as a study defines it. With prompts a model judges; with a rule, the rule; with neither, a program.
type Own struct {
	Name    string
	Kind    Kind
	System  string
	Prompts []Prompt
	Labels  []Label         // names, and scores where there are any
	Schema  json.RawMessage // of the judge's answer; nil: made from the labels
	Label   string          // the field that holds the label; empty: "label", where there are labels
	Score   string          // the field that holds the score, or ScoreLogprobs; empty: "score", where the schema has one
	Rule    Rule
}

// New returns the rubric that a study defines. Labels that the schema lists need not be listed again.
func New(o Own) (Rubric, error) {
	r := Rubric{
		Name: o.Name, Kind: o.Kind, System: o.System, Prompts: o.Prompts, Form: FormJSON, Labels: slices.Clone(o.Labels),
		Label: o.Label, Score: o.Score, Schema: o.Schema, Rule: o.Rule,
	}
	fields, err := properties(o.Schema)
	if err != nil {
		return r, fmt.Errorf("%s: %w", r.called(), err)
	}
	r.fromSchema(fields)
	if len(o.Prompts) == 0 && o.Rule == nil { // a program has labels of its own
		r.Label, r.Score = cmp.Or(r.Label, "label"), cmp.Or(r.Score, "score")
	}
	if r.Score == ScoreLogprobs && r.Kind == Pairs {
		return r, fmt.Errorf("%s: score: %s is about single answers, and a comparison gives a side", r.called(), ScoreLogprobs)
	}
	if err := r.nameLabels(); err != nil {
		return r, fmt.Errorf("%s: %w", r.called(), err)
	}
	if r.Rule != nil {
		r.Rule = r.within(r.Rule)
	}
	if r.Score == ScoreLogprobs {
		if err := r.weighing(); err != nil {
			return r, fmt.Errorf("%s: %w", r.called(), err)
		}
	}
	if r.Label == "" && r.Score == "" && r.Rule == nil {
		return r,
			fmt.Errorf("%s: nothing says what a verdict is: give labels, or a schema and the field of the label or the score", r.called())
	}
	return r, nil
}

// within returns a rule whose labels are those of the rubric, with its scores: a verdict with any other is malformed.
func (r *Rubric) within(rule Rule) Rule {
	has := *r
	return func(answer, expect string) assay.Verdict {
		v := rule(answer, expect)
		if v.State != assay.VerdictValid || len(has.Labels) == 0 {
			return v
		}
		l, ok := has.find(v.Label)
		if !ok {
			return without(assay.VerdictMalformed, "the rule gives the label %q, and the rubric has none of that name", v.Label)
		}
		v.Label, v.Score = l.Name, l.Score
		return v
	}
}

// called returns a rubric in a sentence: one that is written in its stage has no name.
func (r *Rubric) called() string {
	if r.Name == "" {
		return "its rubric"
	}
	return "rubric " + r.Name
}

// property holds the parts of a field of a JSON Schema that are read.
type property struct {
	Enum    []any    `json:"enum"`
	Minimum *float64 `json:"minimum"`
	Maximum *float64 `json:"maximum"`
	Type    any      `json:"type"`
}

func properties(schema json.RawMessage) (map[string]property, error) {
	if schema == nil {
		return nil, nil
	}
	var object struct {
		Properties map[string]property `json:"properties"`
	}
	if err := json.Unmarshal(schema, &object); err != nil {
		return nil, fmt.Errorf("read the answer schema: %w", err)
	}
	return object.Properties, nil
}

// Fields returns the names of the fields that a schema of an answer has, sorted; none where it cannot be read.
func Fields(schema json.RawMessage) []string {
	fields, err := properties(schema)
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(fields))
}

// fromSchema fills in what the study left to its schema.
func (r *Rubric) fromSchema(fields map[string]property) {
	has := func(name string) bool { _, ok := fields[name]; return ok }
	if r.Label == "" && (len(r.Labels) > 0 || r.Kind == Pairs || has("label")) {
		r.Label = "label"
	}
	if r.Score == "" && has("score") {
		r.Score = "score"
	}
	for _, name := range wordFields() {
		if r.Explanation == "" && has(name) {
			r.Explanation = name
		}
	}
	if has("confidence") {
		r.Confidence = "confidence"
	}
	if len(r.Labels) == 0 {
		for _, word := range fields[r.Label].Enum {
			if name, ok := word.(string); ok {
				r.Labels = append(r.Labels, Label{Name: name})
			}
		}
	}
	score := fields[r.Score]
	r.Range = Range{Low: score.Minimum, High: score.Maximum, Whole: score.Type == "integer"}
}

// nameLabels makes sure that every label can be distinguished from the others, and knows which ones abstain and which name a side.
func (r *Rubric) nameLabels() error {
	if r.Kind == Pairs {
		if len(r.Labels) == 0 {
			r.Labels = better().Labels
		}
		if err := r.nameSides(); err != nil {
			return err
		}
	}
	seen := map[string]string{}
	for i := range r.Labels {
		l := &r.Labels[i]
		if l.Score == nil && slices.Contains(abstentions(), fold(l.Name)) {
			l.Abstain = true
		}
		folded := fold(l.word())
		if folded == "" {
			return fmt.Errorf("label %q has no letters", l.word())
		}
		if other, twice := seen[folded]; twice {
			return fmt.Errorf("labels %q and %q cannot be told apart", other, l.word())
		}
		seen[folded] = l.word()
	}
	return nil
}

// abstentions returns the names of labels without a score that decline to judge.
func abstentions() []string { return []string{"n/a", "na", "unsure", "abstain"} }

// nameSides turns the labels of a comparison into sides, whatever the study calls them.
func (r *Rubric) nameSides() error {
	sides := map[string]*float64{assay.LabelA: num(1), assay.LabelB: num(0), assay.LabelTie: num(0.5)}
	used := map[string]bool{}
	for i := range r.Labels {
		l := &r.Labels[i]
		if slices.Contains(abstentions(), fold(l.Name)) {
			l.Score, l.Abstain = nil, true
			continue
		}
		side, ok := sideNamed(fold(l.Name))
		if !ok || used[side] {
			return fmt.Errorf("label %q: the labels of a comparison are A and B, and perhaps tie, N/A and unsure", l.Name)
		}
		used[side] = true
		l.Word, l.Name, l.Score = l.word(), side, sides[side]
	}
	if !used[assay.LabelA] || !used[assay.LabelB] {
		return fmt.Errorf("the labels %v leave no way to say A or B", slices.Sorted(maps.Keys(used)))
	}
	return nil
}

func sideNamed(folded string) (string, bool) {
	for side, names := range map[string][]string{
		assay.LabelA:   {"a", "first", "1", "sample_1", "response_a", "answer_a", "model_a", "text_a"},
		assay.LabelB:   {"b", "second", "2", "sample_2", "response_b", "answer_b", "model_b", "text_b"},
		assay.LabelTie: {"tie", "equal", "draw", "same", "neither"},
	} {
		if slices.Contains(names, folded) {
			return side, true
		}
	}
	return "", false
}
