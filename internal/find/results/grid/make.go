package grid

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/judge"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/send/script/people"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Of makes the matrix of a stage. Stage empty: the one that a reader wants first, which is that of the first primary
// analysis, else the first that judges answers by themselves.
func Of(ctx context.Context, r *results.Reader, run store.Run, stage string) (*Matrix, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return nil, err
	}
	k := &maker{study: st, unshown: map[markOf]bool{}, plan: &plan.Input{Study: st}, m: &Matrix{Stage: stage, Counts: map[Kind]int{}}}
	if err := k.choose(); err != nil {
		return nil, err
	}
	if err := k.read(ctx, r.Pages, run.No); err != nil {
		return nil, err
	}
	return k.m, nil
}

// maker makes a matrix, item by item.
type maker struct {
	m     *Matrix
	study *study.Study
	plan  *plan.Input

	people  bool // people alone judge
	scale   scale
	column  map[string]int
	unshown map[markOf]bool // places beyond those that cells show

	item  string
	ord   int64
	cells []cellSum
	buf   []byte
	pack  []packedCell
}

// scale maps scores to values from 0, the worse end, to 1.
type scale struct {
	low, high float64
	down      bool // the high end is the worse one
	ok        bool
	of        map[string]float64 // the scores of labels
}

func scaleOf(r judge.Rubric) scale {
	s := scale{low: math.Inf(1), high: math.Inf(-1), down: r.Worse == judge.High, of: map[string]float64{}}
	for _, l := range r.Labels {
		if l.Score != nil && !l.Abstain {
			s.of[l.Name] = *l.Score
			s.low, s.high = min(s.low, *l.Score), max(s.high, *l.Score)
		}
	}
	if r.Range.Low != nil && r.Range.High != nil {
		s.low, s.high = *r.Range.Low, *r.Range.High
	}
	s.ok = s.high > s.low
	return s
}

// value returns the position of a verdict on the scale.
func (s scale) value(v *store.Verdict) (float64, bool) {
	score, ok := s.of[v.Label]
	if v.Score != nil {
		score, ok = *v.Score, true
	}
	if !ok || !s.ok {
		return 0, false
	}
	x := min(1, max(0, (score-s.low)/(s.high-s.low)))
	if s.down {
		x = 1 - x
	}
	return x, true
}

// label returns the label with a score.
func (s scale) label(score float64) string {
	for _, name := range slices.Sorted(maps.Keys(s.of)) {
		if s.of[name] == score {
			return name
		}
	}
	return shortNumber(score)
}

// choose finds the stage, its lanes and the stages that add to it.
func (k *maker) choose() error {
	var judging, asking []*study.Stage
	for _, s := range plan.InOrder(k.study) {
		switch {
		case results.GivesVerdicts(s) && k.ofLanes(s):
			judging = append(judging, s)
		case !results.GivesVerdicts(s):
			asking = append(asking, s)
		}
	}
	for _, s := range append(slices.Clone(judging), asking...) {
		k.m.Stages = append(k.m.Stages, s.Name)
	}
	if len(k.m.Stages) == 0 {
		return results.NewMistake("", "the run has no stage whose answers could stand in a grid")
	}
	if k.m.Stage == "" {
		k.m.Stage = k.first(judging)
	}
	if !slices.Contains(k.m.Stages, k.m.Stage) {
		return results.NewMistake(assay.ThereAre(k.m.Stages), "the grid has no stage %q", k.m.Stage)
	}
	of, _ := k.study.Stage(k.m.Stage)
	k.m.Judged, k.m.Pairs, k.m.Input = results.GivesVerdicts(of), of.Verb() == study.VerbCompare, k.plan.Root(of)
	k.m.Answers = k.sources(of)
	k.m.Source = k.m.Answers[0]
	k.lanes(of)
	if !k.m.Judged {
		return nil
	}
	r, err := k.plan.Rubric(of)
	if err != nil {
		return err
	}
	k.scale = scaleOf(r)
	k.m.Scored = k.scale.ok || k.m.Pairs
	k.m.ranged, k.m.low, k.m.high = r.Range.Low != nil && r.Range.High != nil && len(r.Labels) == 0, k.scale.low, k.scale.high
	k.m.best, k.m.worst = k.scale.label(k.scale.high), k.scale.label(k.scale.low)
	if k.scale.down {
		k.m.best, k.m.worst = k.m.worst, k.m.best
	}
	k.people = people.Alone(of.Judges.List)
	return k.flips(judging)
}

// ofLanes reports whether a stage judges answers of lanes, not items.
func (k *maker) ofLanes(s *study.Stage) bool { return len(k.sources(s)) > 0 }

// sources returns the stages whose answers a stage judges; of one that asks, the stage itself.
func (k *maker) sources(s *study.Stage) []string {
	if !results.GivesVerdicts(s) {
		return []string{s.Name}
	}
	var out []string
	for _, name := range append(slices.Clone(s.Judge.List), s.Compare) {
		if _, ok := k.study.Stage(name); ok {
			out = append(out, name)
		}
	}
	return out
}

// first returns the stage that a reader wants to see first.
func (k *maker) first(judging []*study.Stage) string {
	for _, a := range k.study.Analyses {
		if a.Primary && slices.ContainsFunc(judging, func(s *study.Stage) bool { return s.Name == a.Of }) {
			return a.Of
		}
	}
	for _, s := range judging {
		if r, err := k.plan.Rubric(s); err == nil && s.Verb() == study.VerbJudge && !r.AgainstFirst {
			return s.Name
		}
	}
	return k.m.Stages[0]
}

// lanes makes the columns: the lanes whose answers the stage is about, in the order of the study.
func (k *maker) lanes(of *study.Stage) {
	k.column = map[string]int{}
	for _, name := range k.m.Answers {
		from, _ := k.study.Stage(name)
		for _, l := range k.study.Contestants(from) {
			if _, seen := k.column[l.Name]; !seen && of.Takes(l) {
				k.column[l.Name] = len(k.m.Lanes)
				k.m.Lanes = append(k.m.Lanes, l.Name)
			}
		}
	}
}

// flips finds the stages that judge whether these answers were taken back: in the same conversations, or in those that
// go on with them.
func (k *maker) flips(judging []*study.Stage) error {
	k.m.flipScale = map[string]scale{}
	for _, s := range judging {
		r, err := k.plan.Rubric(s)
		if err != nil {
			return err
		}
		same := slices.ContainsFunc(k.sources(s), func(name string) bool {
			from, _ := k.study.Stage(name)
			return slices.Contains(k.m.Answers, name) || slices.Contains(k.m.Answers, from.Continue)
		})
		if s.Verb() == study.VerbJudge && r.AgainstFirst && same {
			k.m.Flips = append(k.m.Flips, s.Name)
			k.m.Later = append(k.m.Later, k.sources(s)...)
			k.m.flipScale[s.Name] = scaleOf(r)
		}
	}
	return nil
}

// read walks over what the ledger knows of the items.
func (k *maker) read(ctx context.Context, ledger *read.Pages, run int64) error {
	k.m.bytes = &spool{columns: len(k.m.Lanes)}
	k.cells, k.pack, k.ord = make([]cellSum, len(k.m.Lanes)), make([]packedCell, len(k.m.Lanes)), -1
	asked := store.FactsAsked{Input: k.m.Input, Asking: k.m.Answers, Whole: !k.m.Judged}
	if k.m.Judged {
		asked.Judging = k.m.Flips
		if !slices.Contains(k.m.Flips, k.m.Stage) {
			asked.Judging = append([]string{k.m.Stage}, k.m.Flips...)
		}
	}
	begun := false
	for f, err := range ledger.ItemFacts(ctx, run, asked) {
		if err != nil {
			return err
		}
		if begun && f.Item != k.item {
			if err := k.flush(); err != nil {
				return err
			}
		}
		begun, k.item = true, f.Item
		switch {
		case f.Ord >= 0:
			k.ord = f.Ord
		case f.Verdict != nil:
			k.verdict(f.Verdict)
		default:
			k.ending(f.Lane, f.Ending)
		}
	}
	if begun {
		if err := k.flush(); err != nil {
			return err
		}
	}
	k.m.order = make([]int, len(k.m.marks))
	for i := range k.m.order {
		k.m.order[i] = i
	}
	slices.SortFunc(k.m.order, func(a, b int) int {
		x, y := k.m.marks[a], k.m.marks[b]
		return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.branch, y.branch))
	})
	return k.m.bytes.done()
}

func (k *maker) ending(lane string, e assay.Ending) {
	if i, ok := k.column[lane]; ok {
		k.cells[i].ended(e)
	}
}

// verdict enters one verdict. People's labels beside model judges are left out: they have their own tables. A control
// shows what is taken back without pressure: it is none of the flips.
func (k *maker) verdict(v *store.Verdict) {
	if _, flips := k.m.flipScale[v.At.Stage]; strings.HasPrefix(v.At.Judge, people.Prefix) != k.people || flips && IsControl(v.At) {
		return
	}
	if v.At.Stage == k.m.Stage {
		if k.m.Pairs {
			k.pair(v)
		} else if i, ok := k.column[v.At.Lane]; ok {
			x, scored := k.scale.value(v)
			k.cells[i].add(v, k.label(v.Label), x, scored)
		}
	}
	s, flips := k.m.flipScale[v.At.Stage]
	i, ok := k.column[v.At.Lane]
	if !flips || !ok || v.State != assay.VerdictValid {
		return
	}
	if x, ok := s.value(v); ok {
		at := markOf{v.At.Turn, v.At.Branch}
		k.cells[i].flip(k.mark(at), at, x < 1)
	}
}

// TakenBack reports whether a verdict means that an answer was taken back under pressure.
func (m *Matrix) TakenBack(v *store.Verdict) bool {
	s, flips := m.flipScale[v.At.Stage]
	x, scored := s.value(v)
	return flips && scored && x < 1 && !IsControl(v.At)
}

// IsControl reports whether an answer is of a branch that nobody presses.
func IsControl(at assay.Coordinates) bool {
	return strings.HasSuffix("/"+at.Branch, "/"+plan.ControlBranch)
}

// pair gives a verdict on a pair to both lanes.
func (k *maker) pair(v *store.Verdict) {
	won := map[string]float64{assay.LabelA: 1, assay.LabelB: 0, assay.LabelTie: 0.5}
	x, decided := won[v.Label]
	first, second := v.At.Lane, v.At.Against
	if i, ok := k.column[first]; ok {
		k.cells[i].beat(v, second, x, decided)
	}
	if i, ok := k.column[second]; ok {
		k.cells[i].beat(v, first, 1-x, decided)
	}
}

// label returns the number of a label.
func (k *maker) label(name string) int {
	i := slices.Index(k.m.labels, name)
	if i < 0 && len(k.m.labels) < maxLabels && name != "" {
		i, k.m.labels = len(k.m.labels), append(k.m.labels, name)
	}
	return i
}

// mark returns the number of a place; -1: there are more than a cell shows.
func (k *maker) mark(at markOf) int {
	i := slices.Index(k.m.marks, at)
	switch {
	case i >= 0:
	case len(k.m.marks) < maxMarks:
		i, k.m.marks = len(k.m.marks), append(k.m.marks, at)
	default:
		k.unshown[at] = true
		k.m.Unshown = len(k.unshown)
	}
	return i
}

// flush writes the row of the item at hand. Facts about what is no item of the input are left out.
func (k *maker) flush() error {
	if k.ord < 0 {
		k.reset()
		return nil
	}
	if len(k.item) > maxItemID {
		return fmt.Errorf("item %.40q…: an id of %d bytes is too long for the grid", k.item, len(k.item))
	}
	is := k.kinds()
	for i := range k.cells {
		k.pack[i] = k.cells[i].packed()
	}
	k.buf = encode(k.buf[:0], k.item, k.ord, is, k.pack)
	k.m.Rows++
	for _, n := range Kinds() {
		if is&n.Kind != 0 {
			k.m.Counts[n.Kind]++
		}
	}
	k.reset()
	return k.m.bytes.add(k.buf)
}

func (k *maker) reset() {
	k.ord = -1
	for i := range k.cells {
		k.cells[i].reset()
	}
}
