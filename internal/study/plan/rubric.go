package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"assay/internal/judge"
	"assay/internal/study"
)

// ErrNoRule: a rule has none of the forms that there are.
var ErrNoRule = errors.New("a rule has one of exact, contains, regex, json, tool")

// Rubric returns how a judge or compare stage judges.
func (d *Input) Rubric(st *study.Stage) (judge.Rubric, error) {
	kind := KindOf(st)
	own := d.Study.RubricOf(st)
	if own == nil {
		r, ok := judge.Builtin(st.Rubric.Name)
		if !ok {
			return r, fmt.Errorf("no rubric is called %q", st.Rubric.Name)
		}
		if r.Kind != kind {
			return r, fmt.Errorf("rubric %s reads %s, stage %s has %s", r.Name, r.Kind, st.Name, kind)
		}
		return d.staged(r, st), nil
	}
	bare := d.Study.Bare(st)
	o := judge.Own{
		Name: own.Name, Kind: kind, System: own.System.Sent(bare), Schema: own.Schema.JSON, Label: own.Label, Score: own.Score,
	}
	for _, p := range own.Prompt {
		o.Prompts = append(o.Prompts, judge.Prompt{Name: p.Name, Text: p.Text.Sent(bare)})
	}
	for _, l := range own.Labels {
		o.Labels = append(o.Labels, judge.Label{Name: l.Name, Score: l.Score})
	}
	var err error
	if o.Rule, err = ruleOf(own); err != nil {
		return judge.Rubric{}, err
	}
	if o.Rule != nil && len(o.Labels) == 0 {
		o.Labels = RuleLabels(own.Rule)
	}
	r, err := judge.New(o)
	if err != nil {
		return r, err
	}
	return d.staged(r, st), nil
}

// staged returns a rubric as a stage uses it: with the system message and the form of reply that the stage declares, and sent as it says.
func (d *Input) staged(r judge.Rubric, st *study.Stage) judge.Rubric {
	if st.Ties != nil && !*st.Ties {
		r = r.WithoutTies()
	}
	if r.Bare = d.Study.Bare(st); r.Bare && d.Study.RubricOf(st) == nil {
		r.System = "" // ours speaks of fences
	}
	if st.Has("system") {
		r.System = st.System.Sent(r.Bare)
	}
	if reply := d.Study.ReplyOf(st); reply.Form != "" {
		r = r.Replying(judge.Reply{Form: judge.Form(reply.Form), Field: reply.Field})
	}
	if len(r.Prompts) == 0 || len(st.Prompt) == 0 {
		return r
	}
	return withPrompts(r, st)
}

// withPrompts gives a rubric the prompts that a stage names: own texts, or built-in templates by name.
func withPrompts(r judge.Rubric, st *study.Stage) judge.Rubric {
	builtin := judge.Templates(r.Name)
	r.Prompts = nil
	for _, p := range st.Prompt {
		text := p.Text.Sent(r.Bare)
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

// RuleLabels returns the labels that a rule can give.
func RuleLabels(rule *study.Rule) []judge.Label {
	var out []judge.Label
	for _, e := range rule.Regex {
		out = append(out, judge.Label{Name: e.Name})
	}
	if out == nil {
		out = judge.RightWrong()
	}
	return out
}

// ruleOf returns the rule of a rubric that needs no model. What `exact` expects is a template, filled for every item by who asks.
func ruleOf(own *study.Rubric) (judge.Rule, error) {
	rule := own.Rule
	switch {
	case rule == nil:
		return nil, nil
	case rule.Exact.Text != "":
		return judge.Exact(), nil
	case len(rule.Contains.List) > 0:
		return judge.Contains(rule.Contains.List...), nil
	case rule.Tool != nil:
		return judge.Calls(judge.Call{Name: rule.Tool.Name, Whole: rule.Tool.Whole}), nil
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
	return nil, ErrNoRule
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
		return nil, fmt.Errorf("read the schema: %s", wrongIn(err))
	}
	return judge.FitsSchema(func(answer []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(answer))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}), nil
}

// CheckSchema returns what is wrong with the schema of a tool's arguments; one that is not given is right.
func CheckSchema(text json.RawMessage) error {
	if text == nil {
		return nil
	}
	if _, err := schemaRule(text); err != nil {
		return err
	}
	var of struct{ Type string }
	if err := json.Unmarshal(text, &of); err != nil || of.Type != "object" {
		return errors.New("arguments are an object, and it has no `type: object`")
	}
	return nil
}

// wrongIn returns what a schema library says of a schema, on one line: the innermost causes, without the files it makes up.
func wrongIn(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if !errors.As(err, &invalid) {
		return err.Error()
	}
	var causes []string
	for line := range strings.Lines(invalid.Err.Error()) {
		line = strings.TrimSpace(line)
		if cause, ok := strings.CutPrefix(line, "- "); ok && !strings.HasSuffix(cause, "failed") {
			causes = append(causes, cause)
		}
	}
	return strings.Join(causes, "; ")
}

// TraitsOf returns the traits that a compare stage asks about; one empty trait where it names none.
func (d *Input) TraitsOf(st *study.Stage) []judge.Trait {
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

// Of returns which answers a stage reads: those that its study says; a rubric that holds answers against the first reads the later
// ones alone, also where the study says each.
func Of(st *study.Stage, r judge.Rubric) study.Of {
	if r.AgainstFirst && (st.Of == (study.Of{}) || st.Of.Which == study.OfEach) {
		return study.Of{Which: study.OfLater}
	}
	return st.Of
}

func KindOf(st *study.Stage) judge.Kind {
	if st.Verb() == study.VerbCompare {
		return judge.Pairs
	}
	return judge.Answers
}
