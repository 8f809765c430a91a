package plan

import (
	"cmp"
	"context"
	"iter"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/expr"
)

// Keeps reports whether an item passes the `where` of the conversation's stage, as far as that looks at the item alone.
func (t *Conversation) Keeps(it assay.Item) (bool, error) { return Keeps(t.Stage, it) }

// Keeps reports whether an item passes the `where` of a stage, as far as that looks at the item alone.
func Keeps(st *study.Stage, it assay.Item) (bool, error) {
	if st.Keep == nil || len(st.Keep.Stages()) > 0 {
		return true, nil
	}
	return st.Keep.Bool(expr.Vars{Item: &it})
}

// FirstItems returns the items that a limit leaves of an input; 0: all. A limit is about what is asked, not about what goes with it,
// such as a table of objections.
func (d *Input) FirstItems(ctx context.Context, input string, limit int) iter.Seq2[assay.Item, error] {
	items := d.Rows.Items(ctx, input)
	if limit == 0 || !d.asks(input) {
		return items
	}
	return func(yield func(assay.Item, error) bool) {
		left := limit
		for it, err := range items {
			if !yield(it, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// asks reports whether a stage is about the items of an input.
func (d *Input) asks(input string) bool {
	for i := range d.Study.Stages {
		if d.Root(&d.Study.Stages[i]) == input {
			return true
		}
	}
	return false
}

// IDs returns the ids of an input's items.
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

// Root returns the input whose items a stage is about in the end, or "".
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
				next = cmp.Or(append([]string{st.Compare}, st.Judge.List...)...)
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

// InOrder lists the stages so that each comes after those it needs.
func InOrder(s *study.Study) []*study.Stage {
	var out []*study.Stage
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		st, ok := s.Stage(name)
		if !ok || seen[name] {
			return
		}
		seen[name] = true
		for _, n := range st.Needs() {
			visit(n)
		}
		out = append(out, st)
	}
	for i := range s.Stages {
		visit(s.Stages[i].Name)
	}
	return out
}
