package findings

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/rows"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// facts hold the items, answers and lanes of a run as known before its rows are read.
type facts struct {
	origins
	items    map[string]map[string]*analysedItem     // by stage and id
	branches map[string]map[string]map[string]string // by stage: what branches are, where they are items
	seen     map[string]bool                         // fields that are asked for and that an item has
	endings  map[assay.Key]assay.Ending              // of answers that were refused or cut
}

// newFacts reads what a question needs to know.
func newFacts(ctx context.Context, q *question) (*facts, error) {
	f := &facts{
		origins: originsOf(q.study), items: map[string]map[string]*analysedItem{}, branches: map[string]map[string]map[string]string{},
		seen: map[string]bool{},
	}
	var err error
	if f.endings, err = readEndings(ctx, q); err != nil {
		return nil, err
	}
	inputs := map[string]map[string]*analysedItem{}
	for _, s := range q.stages {
		st, _ := q.study.Stage(s.Name)
		input := (&plan.Input{Study: q.study}).Root(st)
		if _, known := inputs[input]; !known {
			if inputs[input], err = readItems(ctx, q, input, f.seen); err != nil {
				return nil, fmt.Errorf("read the items of stage %s: %w", s.Name, err)
			}
		}
		f.items[s.Name] = inputs[input]
		if f.branches[s.Name], err = readBranches(ctx, q, st, f.seen); err != nil {
			return nil, fmt.Errorf("read the branches of stage %s: %w", s.Name, err)
		}
	}
	return f, nil
}

// readEndings returns which answers were refused or cut; most lanes have none.
func readEndings(ctx context.Context, q *question) (map[assay.Key]assay.Ending, error) {
	out := map[assay.Key]assay.Ending{}
	lanes, err := q.Ledger.Lanes(ctx, q.run.No)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		st, ok := q.study.Stage(l.Stage)
		if !ok || results.GivesVerdicts(st) || l.Endings[assay.Refused]+l.Endings[assay.Cut] == 0 {
			continue
		}
		for f, err := range q.Pages.Flawed(ctx, q.run.No, l.Stage, l.Name) {
			if err != nil {
				return nil, err
			}
			out[f.Key] = f.Ending
		}
	}
	return out, nil
}

// analysedItem holds the fields of an item that rows need.
type analysedItem struct {
	cluster, expect string
	texts           map[string]string // the fields that are asked for, shared with all items that have the same
	fields          map[string]any    // for conditions
}

// readItems returns what rows need of the items of an input, and notes the fields that they have.
func readItems(ctx context.Context, q *question, input string, seen map[string]bool) (map[string]*analysedItem, error) {
	out, alike := map[string]*analysedItem{}, map[string]*analysedItem{}
	all := q.Ledger.ItemHeads
	if len(q.fields) > 0 {
		all = q.Ledger.Items
	}
	for it, err := range all(ctx, q.run.No, input) {
		if err != nil {
			return nil, err
		}
		if it.Cluster == it.ID {
			it.Cluster = "" // as for any item that has none
		}
		if it.Cluster == "" && it.Expect == "" && len(q.fields) == 0 {
			continue // there is nothing to know
		}
		one := keptOf(q, it, seen)
		if one.fields == nil { // items that are alike share it
			key := fmt.Sprintf("%q %q %q", one.cluster, one.expect, one.texts)
			if alike[key] == nil {
				alike[key] = one
			}
			one = alike[key]
		}
		out[strings.Clone(it.ID)] = one
	}
	return out, nil
}

// keptOf returns what rows need of one item.
func keptOf(q *question, it assay.Item, seen map[string]bool) *analysedItem {
	one := &analysedItem{cluster: it.Cluster, expect: it.Expect}
	for _, f := range q.fields {
		v, ok := fieldAt(it.Fields, f)
		if !ok {
			continue
		}
		if one.texts == nil {
			one.texts = map[string]string{}
		}
		one.texts[f], seen[f] = fmt.Sprint(v), true
		if q.asksRows {
			top, _, _ := strings.Cut(f, ".")
			if one.fields == nil {
				one.fields = map[string]any{}
			}
			one.fields[top], one.fields[f] = it.Fields[top], v
		}
	}
	return one
}

// fieldAt returns the value of a field, or of a field inside of it: statement.section.
func fieldAt(fields map[string]any, path string) (any, bool) {
	if v, ok := fields[path]; ok {
		return v, true
	}
	name, rest, nested := strings.Cut(path, ".")
	inside, ok := fields[name].(map[string]any)
	if !nested || !ok {
		return nil, false
	}
	return fieldAt(inside, rest)
}

// readBranches returns what is asked for of branches that are items themselves (each: INPUT), by branch and
// branch.NAME.
func readBranches(ctx context.Context, q *question, st *study.Stage, seen map[string]bool) (map[string]map[string]string, error) {
	var wanted []string
	for _, f := range q.fields {
		if rest, ok := strings.CutPrefix(f, analysis.ByBranch+"."); ok {
			wanted = append(wanted, rest)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	out := map[string]map[string]string{}
	for _, input := range branchInputs(q.study, st) {
		for it, err := range q.Ledger.Items(ctx, q.run.No, input) {
			if err != nil {
				return nil, err
			}
			values := map[string]string{}
			for _, name := range wanted {
				if v, ok := fieldAt(it.Fields, name); ok {
					f := analysis.ByBranch + "." + name
					values[f], seen[f] = fmt.Sprint(v), true
				}
			}
			out[url.PathEscape(it.ID)] = values
		}
	}
	return out, nil
}

// branchInputs returns the inputs whose items are branches of the conversations that a stage is about.
func branchInputs(of *study.Study, st *study.Stage) []string {
	var out []string
	seen := map[string]bool{}
	var visit func(st *study.Stage)
	visit = func(st *study.Stage) {
		if seen[st.Name] {
			return
		}
		seen[st.Name] = true
		for _, t := range st.Turns {
			if t.Each != "" && !slices.Contains(out, t.Each) {
				out = append(out, t.Each)
			}
		}
		for _, from := range sources(of, st) {
			visit(from)
		}
		if from, ok := of.Stage(st.Continue); ok {
			visit(from)
		}
	}
	visit(st)
	return out
}

// origins are how the answers of a study come about.
type origins struct {
	settings map[string]*analysis.LaneSetting // by lane
	roots    map[string]string                // the stage in which conversations of a stage began, where that is another one
}

func originsOf(st *study.Study) origins {
	o := origins{map[string]*analysis.LaneSetting{}, map[string]string{}}
	for _, l := range st.Lanes {
		o.settings[l.Name] = &analysis.LaneSetting{
			Provider: l.Provider, Model: l.Model, Effort: l.Params.Effort, Thinking: rows.ThinkingText(l.Params.Thinking),
		}
	}
	for i := range st.Stages {
		all := conversation(st, &st.Stages[i])
		root := all[len(all)-1]
		if root.Name != st.Stages[i].Name {
			o.roots[st.Stages[i].Name] = root.Name
		}
	}
	return o
}

// fill writes into a row how its answers were asked for.
func (o origins) fill(r *analysis.Row) {
	r.Root, r.JudgeAsked = r.Source, o.settings[r.Judge]
	if root, ok := o.roots[r.Source]; ok {
		r.Root = root
	}
	if r.Item == "" && r.Other != "" { // items are compared
		return
	}
	r.Asked, r.OtherAsked = o.settings[r.Lane], o.settings[r.Other]
}
