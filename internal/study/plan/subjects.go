package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/study"
)

// ComparedText is what a judge is shown of an item that is compared with another: never nothing.
func ComparedText(it assay.Item) (string, error) {
	switch v := it.Fields["text"].(type) {
	case nil:
		return "", fmt.Errorf("item %q has no text to compare", it.ID)
	case map[string]any, []any:
		return "", fmt.Errorf("item %q: the text to compare is a list or a record", it.ID)
	case string:
		if strings.TrimSpace(v) == "" {
			return "", fmt.Errorf("item %q has an empty text, and there is nothing to compare", it.ID)
		}
		return v, nil
	default:
		return fmt.Sprint(v), nil
	}
}

// comparable reports items that a stage compares and that have no text: a judge would be paid for comparing nothing.
func (m *maker) comparable(ctx context.Context, st *study.Stage) {
	if len(m.Study.LanesNamed(st.Judges.List)) == 0 {
		return // people compare, or did, and nothing is paid for
	}
	in, _ := m.Study.Inputs.Find(st.Compare)
	for it, err := range m.FirstItems(ctx, st.Compare, m.options.Limit) {
		if err != nil {
			return // reported where the items are counted
		}
		if kept, err := keepsItem(st, it); err != nil || !kept {
			continue
		}
		if _, err := ComparedText(it); err != nil {
			if _, has := it.Fields["text"]; !has {
				m.problems.Add(st.Where.Key("compare"), textHint(st.Compare, in.Text, it), "stage %s compares the field `text` of the items of input %s, and item %q has none", st.Name, st.Compare, it.ID)
				return
			}
			m.problems.Add(it.Place, "leave such items out: where: 'trim(text) != \"\"'", "stage %s: %s", st.Name, err)
		}
	}
}

// textHint says how an input names the field that is its items' text, by the one that looks most like it.
func textHint(input, named string, it assay.Item) string {
	name, longest := "FIELD", 0
	for _, field := range slices.Sorted(maps.Keys(it.Fields)) {
		if v, ok := it.Fields[field].(string); ok && field != named && v != it.ID && len(v) > longest {
			name, longest = field, len(v)
		}
	}
	return fmt.Sprintf("say which field it is under the input: `%s: {…, text: %s}`", input, name)
}

// statements reports items whose statement has no text, where a judge's prompt shows it.
func (m *maker) statements(ctx context.Context, st *study.Stage) {
	r, err := m.Rubric(st)
	if err != nil || !slices.ContainsFunc(r.Prompts, func(p judge.Prompt) bool { return strings.Contains(p.Text, "statement_block") }) {
		return
	}
	for it, err := range m.FirstItems(ctx, m.Root(st), m.options.Limit) {
		if err != nil {
			return // reported where the items are read
		}
		if kept, err := keepsItem(st, it); err != nil || !kept {
			continue
		}
		if field, empty := judge.EmptyStatement(it.Fields); empty {
			m.problems.Add(it.Place, "give it a field text, statement or content", "stage %s: the %s of item %q has no text to judge by", st.Name, field, it.ID)
		}
	}
}
