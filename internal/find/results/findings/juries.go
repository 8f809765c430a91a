package findings

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/send/script/people"
	"assay/internal/study"
)

// jury is how the verdicts on one answer become one: a judge's votes, then the judges, then the draws of the answer.
// It holds all verdicts on every answer of one stage.
type jury struct {
	jury    judge.Jury
	votes   judge.Reduce
	draws   judge.Reduce
	repeats int  // draws that become one; those of a control beyond stay apart
	people  bool // people alone judge: else they sit on no jury, because they may never come
	units   map[string]*judgedUnit
}

// judgedUnit holds the verdicts on one answer, or on all draws of it.
type judgedUnit struct {
	row  analysis.Row
	said map[int]map[string][]assay.Verdict // by draw and judge
}

// Decided reports whether the verdicts of a stage on one answer become one.
func Decided(of *study.Study, st *study.Stage) bool { return panelOf(of, st) != nil }

// juryOf returns how judges decide together; empty: they do not.
func juryOf(of *study.Study, st *study.Stage) string {
	if p := panelOf(of, st); p != nil {
		return string(p.jury)
	}
	return ""
}

// panelOf returns the panel of a stage; nil where all verdicts stay apart.
func panelOf(of *study.Study, st *study.Stage) *jury {
	p := &jury{jury: judge.Jury(st.Jury), votes: judge.Reduce(st.Repeats.Reduce), repeats: 1, units: map[string]*judgedUnit{}}
	lanes := len(of.LanesNamed(st.Judges.List)) + len(st.ImportedJudges())
	p.people = lanes == 0 && slices.ContainsFunc(st.Judges.List, func(name string) bool { return strings.HasPrefix(name, people.Prefix) })
	if p.jury == judge.Each || lanes < 2 && !p.people {
		p.jury = ""
	}
	for _, s := range sources(of, st) {
		if s.Repeats.Reduce != "" {
			p.draws, p.repeats = judge.Reduce(s.Repeats.Reduce), max(1, s.Repeats.N)
		}
	}
	if p.jury == "" && p.votes == "" && p.draws == "" {
		return nil
	}
	return p
}

// unit returns where a row belongs.
func (p *jury) unit(r *analysis.Row) *judgedUnit {
	row := *r
	row.Decided, row.Vote = true, 0
	row.State, row.Label, row.Score = assay.VerdictMissing, "", nil
	if p.jury != "" {
		row.Judge = analysis.JuryName
	}
	if p.draws != "" {
		row.Draw = (r.Draw-1)/p.repeats + 1
	}
	if p.votes == "" && p.jury == "" {
		row.Vote = r.Vote
	}
	key := fmt.Sprintf("%q", []any{row.Judge, row.Lane, row.Other, row.Item, row.Cluster, row.Template, row.Prompt, row.Trait, row.Branch,
		row.Turn, row.Draw, row.Vote})
	u, ok := p.units[key]
	if !ok {
		u = &judgedUnit{row: row, said: map[int]map[string][]assay.Verdict{}}
		p.units[key] = u
	}
	return u
}

// enter adds a verdict.
func (p *jury) enter(r *analysis.Row, v *store.Verdict) {
	u := p.unit(r)
	if u.said[r.Draw] == nil {
		u.said[r.Draw] = map[string][]assay.Verdict{}
	}
	u.said[r.Draw][r.Judge] = append(u.said[r.Draw][r.Judge], assay.Verdict{State: v.State, Label: v.Label, Score: v.Score})
	if !u.row.Style.Known {
		u.row.Style, u.row.OtherStyle = r.Style, r.OtherStyle
	}
	if u.row.Ending == "" {
		u.row.Ending = r.Ending
	}
}

// rows returns the places where one verdict is expected.
func (p *jury) rows() iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(p.units)) {
			row := p.units[key].row
			if !yield(&row, nil) {
				return
			}
		}
	}
}

// decided returns the verdicts that the panel comes to, of the answers that have any.
func (p *jury) decided() iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(p.units)) {
			u := p.units[key]
			for _, v := range p.decide(u) {
				row := u.row
				row.State, row.Label, row.Score, row.Alone = v.State, v.Label, v.Score, p.jury != "" && u.votes() == 1
				if !yield(&row, nil) {
					return
				}
			}
		}
	}
}

// votes counts the valid verdicts on an answer.
func (u *judgedUnit) votes() (n int) {
	for _, by := range u.said {
		for _, all := range by {
			for _, v := range all {
				if v.State == assay.VerdictValid {
					n++
				}
			}
		}
	}
	return n
}

func (p *jury) decide(u *judgedUnit) []assay.Verdict {
	var draws []assay.Verdict
	for _, draw := range slices.Sorted(maps.Keys(u.said)) {
		var bench []assay.Verdict
		for _, name := range slices.Sorted(maps.Keys(u.said[draw])) {
			bench = append(bench, p.votes.Of(u.said[draw][name])...)
		}
		draws = append(draws, p.jury.Decide(bench)...)
	}
	if len(draws) == 0 {
		return nil
	}
	return p.draws.Of(draws)
}
