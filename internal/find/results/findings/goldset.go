package findings

import (
	"context"
	"fmt"
	"math"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/stats"
	"assay/internal/keep/store"
	"assay/internal/study"
)

// StageChange holds the changes from one run to the next in a stage that judges, on items that are the same in both.
type StageChange struct {
	Stage analysis.Stage     // as of the second run
	Lanes []analysis.Finding // by lane: the second run minus the first
	Gold  *GoldChange        // nil: both runs have no gold set for it
}

// GoldChange holds the changes in the verdicts on a gold set: answers that stay the same and are judged in every run.
type GoldChange struct {
	Stage  string // that judges it
	Shift  analysis.Finding
	Edited int // answers that are not the same in both runs, and are left out

	Verdicts, Answers analysis.Finding // what the judge says on average in the first run: of the gold set, and of the study's answers
	Long              [2]stats.Total   // logarithms of the lengths of texts of the gold set, and of the study's answers
}

// Changes compares two runs of a study, stage by stage, without what comparisons show.
func Changes(ctx context.Context, readers [2]*results.Reader, runs [2]store.Run) (*Diff, []StageChange, error) {
	d := newDiff(readers, runs)
	if err := d.items(ctx); err != nil {
		return nil, nil, err
	}
	walks, err := d.walks(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []StageChange
	for _, s := range walks[1].stages {
		if s.Verb != analysis.Judged || Keeps(walks[1].study, s.Name) != "" ||
			!slices.ContainsFunc(walks[0].stages, func(o analysis.Stage) bool { return o.Name == s.Name && o.Verb == s.Verb }) {
			continue
		}
		one := StageChange{Stage: s}
		if one.Lanes, err = d.lanes(ctx, walks, s); err != nil {
			return nil, nil, fmt.Errorf("compare stage %s: %w", s.Name, err)
		}
		if one.Gold, err = d.goldChange(ctx, walks, s); err != nil {
			return nil, nil, fmt.Errorf("compare the gold set of stage %s: %w", s.Name, err)
		}
		out = append(out, one)
	}
	return d, out, nil
}

// lanes returns the change of each lane of a stage.
func (d *Diff) lanes(ctx context.Context, walks [2]*walk, s analysis.Stage) ([]analysis.Finding, error) {
	both := d.lanesOfBoth(walks, s.Name)
	tables, err := pairedRuns(ctx, walks, s, []string{laneField}, func(r *analysis.Row) bool {
		return both[r.Lane] && d.shared[r.Item] && !d.changed[r.Item]
	})
	return differencesIn(tables), err
}

// differencesIn returns the differences among findings.
func differencesIn(tables []analysis.Table) (out []analysis.Finding) {
	for i := range tables {
		for _, f := range tables[i].Findings {
			if f.What == analysis.WhatDifference {
				out = append(out, f)
			}
		}
	}
	return out
}

// goldChange returns what changed in the verdicts on the gold set of a stage; nil: there is none that both runs have.
func (d *Diff) goldChange(ctx context.Context, walks [2]*walk, of analysis.Stage) (*GoldChange, error) {
	stage := of.Name
	at := slices.IndexFunc(walks[1].stages, func(s analysis.Stage) bool { return Keeps(walks[1].study, s.Name) == stage })
	if at < 0 {
		return nil, nil
	}
	s := walks[1].stages[at]
	if _, there := walks[0].study.Stage(s.Name); !there {
		return nil, nil
	}
	same, edited, err := d.sameAnswers(ctx, walks, s.Name)
	if err != nil {
		return nil, err
	}
	out := &GoldChange{Stage: s.Name, Edited: edited}
	tables, err := pairedRuns(ctx, walks, s, nil, func(r *analysis.Row) bool {
		return same[answerOf(r.Lane, r.Item)] && !d.changed[r.Item]
	})
	if found := differencesIn(tables); len(found) == 1 {
		out.Shift = found[0]
	} else {
		none := analysis.Finding{What: analysis.WhatDifference}
		out.Shift = none.Unknown("no answer of the gold set has a verdict in both runs")
	}
	if err != nil {
		return nil, err
	}
	out.Verdicts = meanIn(tables)
	both := d.lanesOfBoth(walks, stage)
	tables, err = pairedRuns(ctx, walks, of, nil, func(r *analysis.Row) bool {
		return both[r.Lane] && d.shared[r.Item] && !d.changed[r.Item]
	})
	if err != nil {
		return nil, err
	}
	out.Answers = meanIn(tables)
	for i, name := range []string{s.Name, stage} {
		if out.Long[i], err = lengthsOf(ctx, walks[0], name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// meanIn returns the rate or mean of the first run.
func meanIn(tables []analysis.Table) analysis.Finding {
	for i := range tables {
		for _, f := range tables[i].Findings {
			if (f.What == analysis.WhatRate || f.What == analysis.WhatMean) && f.Of(runField) == firstRun {
				return f
			}
		}
	}
	return analysis.Finding{Value: stats.Undefined("no verdict")}
}

// lengthsOf sums the logarithms of how long the answers are that a stage judges.
func lengthsOf(ctx context.Context, w *walk, stage string) (sum stats.Total, err error) {
	st, _ := w.study.Stage(stage)
	for _, from := range sources(w.study, st) {
		for l, err := range w.Ledger.Lengths(ctx, w.run.No, from.Name) {
			if err != nil {
				return sum, err
			}
			if l.Chars > 0 {
				sum.Add(math.Log(float64(l.Chars)))
			}
		}
	}
	return sum, nil
}

func answerOf(lane, item string) string { return string(analysis.AppendText(nil, lane, item)) }

// sameAnswers returns the answers that a stage judges and whose texts both runs have, and counts those of which the text is another one.
func (d *Diff) sameAnswers(ctx context.Context, walks [2]*walk, stage string) (same map[string]bool, edited int, err error) {
	var texts [2]map[assay.Key]string
	names := map[assay.Key]string{}
	for i, w := range walks {
		texts[i] = map[assay.Key]string{}
		st, _ := w.study.Stage(stage)
		for _, from := range sources(w.study, st) {
			for a, err := range w.Ledger.Answers(ctx, w.run.No, from.Name, "") {
				if err != nil {
					return nil, 0, err
				}
				if a.Over {
					if a, err = w.Scripts.Whole(ctx, w.run, a); err != nil {
						return nil, 0, err
					}
				}
				texts[i][a.Key], names[a.Key] = a.Outcome.Text, answerOf(a.At.Lane, a.At.Item)
			}
		}
	}
	same, other := map[string]bool{}, map[string]bool{}
	for key, text := range texts[1] {
		if was, ok := texts[0][key]; ok && was == text {
			same[names[key]] = true
		} else {
			other[names[key]] = true
		}
	}
	for name := range other {
		delete(same, name)
	}
	return same, len(other), nil
}

// Keeps returns the stage whose judge a stage checks in every run: one that judges imported answers with known labels, by the rubric and
// the judges of the other. Empty: it does not.
func Keeps(of *study.Study, name string) string {
	st, _ := of.Stage(name)
	if st == nil || st.Verb() != study.VerbJudge || st.Gold == "" || !allImported(of, st) ||
		len(st.Judges.List) == 0 && !byProgram(of, st) {
		return ""
	}
	for i := range of.Stages {
		o := &of.Stages[i]
		if o.Name != name && o.Verb() == study.VerbJudge && !allImported(of, o) && sameJudge(of, st, o) {
			return o.Name
		}
	}
	return ""
}

func allImported(of *study.Study, st *study.Stage) bool {
	return !slices.ContainsFunc(sources(of, st), func(s *study.Stage) bool { return s.Verb() != study.VerbImport })
}

// sameJudge reports whether two stages ask the same judges the same.
func sameJudge(of *study.Study, a, b *study.Stage) bool {
	texts := func(st *study.Stage) []string {
		out := []string{st.Rubric.Name, string(st.Jury), string(st.Wrap), st.Repeats.Reduce, st.Fallback, st.System.Text}
		for _, p := range st.Prompt {
			out = append(out, p.Name, p.Text.Text)
		}
		for _, l := range of.LanesNamed(st.Judges.List) {
			out = append(out, l.Name)
		}
		return out
	}
	return a.Rubric.Name != "" && a.Repeats.N == b.Repeats.N && slices.Equal(texts(a), texts(b))
}
