package stages

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/again"
	"assay/internal/send/script/rounds"
	"assay/internal/send/script/rubric"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Stages are the stages of a study, ready to make requests. They are safe for concurrent use.
type Stages struct {
	Input  *plan.Input
	Orders *again.Orders // what is asked again; it grows while a run goes on

	lanes []string // that were chosen to answer; none: all
	all   map[string]Stage
}

// Build builds every stage of a study for the lanes that were chosen; none: all.
func Build(ctx context.Context, in *plan.Input, lanes []string) (*Stages, error) {
	s := &Stages{Input: in, Orders: &again.Orders{}, lanes: lanes, all: map[string]Stage{}}
	for _, st := range plan.InOrder(in.Study) {
		built, err := s.build(ctx, st)
		if err != nil {
			return nil, err
		}
		s.all[st.Name] = built
	}
	return s, nil
}

func (s *Stages) build(ctx context.Context, st *study.Stage) (Stage, error) {
	switch st.Verb() {
	case study.VerbJudge:
		return s.buildJudge(ctx, st)
	case study.VerbCompare:
		return s.buildCompare(ctx, st)
	}
	return s.buildAsk(ctx, st)
}

// Of returns a stage.
func (s *Stages) Of(name string) (Stage, bool) {
	st, ok := s.all[name]
	return st, ok
}

// Asking returns a stage that has conversations.
func (s *Stages) Asking(name string) (*Asking, bool) {
	a, ok := s.all[name].(*Asking)
	return a, ok
}

// Judging returns a stage that gives verdicts.
func (s *Stages) Judging(name string) (Judging, bool) {
	j, ok := s.all[name].(Judging)
	return j, ok
}

// InOrder walks over the stages, each after those that it needs.
func (s *Stages) InOrder() iter.Seq2[*study.Stage, Stage] {
	return func(yield func(*study.Stage, Stage) bool) {
		for _, st := range plan.InOrder(s.Input.Study) {
			if !yield(st, s.all[st.Name]) {
				return
			}
		}
	}
}

// Readers returns the judge stages that read a lane's answers of a turn of a stage, in their order.
func (s *Stages) Readers(source, lane string, turn int) []*Judge {
	var out []*Judge
	for _, rec := range s.InOrder() {
		if j, ok := rec.(*Judge); ok && j.Reads(source, lane, turn) {
			out = append(out, j)
		}
	}
	return out
}

// Rounds returns the rounds in which a stage buys its pairs; nil: all its pairs were planned at once, and none was bought besides.
func (s *Stages) Rounds(name string) *rounds.Rounds {
	if r := s.anyRounds(name); r != nil && r.Begun() {
		return r
	}
	return nil
}

func (s *Stages) anyRounds(name string) *rounds.Rounds {
	switch rec := s.all[name].(type) {
	case *LaneContest:
		return rec.rounds
	case *ItemContest:
		return rec.rounds
	}
	return nil
}

// Buys reports whether a stage has rounds, or may get some.
func (s *Stages) Buys() bool {
	for name := range s.all {
		if s.anyRounds(name) != nil {
			return true
		}
	}
	return false
}

// TakeLook adds a look of the ledger to the rounds of its stage. One that is known already changes nothing.
func (s *Stages) TakeLook(l store.Look) error {
	if r := s.anyRounds(l.Stage); r != nil {
		return r.Take(l)
	}
	return nil
}

// Compared returns the rounds in which lanes of a stage may be told apart.
func (s *Stages) Compared(name string) (*rounds.Rounds, error) {
	rec, ok := s.all[name].(*LaneContest)
	switch {
	case !ok:
		return nil, fmt.Errorf("stage %s does not compare lanes with each other", name)
	case rec.rounds == nil:
		return nil, fmt.Errorf("stage %s asks no model: only more items make more comparisons", name)
	}
	return rec.rounds, nil
}

// blockSize is how many requests are made at a time.
const blockSize = 256

// Row is an item and its place in its input, from 0.
type Row struct {
	assay.Item
	Ord int64
}

// Rows walks over the items of a stage.
func (s *Stages) Rows(ctx context.Context, rec Stage) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		ord := int64(0)
		for it, err := range s.Input.Rows.Items(ctx, rec.Items()) {
			if !yield(Row{it, ord}, err) || err != nil {
				return
			}
			ord++
		}
	}
}

// Row finds an item of a stage.
func (s *Stages) Row(ctx context.Context, rec Stage, id string) (Row, error) {
	for r, err := range s.Rows(ctx, rec) {
		if err != nil || r.ID == id {
			return r, err
		}
	}
	return Row{}, store.ErrNotFound
}

// Blocks walks over the requests of a group, of a lane, a rule or a program, a block at a time. A block is used until the next one.
func (s *Stages) Blocks(ctx context.Context, rec Stage, g store.GroupKey) iter.Seq2[[]Wanted, error] {
	return func(yield func([]Wanted, error) bool) {
		var block []Wanted
		for r, err := range s.Rows(ctx, rec) {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, at := range requests(rec, r, g) {
				block = append(block, Wanted{r.Item, at})
			}
			if len(block) < blockSize {
				continue
			}
			if !yield(block, nil) {
				return
			}
			block = block[:0]
		}
		if len(block) > 0 {
			yield(block, nil)
		}
	}
}

// chosen returns the lanes among some that were chosen to answer.
func (s *Stages) chosen(lanes []*study.Lane) []*study.Lane {
	if len(s.lanes) == 0 {
		return lanes
	}
	return picked(lanes, s.lanes)
}

// picked returns the lanes that one of some names picks.
func picked(lanes []*study.Lane, names []string) []*study.Lane {
	return slices.DeleteFunc(slices.Clone(lanes), func(l *study.Lane) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return study.Picks(n, l) })
	})
}

// Makes reports whether a lane of a stage makes a try.
func Makes(rec Stage, lane string, try int) bool {
	j, ok := rec.(Judging)
	return !ok || slices.Contains(j.Judges(), lane) != (try == again.Fallback)
}

// GroupsOf lists the groups of a lane in a stage, in the order they go out: every turn, then the further tries of every turn.
func GroupsOf(rec Stage, name, lane string) []store.GroupKey {
	var out []store.GroupKey
	for _, try := range rec.Tries() {
		for turn := 1; turn <= rec.Turns() && Makes(rec, lane, try); turn++ {
			out = append(out, store.GroupKey{Stage: name, Lane: lane, Turn: turn, Again: try})
		}
	}
	return out
}

// requests lists the requests about one item that belong to a group.
func requests(rec Stage, r Row, g store.GroupKey) []assay.Coordinates {
	judges, by := []string{g.Lane}, ""
	if j, ok := rec.(Judging); ok && g.Again == again.Fallback {
		judges, by = j.Judges(), g.Lane
	}
	if len(judges) == 0 {
		return nil
	}
	out := rec.At(r.Item, r.Ord, judges[0], g.Turn)
	for _, name := range judges[1:] {
		out = append(out, rec.At(r.Item, r.Ord, name, g.Turn)...)
	}
	for i := range out {
		out[i].Again, out[i].By = g.Again, by
	}
	return out
}

// Before lists the groups that have to be settled before nothing more can join a group.
func Before(rec Stage, g store.GroupKey) []store.GroupKey {
	if g.Again == again.FirstAsked {
		return rec.After(g.Lane, g.Turn)
	}
	var out []store.GroupKey
	for _, l := range rec.Lanes() {
		for _, try := range rec.Tries() {
			if try < g.Again && Makes(rec, l.Name, try) {
				out = append(out, store.GroupKey{Stage: g.Stage, Lane: l.Name, Turn: g.Turn, Again: try})
			}
		}
	}
	return out
}

func (s *Stages) panel(st *study.Stage) (panel, error) {
	described, err := s.Input.Rubric(st)
	if err != nil {
		return panel{}, err
	}
	r, err := rubric.Parse(described)
	if err != nil {
		return panel{}, err
	}
	if own := s.Input.Study.RubricOf(st); own != nil {
		r.Command, r.Limit = own.Command, time.Duration(own.Limit)
	}
	p := panel{in: s.Input, stage: st, rubric: r, chosen: s.Input.Study.LanesNamed(st.Judges.List), votes: max(1, st.Repeats.N),
		orders: s.Orders}
	if st.Fallback != "" {
		p.others = s.Input.Study.LanesNamed([]string{st.Fallback})
	}
	if r.NeedsNoModel() {
		p.votes = 1 // it would give the same verdict again
	}
	return p, nil
}
