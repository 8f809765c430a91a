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
	var all, lacking plan.Import // of all lanes; of the first that lacks an answer
	for _, l := range lanes {
		i := plan.Import{Stage: st.Name, Lane: l, Expected: in.Expected[l.Name], Found: found[l.Name]}
		m.plan.Imports = append(m.plan.Imports, i)
		all.Expected, all.Found = all.Expected+i.Expected, all.Found+i.Found
		if i.Found < i.Expected && lacking.Expected == 0 {
			lacking = i
		}
		if len(lanes) <= eachLane {
			m.noteImport(st, in, "lane "+l.Name+" brings", i, i)
		}
	}
	if len(lanes) > eachLane {
		m.noteImport(st, in, fmt.Sprintf("%d lanes bring", len(lanes)), all, lacking)
	}
}

// eachLane is how many lanes of an import have a note of their own.
const eachLane = 4

// noteImport says how many answers an import brings, and which one is missing.
func (m *maker) noteImport(st *study.Stage, in *plan.Incoming, who string, i, lacking plan.Import) {
	note := fmt.Sprintf("stage %s: %s %d of %s from %s", st.Name, who, i.Found, plural(i.Expected, "answer"), st.Import.File)
	if i.Found < i.Expected {
		at, err := in.Missing(lacking.Lane.Name)
		if err != nil {
			m.fail(st.Import.At, err)
			return
		}
		if note += fmt.Sprintf("; item %q is missing", at.Item); i.Lane == nil {
			note += " in lane " + lacking.Lane.Name
		}
	}
	m.note("%s", note)
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
