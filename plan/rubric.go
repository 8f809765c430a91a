package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"assay"
	"assay/judge"
	"assay/pairs"
	"assay/prompt"
	"assay/study"
)

// Rubric is how a judge or compare stage judges.
func (d *Desk) Rubric(st *study.Stage) (judge.Rubric, error) {
	kind := judge.Answers
	if st.Verb() == study.VerbCompare {
		kind = judge.Pairs
	}
	own := d.Study.RubricOf(st)
	if own == nil {
		r, ok := judge.Builtin(st.Rubric.Name)
		if !ok {
			return r, fmt.Errorf("no rubric is called %q", st.Rubric.Name)
		}
		if r.Kind != kind {
			return r, fmt.Errorf("rubric %s reads %s, stage %s has %s", r.Name, r.Kind, st.Name, kind)
		}
		return withPrompts(r, st), nil
	}
	o := judge.Own{
		Name: own.Name, Kind: kind, System: own.System.Text, Schema: own.Schema.JSON, Label: own.Label, Score: own.Score,
	}
	for _, p := range own.Prompt {
		o.Prompts = append(o.Prompts, judge.Prompt{Name: p.Name, Text: p.Text.Text})
	}
	for _, l := range own.Labels {
		o.Labels = append(o.Labels, judge.Label{Name: l.Name, Score: l.Score})
	}
	var err error
	if o.Rule, err = ruleOf(own); err != nil {
		return judge.Rubric{}, err
	}
	if o.Rule != nil && len(o.Labels) == 0 {
		o.Labels = ruleLabels(own.Rule)
	}
	r, err := judge.New(o)
	if err != nil {
		return r, err
	}
	return withPrompts(r, st), nil
}

// withPrompts gives a rubric the prompts that a compare stage names: own texts, or built-in templates by name.
func withPrompts(r judge.Rubric, st *study.Stage) judge.Rubric {
	if st.Ties != nil && !*st.Ties {
		r = r.WithoutTies()
	}
	if len(st.Prompt) == 0 || st.Verb() != study.VerbCompare {
		return r
	}
	builtin := judge.Templates(r.Name)
	r.Prompts = nil
	for _, p := range st.Prompt {
		text := p.Text.Text
		name := p.Name
		if i := slices.IndexFunc(builtin, func(b judge.Prompt) bool { return b.Name == strings.TrimSpace(text) }); i >= 0 {
			text = builtin[i].Text
			if name == "" {
				name = builtin[i].Name
			}
		}
		r.Prompts = append(r.Prompts, judge.Prompt{Name: name, Text: text})
	}
	return r
}

// ruleLabels are what a rule can say where the study does not list it.
func ruleLabels(rule *study.Rule) []judge.Label {
	var out []judge.Label
	for _, e := range rule.Regex {
		out = append(out, judge.Label{Name: e.Name})
	}
	if out == nil {
		out = judge.RightWrong()
	}
	return out
}

// ruleOf is the rule of a rubric that needs no model. What `exact` expects is a template, filled for every item by who asks.
func ruleOf(own *study.Rubric) (judge.Rule, error) {
	rule := own.Rule
	switch {
	case rule == nil:
		return nil, nil
	case rule.Exact != "":
		return judge.Exact(), nil
	case len(rule.Contains.List) > 0:
		return judge.Contains(rule.Contains.List...), nil
	case rule.JSON:
		return schemaRule(own.Schema.JSON)
	case len(rule.Regex) > 0:
		var all []judge.Pattern
		for _, e := range rule.Regex {
			p, err := judge.ParsePattern(e.Name, e.Value.List...)
			if err != nil {
				return nil, err
			}
			for _, l := range own.Labels {
				if l.Name == e.Name {
					p.Score = l.Score
				}
			}
			all = append(all, p)
		}
		return judge.Match(all, ""), nil
	}
	return nil, errors.New("a rule has one of exact, contains, regex, json")
}

// schemaRule holds answers against a JSON Schema; without one, any JSON fits.
func schemaRule(text json.RawMessage) (judge.Rule, error) {
	if text == nil {
		text = json.RawMessage("true")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("answer.json", doc); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	schema, err := c.Compile("answer.json")
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return judge.FitsSchema(func(answer []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}), nil
}

// checkRubric tells what is wrong with a stage's rubric, and holds its prompts against the names they may use.
func (d *Desk) checkRubric(st *study.Stage, problems *assay.Problems) {
	r, err := d.Rubric(st)
	if err != nil {
		known := append(judge.Builtins(), d.Study.Rubrics.Names()...)
		hint := assay.DidYouMean(st.Rubric.Name, known)
		if hint == "" && st.Rubric.Own == nil {
			hint = "there are " + strings.Join(known, ", ")
		}
		problems.Add(st.Where.Key("rubric"), hint, "stage %s: %s", st.Name, err)
		return
	}
	if len(r.Prompts) > 0 && len(st.Judges.List) == 0 {
		problems.Add(st.At, "add `judges: [LANE]`", "stage %s has no judges", st.Name)
	}
	for i, name := range st.Trait.List {
		known := d.Study.Traits.Names()
		for _, t := range judge.Traits() {
			known = append(known, t.ID)
		}
		if !slices.Contains(known, name) {
			problems.Add(st.Trait.Places[i], assay.DidYouMean(name, known), "no trait is called %q", name)
		}
	}
	scope := judge.Scope(r.Kind, d.itemScope(d.Root(st)))
	for _, p := range r.Prompts {
		if i := slices.IndexFunc(st.Prompt, func(n study.Named) bool { return n.Name == p.Name && n.Text.Text == p.Text }); i >= 0 {
			d.checkText(st.Prompt[i].Text, scope, problems)
			continue
		}
		if own := d.Study.RubricOf(st); own != nil {
			for _, n := range own.Prompt {
				d.checkText(n.Text, scope, problems)
			}
			d.checkText(own.System, scope, problems)
			break
		}
	}
	if len(r.Needs) > 0 && !scope.Open && !slices.ContainsFunc(r.Needs, func(f string) bool { _, ok := scope.Fields[f]; return ok }) {
		in, _ := d.Study.Inputs.Find(d.Root(st))
		if in.Expect == (study.Expect{}) {
			problems.Warn(st.Where.Key("rubric"), "give the input such a field, or `expect`", "rubric %s reads one of the fields %s, and input %s has none",
				r.Name, strings.Join(r.Needs, ", "), d.Root(st))
		}
	}
}

func (d *Desk) checkText(t study.Text, scope prompt.Scope, problems *assay.Problems) {
	if t.Template != nil {
		*problems = append(*problems, t.Template.Check(scope)...)
	}
}

// Design is which pairs a compare stage judges, given how many contestants meet on how many slots (0 contestants: items
// against each other).
func Design(st *study.Stage, lanes, slots int64) pairs.Design {
	design := pairs.Design{Lanes: lanes, Slots: slots}
	p := st.Pairs
	if p == nil {
		return design
	}
	design.Order, design.Reverse, design.Seed = pairs.Order(p.Order), p.Reverse, uint64(p.Seed)
	switch {
	case p.Sample > 0:
		design.Pick, design.N = pairs.Sample, int64(p.Sample)
	case p.PerItem > 0:
		design.Pick, design.N = pairs.PerItem, int64(p.PerItem)
	case p.PerLanePair > 0:
		design.Pick, design.N = pairs.PerLanePair, int64(p.PerLanePair)
	}
	return design
}

// TraitsOf are the traits that a compare stage asks about; one empty trait where it names none.
func (d *Desk) TraitsOf(st *study.Stage) []judge.Trait {
	var out []judge.Trait
	for _, name := range st.Trait.List {
		if own, ok := d.Study.Traits.Find(name); ok {
			out = append(out, judge.Trait{ID: name, Name: own.Name, Description: own.Description.Text})
			continue
		}
		if t, ok := judge.BuiltinTrait(name); ok {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		out = []judge.Trait{{}}
	}
	return out
}
