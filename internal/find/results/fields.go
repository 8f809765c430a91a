package results

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/study"
)

// fieldAt is the value of a field, or of a field inside of it: statement.section.
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

// sharedBy is what two items that are compared have in common: the field within which their stage compares.
func (d *rowReader) sharedBy(at assay.Coordinates, items map[string]*analysedItem) map[string]string {
	st, ok := d.study.Stage(at.Stage)
	it := items[at.Item]
	if !ok || it == nil || st.Pairs == nil || st.Pairs.Within == "" {
		return nil
	}
	group := [2]string{st.Pairs.Within, it.texts[st.Pairs.Within]}
	if d.shared[group] == nil {
		d.shared[group] = map[string]string{group[0]: group[1]}
	}
	return d.shared[group]
}

// branchesOf reads what is asked for of branches that are items themselves (each: INPUT), by branch and branch.NAME.
func (d *rowReader) branchesOf(ctx context.Context, st *study.Stage) (map[string]map[string]string, error) {
	var wanted []string
	for _, f := range d.fields {
		if rest, ok := strings.CutPrefix(f, analysis.ByBranch+"."); ok {
			wanted = append(wanted, rest)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	out := map[string]map[string]string{}
	for _, input := range d.branchInputs(st) {
		for it, err := range d.Ledger.Items(ctx, d.run.No, input) {
			if err != nil {
				return nil, err
			}
			values := map[string]string{}
			for _, name := range wanted {
				if v, ok := fieldAt(it.Fields, name); ok {
					f := analysis.ByBranch + "." + name
					values[f], d.seen[f] = fmt.Sprint(v), true
				}
			}
			out[url.PathEscape(it.ID)] = values
		}
	}
	return out, nil
}

// branchInputs are the inputs whose items are branches of the conversations that a stage is about.
func (d *rowReader) branchInputs(st *study.Stage) []string {
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
		for _, from := range append(d.sources(st), d.before(st)...) {
			visit(from)
		}
	}
	visit(st)
	return out
}

// before is the stage whose conversations a stage goes on with.
func (d *rowReader) before(st *study.Stage) []*study.Stage {
	if from, ok := d.study.Stage(st.Continue); ok {
		return []*study.Stage{from}
	}
	return nil
}

// readLengths reads how long the answers are that a stage is about, where an analysis wants to know.
func (d *rowReader) readLengths(ctx context.Context, st *study.Stage, s analysis.Stage) error {
	d.lengths = nil
	if !s.Lengths || s.Items {
		return nil
	}
	for _, from := range d.sources(st) {
		for l, err := range d.Ledger.Lengths(ctx, d.run.No, from.Name) {
			if err != nil {
				return err
			}
			if d.lengths == nil {
				d.lengths = map[assay.Key]int32{}
			}
			d.lengths[l.Key] = int32(min(l.Chars, 1<<30))
		}
	}
	return nil
}
