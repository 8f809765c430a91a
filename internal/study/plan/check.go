package plan

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/expr"
	"assay/internal/study/prompt"
)

// Check reports what is wrong with a study that only the catalogue and the columns of its inputs can show. What the rows
// themselves do wrong is reported by Make. KeySet says whether an environment variable is set.
func (d *Input) Check(keySet func(name string) bool) assay.Problems {
	var problems assay.Problems
	d.checkLanes(&problems)
	d.checkPrices(&problems)
	d.checkKeys(keySet, &problems)
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		d.checkNames(st, &problems)
		d.checkAsked(st, &problems)
		d.checkFields(st.Keep, d.Root(st), &problems)
		d.checkVerdicts(st, &problems)
		d.checkWithin(st, &problems)
	}
	for _, e := range d.Study.Inputs {
		d.checkFields(e.Value.Keep, e.Name, &problems)
	}
	d.checkAnalyses(&problems)
	return problems.Sort()
}

// checkPrices adds a problem for lanes without a price under a budget.
func (d *Input) checkPrices(problems *assay.Problems) {
	if !d.Study.Budget.Set || d.Study.Unpriced == "allow" {
		return
	}
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.kind(l)
		if !ok {
			continue
		}
		if _, ok := d.Catalog.Price(kind, l.Model); !ok {
			problems.Add(l.Where.Key("model"), "give one under `prices`, or say `unpriced: allow`",
				"lane %s: no price is known for %s, so the budget cannot be kept", l.Name, l.ID())
		}
	}
}

// checkKeys warns of API keys that are not set.
func (d *Input) checkKeys(keySet func(name string) bool, problems *assay.Problems) {
	for _, k := range d.Keys(keySet) {
		if k.Set || k.Optional {
			continue
		}
		problems.Warn(d.Study.At, "needed only to run for real", "%s is not set: %s cannot run", strings.Join(k.Names, " or "), k.Users())
	}
}

// Key is what the lanes of one provider need from the environment.
type Key struct {
	Provider string
	Names    []string // alternatives, in the order they are looked for
	Lanes    []string
	Set      bool
	Optional bool
}

// Users names the lanes that need the key, for messages.
func (k *Key) Users() string {
	if len(k.Lanes) == 1 {
		return "lane " + k.Lanes[0]
	}
	return "lanes " + strings.Join(k.Lanes, ", ")
}

// Keys lists the API keys a study needs, in the order of its lanes.
func (d *Input) Keys(keySet func(name string) bool) []Key {
	var keys []Key
	for i := range d.Study.Lanes {
		l := &d.Study.Lanes[i]
		kind, ok := d.kind(l)
		if !ok {
			continue
		}
		if j := slices.IndexFunc(keys, func(k Key) bool { return k.Provider == l.Provider }); j >= 0 {
			keys[j].Lanes = append(keys[j].Lanes, l.Name)
			continue
		}
		v, _ := d.Catalog.Vendor(kind)
		k := Key{Provider: l.Provider, Names: slices.Concat(v.KeyEnv, v.KeyElse), Lanes: []string{l.Name}, Optional: v.KeyOptional}
		if p, ok := d.Study.Providers.Find(l.Provider); ok && (p.Key != "" || p.BaseURL != "") {
			k.Names = nil // a base URL in a study gets only the key the study names
			if p.Key != "" {
				k.Names = []string{strings.Trim(p.Key, "${}")}
			}
		}
		k.Optional = k.Optional || len(k.Names) == 0
		k.Set = slices.ContainsFunc(k.Names, keySet)
		keys = append(keys, k)
	}
	return keys
}

// checkNames holds every template of a stage against the names it may use.
func (d *Input) checkNames(st *study.Stage, problems *assay.Problems) {
	check := func(t study.Text, scope prompt.Scope) { d.checkText(t, scope, problems) }
	switch st.Verb() {
	case study.VerbAsk, study.VerbContinue, study.VerbImport:
		scope := d.itemScope(d.Root(st))
		checkAsks(st, problems)
		check(st.System, scope)
		check(st.Context, scope)
		for _, p := range st.Prompt {
			check(p.Text, scope)
		}
		if st.Control != nil {
			check(st.Control.Say, scope)
		}
		for _, t := range st.Turns {
			check(t.User, scope)
			check(t.Assistant, scope)
			for _, b := range t.Branches {
				check(b.Text, scope)
			}
			if t.Each != "" {
				check(t.Say, d.branchScope(scope, t))
			}
		}
		if st.Messages != "" && !scope.Open {
			if _, ok := scope.Fields[st.Messages]; !ok {
				problems.Add(st.Where.Key("messages"), "", "input %s has no field %q", st.Ask, st.Messages)
			}
		}
	case study.VerbJudge, study.VerbCompare:
		d.checkRubric(st, problems)
	}
}

// checkAsks warns where an ask stage says the same about every item.
func checkAsks(st *study.Stage, problems *assay.Problems) {
	if st.Verb() != study.VerbAsk || st.Messages != "" {
		return
	}
	texts := []study.Text{st.System, st.Context}
	for _, p := range st.Prompt {
		texts = append(texts, p.Text)
	}
	for _, t := range st.Turns {
		texts = append(texts, t.User, t.Assistant)
		for _, b := range t.Branches {
			texts = append(texts, b.Text)
		}
		if t.Each != "" {
			return // branches from an input bring their own words
		}
	}
	words := 0
	for _, t := range texts {
		if t.Template == nil && t.Text != "" || t.Template != nil && len(t.Template.Uses()) > 0 {
			return
		}
		words += len(t.Text)
	}
	if words > 0 {
		problems.Warn(st.At, "a field of the item is written {{ text }}", "stage %s asks the same about every item: its prompt uses no field", st.Name)
	}
}

// checkFields adds a problem for a field that a condition looks at and the input does not have.
func (d *Input) checkFields(p *expr.Program, input string, problems *assay.Problems) {
	if p == nil {
		return
	}
	scope := d.itemScope(input)
	if scope.Open {
		return
	}
	in, _ := d.Study.Inputs.Find(input)
	names := slices.Sorted(maps.Keys(scope.Fields))
	for _, use := range p.Fields() {
		if use.Field == "id" || use.Field == "expect" && in.Expect != (study.Expect{}) {
			continue // every item has the one, and the other where its input says so
		}
		if _, ok := scope.Fields[use.Field]; !ok && !use.Optional {
			problems.Add(use.Place, cmp.Or(assay.DidYouMean(use.Field, names), "its fields: "+strings.Join(names, ", ")), "input %s has no field %q", input, use.Field)
		}
	}
}

// IDs are the ids of an input's items.
func (d *Input) IDs(ctx context.Context, input string) (map[string]bool, error) {
	out := map[string]bool{}
	for it, err := range d.Rows.Items(ctx, input) {
		if err != nil {
			return nil, err
		}
		out[it.ID] = true
	}
	return out, nil
}

// Root is the input whose items a stage is about in the end, or "".
func (d *Input) Root(st *study.Stage) string {
	for range d.Study.Stages { // at most one step for each stage: a cycle was reported already
		switch next := ""; st.Verb() {
		case study.VerbAsk:
			return st.Ask
		case study.VerbImport:
			return st.Import.Of
		case study.VerbContinue:
			next = st.Continue
			fallthrough
		case study.VerbJudge, study.VerbCompare:
			if next == "" {
				next = cmp.Or(st.Compare, first(st.Judge.List))
			}
			s, ok := d.Study.Stage(next)
			if !ok {
				return next // a compare stage may name an input itself
			}
			st = s
		default:
			return ""
		}
	}
	return ""
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func (d *Input) itemScope(input string) prompt.Scope {
	if input == "" {
		return prompt.Scope{Open: true}
	}
	fields, open, _ := d.Items.Fields(input) // its problems are reported when it is read
	scope := prompt.Scope{Fields: map[string]prompt.Shape{}, Open: open}
	for _, f := range fields {
		scope.Fields[f] = prompt.Shape{}
	}
	return scope
}

func (d *Input) branchScope(scope prompt.Scope, t study.Turn) prompt.Scope {
	fields := d.itemScope(t.Each)
	scope.Names = map[string]prompt.Shape{"branch": {Kind: prompt.Record, Fields: fields.Fields, Open: fields.Open}}
	return scope
}

// plural is a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
