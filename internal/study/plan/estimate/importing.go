package estimate

import (
	"context"
	"fmt"

	"assay/internal/study"
	"assay/internal/study/plan"
)

// importing counts what an import stage brings, and reports what does not fit.
func (m *maker) importing(ctx context.Context, st *study.Stage) {
	lanes := m.chosen(m.in.Study.Contestants(st))
	in, err := m.in.Incoming(ctx, st, lanes, m.options.Limit)
	if err != nil {
		m.fail(st.At, err)
		return
	}
	found := map[string]int64{}
	for a, err := range in.Answers() {
		if err != nil {
			m.fail(st.Import.At, err)
			return
		}
		found[a.Lane]++
	}
	m.plan.Items[st.Import.Of] = int(in.Count)
	m.given[st.Name] = &answers{lanes: lanes, items: in.Count, turns: in.Turns, tokens: visibleTokens, answer: visibleTokens,
		gated: true, goes: st.GoesOn()}
	m.reportImport(st, in)
	for _, l := range lanes {
		i := plan.Import{Stage: st.Name, Lane: l, Expected: in.Expected[l.Name], Found: found[l.Name]}
		m.plan.Imports = append(m.plan.Imports, i)
		note := fmt.Sprintf("stage %s: lane %s brings %d of %s from %s", st.Name, l.Name, i.Found, plural(i.Expected, "answer"),
			st.Import.File)
		if i.Found < i.Expected {
			at, err := in.Missing(l.Name)
			if err != nil {
				m.fail(st.Import.At, err)
				return
			}
			note += fmt.Sprintf("; item %q is missing", at.Item)
		}
		m.note("%s", note)
	}
}

// reportImport prints which rows are left out.
func (m *maker) reportImport(st *study.Stage, in *plan.Incoming) {
	at := st.Import.At
	if in.Twice > 0 {
		m.problems.Add(at, "name the field in which they differ, such as `draw:`, `turn:` or `branch:`, or keep one with `where:`",
			"stage %s: %s what another one answers, such as %s", st.Name, rows(in.Twice, "answers", "answer"), in.Such["twice"])
	}
	if in.Unknown > 0 && m.options.Limit == 0 {
		m.problems.Warn(at, "they are left out", "stage %s: %s nothing that was asked, such as %s", st.Name,
			rows(in.Unknown, "answers", "answer"), in.Such["unknown"])
	}
	if in.Unanswered > 0 {
		m.problems.Warn(at, "they are left out", "stage %s: %s no answer, such as %s", st.Name, rows(in.Unanswered, "is", "are"),
			in.Such["unanswered"])
	}
}

func rows(n int64, one, many string) string {
	if n == 1 {
		return "1 row " + one
	}
	return plural(n, "row") + " " + many
}
