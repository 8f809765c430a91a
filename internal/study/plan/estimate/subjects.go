package estimate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// comparable reports items that a stage compares and that have no text: a judge would be paid for comparing nothing.
func (m *maker) comparable(ctx context.Context, st *study.Stage) {
	if len(m.in.Study.LanesNamed(st.Judges.List)) == 0 {
		return // people compare, or did, and nothing is paid for
	}
	in, _ := m.in.Study.Inputs.Find(st.Compare)
	for it, err := range m.in.FirstItems(ctx, st.Compare, m.options.Limit) {
		if err != nil {
			return // reported where the items are counted
		}
		if kept, err := plan.Keeps(st, it); err != nil || !kept {
			continue
		}
		if _, err := plan.ComparedText(it); err != nil {
			if _, has := it.Fields["text"]; !has {
				m.problems.Add(st.Where.Key("compare"), textHint(st.Compare, in.Text, it),
					"stage %s compares the field `text` of the items of input %s, and item %q has none", st.Name, st.Compare, it.ID)
				return
			}
			m.problems.Add(it.Place, "leave such items out: where: 'trim(text) != \"\"'", "stage %s: %s", st.Name, err)
		}
	}
}

// textHint returns how an input names the field that is its items' text, by the one that looks most like it.
func textHint(input, named string, it assay.Item) string {
	name, longest := "FIELD", 0
	for _, field := range slices.Sorted(maps.Keys(it.Fields)) {
		if v, ok := it.Fields[field].(string); ok && field != named && v != it.ID && len(v) > longest {
			name, longest = field, len(v)
		}
	}
	return fmt.Sprintf("say which field it is under the input: `%s: {…, text: %s}`", input, name)
}

// statements reports items whose statement is missing, has no text or is only an id, where a judge's prompt shows it.
func (m *maker) statements(ctx context.Context, st *study.Stage) {
	r, err := m.in.Rubric(st)
	if err != nil || !slices.ContainsFunc(r.Prompts, func(p judge.Prompt) bool { return strings.Contains(p.Text, "statement_block") }) {
		return
	}
	for it, err := range m.in.FirstItems(ctx, m.in.Root(st), m.options.Limit) {
		if err != nil {
			return // reported where the items are read
		}
		if kept, err := plan.Keeps(st, it); err != nil || !kept {
			continue
		}
		field, empty := judge.EmptyStatement(it.Fields)
		group, _ := it.Fields["group"].(string)
		const join = "join the specification: `join: {with: spec, match: group = id, as: statement}` of the input"
		switch {
		case field == "" && len(r.Needs) > 0 && len(m.in.Study.LanesNamed(st.Judges.List)) > 0:
			m.problems.Add(st.Where.Key("rubric"), join, "stage %s holds answers against a rule, and item %q has none", st.Name, it.ID)
			return
		case group != "" && it.Fields[field] == group && !strings.ContainsAny(group, " \n"):
			m.problems.Add(it.Place, join, "stage %s: the %s of item %q is an id, %q, and not its text", st.Name, field, it.ID, group)
			return
		case empty:
			m.problems.Add(it.Place, "give it a field text, statement or content", "stage %s: the %s of item %q has no text to judge by",
				st.Name, field, it.ID)
		}
	}
}

// where finds the items of a later stage that its condition cannot be decided for, before anything is sent.
func (m *maker) where(ctx context.Context, st *study.Stage) {
	if st.Keep == nil || len(st.Keep.Stages()) > 0 || st.Verb() == study.VerbAsk {
		return
	}
	for it, err := range m.in.FirstItems(ctx, m.in.Root(st), m.options.Limit) {
		if err != nil {
			return // reported where the items are read
		}
		if _, err := plan.Keeps(st, it); err != nil {
			m.problems.Add(it.Place, "", "item %q in stage %s: %s", it.ID, st.Name, err)
			return
		}
	}
}
