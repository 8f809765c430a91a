package analysis

import (
	"cmp"
	"slices"
)

// Side counts the endings of the first answers of one lane in one stage, so that lanes of several stages and phases can be put
// side by side. A finding without a value has the reason.
type Side struct {
	Stage   string // that judges
	Source  string // whose answers
	Root    string // in which the conversations began
	Lane    string
	Flips   bool // by verdicts on flips; false: by stances
	Control bool // there was a neutral re-ask
	Alone   bool // people have checked the judge, and their labels do not correct these numbers

	First           Finding // share of first answers that are as expected
	Rate            Finding // share of answers that were taken back under pressure, each item of equal weight
	Again           Finding // the same of answers that were merely asked for again
	BatchScore      Finding
	BatchResistance Finding
	LiveScore       Finding
	Resistance      Finding
	Coverage        Coverage
}

// Findings returns the findings of a side in the order of its columns.
func (s *Side) Findings() []*Finding {
	out := []*Finding{&s.First, &s.Rate, &s.Again, &s.BatchScore, &s.BatchResistance, &s.LiveScore, &s.Resistance}
	if !s.Control {
		out = slices.Delete(out, 2, 3)
	}
	return out
}

// Boards puts sides into leaderboards, those who took back least first. Stages join one leaderboard if the same kind of
// verdict measures them and no lane is in two: so phases that ask one lane after another are one. Those by verdicts on flips
// come before those by stances.
func Boards(sides []Side) [][]Side {
	var out [][]Side
	for _, group := range byStage(sides) {
		at := slices.IndexFunc(out, func(board []Side) bool { return joins(board, group) })
		if at < 0 {
			at, out = len(out), append(out, nil)
		}
		out[at] = append(out[at], group...)
	}
	slices.SortStableFunc(out, func(a, b []Side) int { return cmp.Compare(one(b[0].Flips), one(a[0].Flips)) })
	for _, board := range out {
		slices.SortStableFunc(board, func(a, b Side) int {
			x, y := a.Rate.Value, b.Rate.Value
			if !x.OK || !y.OK {
				return cmp.Compare(one(y.OK), one(x.OK))
			}
			return cmp.Or(cmp.Compare(x.Value, y.Value), Natural(a.Lane, b.Lane))
		})
	}
	return out
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// byStage returns sides in groups of the same stage and the same source, in their order.
func byStage(sides []Side) [][]Side {
	var out [][]Side
	for _, s := range sides {
		at := slices.IndexFunc(out, func(g []Side) bool { return g[0].Stage == s.Stage && g[0].Source == s.Source })
		if at < 0 {
			at, out = len(out), append(out, nil)
		}
		out[at] = append(out[at], s)
	}
	return out
}

func joins(board, group []Side) bool {
	return board[0].Flips == group[0].Flips && board[0].Control == group[0].Control && !slices.ContainsFunc(group, func(s Side) bool {
		return slices.ContainsFunc(board, func(o Side) bool { return o.Lane == s.Lane })
	})
}

// Pushes reports whether a stage is about answers that somebody pushed back on.
func (s *Stage) Pushes() bool { return s.Verb == Judged && (s.Flips || s.Each && s.Suits(SideBySide)) }

// SideSpecs returns the analyses of a stage whose numbers are put side by side, beside those that are shown: of first answers,
// and of what became of them.
func SideSpecs(stage *Stage, shown []Spec) []Spec {
	spec := Spec{Stage: stage.Name, Method: SideBySide, ForSides: true}.like(shown)
	var out []Spec
	if stage.Pushes() && !slices.ContainsFunc(shown, func(s Spec) bool { return s.Method == SideBySide }) {
		out = append(out, spec)
	}
	if stage.Verb == Judged && !stage.Flips {
		spec.Method, spec.By, spec.Keep = Rates, []string{ByLane, BySource}, firstAnswers(spec.Keep)
		out = append(out, spec)
	}
	return out
}

// JoinFirst fills in the first answers of each side from rates by lane and source, those of stances before others: of the stage in
// which its conversations began, else of the one that is judged.
func JoinFirst(sides []Side, rates []Finding) {
	for i := range sides {
		s := &sides[i]
		for _, source := range []string{s.Source, s.Root} {
			for _, f := range rates {
				if f.What == WhatRate && f.Of(ByLane) == s.Lane && f.Of(BySource) == source {
					f.Notes = slices.Clone(f.Notes)
					f.Note("stage %s, answers of %s", f.Stage, source)
					f.What, f.By = WhatFirstStance, s.First.By
					s.First = f
					break
				}
			}
		}
	}
}

// like returns the spec with the rows and the level of the primary one of others, else of the first.
func (s Spec) like(others []Spec) Spec {
	first := slices.IndexFunc(others, func(s Spec) bool { return s.Primary && !s.EachJudge() })
	s.Primary = first >= 0
	if first < 0 {
		first = slices.IndexFunc(others, func(s Spec) bool { return !s.EachJudge() })
	}
	if first >= 0 {
		s.Keep, s.Level = others[first].Keep, others[first].Level
	}
	return s
}

// firstAnswers keeps the first answers of conversations, of the rows that are kept; nil: of all.
func firstAnswers(keep func(*Row) bool) func(*Row) bool {
	return func(r *Row) bool { return r.Turn <= 1 && r.Branch == "" && (keep == nil || keep(r)) }
}
