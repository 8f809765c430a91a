// Package check holds a study against the catalogue and the columns of its inputs, before anything is counted or sent.
package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/study"
	"assay/internal/study/expr"
	"assay/internal/study/plan"
	"assay/internal/study/prompt"
)

// Study reports what is wrong with a study that only the catalogue and the columns of its inputs can show. What the rows
// themselves do wrong is reported by Make. KeySet says whether an environment variable is set.
func Study(in *plan.Input, keySet func(name string) bool) assay.Problems {
	var problems assay.Problems
	d := checker{in}
	d.checkLanes(&problems)
	d.checkHeaders(&problems)
	d.checkPrices(&problems)
	d.checkKeys(keySet, &problems)
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		d.checkNames(st, &problems)
		d.checkAsked(st, &problems)
		d.checkCallable(st, &problems)
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

// checker holds a study against its catalogue and the columns of its inputs.
type checker struct{ *plan.Input }

// checkKeys warns of API keys, and of what else providers need, that are not set.
func (d checker) checkKeys(keySet func(name string) bool, problems *assay.Problems) {
	for _, k := range d.Keys(keySet) {
		batch := slices.ContainsFunc(d.Study.Stages, func(st study.Stage) bool {
			return slices.ContainsFunc(d.uses(&st), func(l *study.Lane) bool {
				return l.Provider == k.Provider && d.Mode(&st, l) == assay.ModeBatch
			})
		})
		if what, hint := plan.Lacks(d.Input, k.Provider, batch, keySet); what != "" {
			problems.Warn(d.Study.At, hint, "%s: %s cannot run", what, k.Users())
		}
		if k.Set || k.Optional {
			continue
		}
		problems.Warn(d.Study.At, "needed only to run for real", "%s is not set: %s cannot run", strings.Join(k.Names, " or "), k.Users())
	}
}

// checkNames holds every template of a stage against the names it may use.
func (d checker) checkNames(st *study.Stage, problems *assay.Problems) {
	check := func(t study.Text, scope prompt.Scope) { d.checkText(t, scope, problems) }
	switch st.Verb() {
	case study.VerbAsk, study.VerbContinue, study.VerbImport:
		scope := d.itemScope(d.Root(st))
		check(st.System, scope)
		check(st.Context, scope)
		d.checkShown(st.Media, scope, problems)
		d.checkPrompts(st, scope, problems)
		if st.Control != nil {
			check(st.Control.Say, scope)
		}
		for _, t := range st.Turns {
			check(t.User, scope)
			check(t.Assistant, scope)
			d.checkShown(t.Media, scope, problems)
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
		d.checkShown(st.Media, d.itemScope(d.Root(st)), problems)
	}
}

// checkPrompts holds the templates of a stage against the fields of its items. One that names a field in single braces alone would ask the
// same about every item, and pay for each.
func (d checker) checkPrompts(st *study.Stage, scope prompt.Scope, problems *assay.Problems) {
	alike := plan.AsksAlike(st)
	for _, p := range st.Prompt {
		if len(st.Prompt) > 1 && slices.Contains([]string{"system", "user", "assistant"}, p.Name) {
			problems.Warn(p.Text.At, "a system text is `system:` beside `prompt:`, a conversation is `messages:`",
				"%q is a template, and every template is asked by itself", p.Name)
		}
		if at, written := d.fieldInOneBrace(p.Text, scope); alike && written != "" {
			problems.Add(at, "write {{ "+strings.Trim(written, "{ }")+" }}",
				"stage %s asks the same about every item: %s is no field, it is sent as it is", st.Name, written)
			continue
		}
		d.checkText(p.Text, scope, problems)
	}
}

// checkShown holds the names of what is shown against the fields of the items.
func (d checker) checkShown(media study.Media, scope prompt.Scope, problems *assay.Problems) {
	for _, m := range media {
		d.checkText(study.Text{Text: m.Text, At: m.At, Body: m.At, Template: m.Template}, scope, problems)
	}
}

// Alike warns of ask stages that say the same about every item. A plan says it with the price.
func Alike(in *plan.Input) assay.Problems {
	var problems assay.Problems
	for i := range in.Study.Stages {
		if st := &in.Study.Stages[i]; plan.AsksAlike(st) {
			problems.Warn(st.At, plan.FieldHint, "stage %s asks the same about every item: its prompt uses no field", st.Name)
		}
	}
	return problems
}

// checkFields adds a problem for a field that a condition looks at and the input does not have.
func (d checker) checkFields(p *expr.Program, input string, problems *assay.Problems) {
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
			problems.Add(use.Place, cmp.Or(assay.DidYouMean(use.Field, names), "its fields: "+strings.Join(names, ", ")),
				"input %s has no field %q", input, use.Field)
		}
	}
}

func (d checker) itemScope(input string) prompt.Scope {
	if input == "" {
		return prompt.Scope{Open: true}
	}
	fields, open, _ := d.Items.Fields(input)                                                 // its problems are reported when it is read
	scope := prompt.Scope{Fields: map[string]prompt.Shape{}, Open: open || len(fields) == 0} // an empty file lacks its items alone
	for _, f := range fields {
		scope.Fields[f] = prompt.Shape{}
	}
	return scope
}

func (d checker) branchScope(scope prompt.Scope, t study.Turn) prompt.Scope {
	fields := d.itemScope(t.Each)
	scope.Names = map[string]prompt.Shape{"branch": {Kind: prompt.Record, Fields: fields.Fields, Open: fields.Open}}
	return scope
}

// checkWithin wants the field within whose values items are compared to be one of the input.
func (d checker) checkWithin(st *study.Stage, problems *assay.Problems) {
	if p := st.Pairs; p != nil && p.Order == study.OrderAsListed && p.File.File == "" && p.Reverse == 0 {
		problems.Warn(p.Key("order"), "order: both shows each pair both ways round; order: random balances who stands first",
			"stage %s shows each two in one order: whom the judge prefers and where it stood cannot be told apart", st.Name)
	}
	if st.Pairs == nil || st.Pairs.Within == "" {
		return
	}
	if !analysis.OfItems(st.Pairs.Within) {
		problems.Add(st.Pairs.Key("within"), "rename the column", "within: findings have a field %q of their own", st.Pairs.Within)
		return
	}
	scope := d.itemScope(d.Root(st))
	top, _, _ := strings.Cut(st.Pairs.Within, ".")
	if _, ok := scope.Fields[top]; ok || scope.Open || top == "id" {
		return
	}
	names := slices.Sorted(maps.Keys(scope.Fields))
	problems.Add(st.Pairs.Key("within"), cmp.Or(assay.DidYouMean(top, names), "its fields: "+strings.Join(names, ", ")),
		"input %s has no field %q", st.Compare, st.Pairs.Within)
}
