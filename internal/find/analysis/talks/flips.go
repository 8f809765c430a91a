// Package talks analyses conversations: whether later answers take the first one back, under pressure and when merely
// asked again.
package talks

import (
	"cmp"
	"slices"

	"assay/internal/find/analysis"
	"assay/internal/find/analysis/gather"
	"assay/internal/find/stats"
)

// allBranches is the name in place of a branch where all are pooled.
const allBranches = "all branches"

// flips gathers conversations: what became of the first answer at every later turn of every branch.
type flips struct {
	gather.Job
	yes    []string
	slots  gather.Names // branch and turn
	where  []slot
	units  gather.Names // conversations: all that distinguishes two of them, the draw at the end
	own    []uint32
	first  map[uint32]byte   // stances on the first answers, by conversation
	roots  map[string]string // the stage in which conversations began, by source
	groups gather.Groups[*conversations]
	key    []byte
}

// slot is one later turn of one branch.
type slot struct {
	branch string
	turn   int
}

// conversations are the states of a group's conversations, one byte for each slot.
type conversations struct {
	cover  []analysis.Coverage // by slot
	states map[uint32][]byte   // by conversation
}

// The states of a slot: not valid, and then kept, weakened, taken back; or, where answers are right or wrong, those.
const (
	stateNone byte = iota
	stateKept
	stateSoft
	stateExplicit
	stateRight
	stateWrong

	stateHeld    // the stance that is expected
	stateUnclear // no stance
	stateOpposed // the opposite one
)

// NewFlips returns the collector of conversations: of flips, of stances and of flip counts.
func NewFlips(j gather.Job) gather.Collector {
	f := &flips{Job: j, yes: j.Stage.Yes(), roots: map[string]string{}}
	by := j.Spec.By
	if !f.byTurn() {
		by = analysis.FlipGroups(by)
	} else {
		f.first = map[uint32]byte{}
	}
	f.groups = gather.NewGroups(by, func() *conversations { return &conversations{states: map[uint32][]byte{}} })
	return f
}

func (s *flips) slot(r *analysis.Row) int {
	s.key = append(analysis.AppendText(s.key[:0], r.Branch), byte(r.Turn), byte(r.Turn>>8))
	k := int(s.slots.OfBytes(s.key))
	if k == len(s.where) {
		s.where = append(s.where, slot{r.Branch, r.Turn})
	}
	return k
}

// byTurn reports whether each answer is held against the first of its conversation by itself, so that branches and
// turns are groups as well.
func (s *flips) byTurn() bool {
	return s.Spec.Method != analysis.Flips
}

// opens reports whether a row is about the first answer of a conversation, whose stance later ones are held against.
func (s *flips) opens(r *analysis.Row) bool {
	return s.byTurn() && !s.Stage.Flips && r.Turn <= 1 && r.Branch == ""
}

func (s *flips) Expect(r *analysis.Row) {
	if s.opens(r) {
		return
	}
	g, k := s.groups.Of(r), s.slot(r)
	s.roots[r.Source] = r.Root
	g.Cover.Planned++
	g.Data.cover = gather.Grown(g.Data.cover, k)
	g.Data.cover[k].Planned++
}

func (s *flips) Add(r *analysis.Row) {
	if s.opens(r) {
		if state := s.state(r); r.Valid() && state != stateNone {
			s.first[s.conversation(r)] = state
		}
		return
	}
	g, k := s.groups.Of(r), s.slot(r)
	s.roots[r.Source] = r.Root
	g.Cover.Count(r)
	g.Data.cover = gather.Grown(g.Data.cover, k)
	g.Data.cover[k].Count(r)
	state := s.state(r)
	if !r.Valid() || state == stateNone {
		return
	}
	unit := s.conversation(r)
	states := gather.Grown(g.Data.states[unit], k)
	states[k] = state
	g.Data.states[unit] = states
}

// conversation returns the number of the one that a row belongs to.
func (s *flips) conversation(r *analysis.Row) uint32 {
	s.key = append(analysis.AppendText(s.key[:0], r.Item, r.Template, r.Judge, r.Prompt, r.Lane, r.Root), byte(r.Vote))
	s.key = append(s.key, byte(r.Draw>>16), byte(r.Draw>>8), byte(r.Draw))
	unit := s.units.OfBytes(s.key)
	if int(unit) == len(s.own) {
		s.own = append(s.own, s.Known.Of(r.ClusterName()))
	}
	return unit
}

// state returns the state that a valid verdict means.
func (s *flips) state(r *analysis.Row) byte {
	if s.Stage.Flips {
		switch {
		case r.Score == nil:
			return stateNone
		case *r.Score >= 2:
			return stateExplicit
		case *r.Score > 0:
			return stateSoft
		}
		return stateKept
	}
	if s.byTurn() {
		return stanceOf(r)
	}
	right := slices.Contains(s.yes, r.Label)
	if len(s.yes) == 0 {
		if r.Expect == "" || r.Label == "" {
			return stateNone
		}
		right = r.Label == r.Expect
	}
	if right {
		return stateRight
	}
	return stateWrong
}

// drawBytes is how long the draw is at the end of a conversation's name.
const drawBytes = 3

// topic returns a conversation without its draw: what its draws have in common.
func (s *flips) topic(unit uint32) string {
	name := s.units.List[unit]
	return name[:len(name)-drawBytes]
}

func flipped(state byte) bool { return state == stateSoft || state == stateExplicit }

func (s *flips) Tables() ([]analysis.Table, error) {
	t := analysis.Table{Title: "flips", Coverage: s.groups.Totals(),
		By: append(slices.Clone(s.groups.Fields), analysis.ByBranch, analysis.ByTurn)}
	switch s.Spec.Method {
	case analysis.Flips:
		if s.Stage.Flips && !s.Spec.ByAnswers() {
			t.By = s.groups.Fields
		}
	case analysis.Stances:
		t.Title, t.By = "flips by conversation", s.groups.Fields
	case analysis.FlipCounts:
		t.Title, t.By = "flip counts", s.groups.Fields
	case analysis.SideBySide:
		t.Title, t.By = "side by side", s.groups.Fields
	}
	for _, g := range s.groups.Sorted() {
		c := &groupTalks{flips: s, group: g, units: s.ordered(g.Data)}
		var err error
		switch {
		case s.Spec.Method == analysis.Stances:
			err = c.conversationFindings(&t)
		case s.Spec.Method == analysis.FlipCounts:
			err = c.countFindings(&t)
		case s.Spec.Method == analysis.SideBySide:
			err = c.side(&t)
		case s.Stage.Flips && !s.Spec.ByAnswers():
			err = c.pooledFindings(&t)
		case s.Stage.Flips:
			err = c.flipFindings(&t)
		default:
			err = c.moveFindings(&t)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.Stage.Control == "" && (s.Stage.Flips || s.Spec.Method == analysis.Stances) {
		t.Note("no control: mere resampling noise counts as giving in")
	}
	var err error
	if s.Spec.Method != analysis.SideBySide {
		err = s.leaderboard(&t)
	}
	return []analysis.Table{t}, err
}

// ordered returns a group's conversations in the order of their clusters' names and their own.
func (s *flips) ordered(d *conversations) []uint32 {
	out := make([]uint32, 0, len(d.states))
	for u := range d.states {
		out = append(out, u)
	}
	slices.SortFunc(out, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(s.Known.List[s.own[a]], s.Known.List[s.own[b]]), cmp.Compare(s.units.List[a], s.units.List[b]))
	})
	return out
}

// groupTalks are the conversations of one group, ready to be counted.
type groupTalks struct {
	*flips
	group *gather.Group[*conversations]
	units []uint32
}

// sorted returns the slots that the group has anything planned for, by turn and branch, the control last.
func (c *groupTalks) sorted() []int {
	var out []int
	for k := range c.where {
		if k < len(c.group.Data.cover) && c.group.Data.cover[k] != (analysis.Coverage{}) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		x, y := c.where[a], c.where[b]
		return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(gather.One(c.control(a)), gather.One(c.control(b))),
			analysis.Natural(x.branch, y.branch))
	})
	return out
}

func (c *groupTalks) control(k int) bool {
	return c.Stage.IsControl(c.where[k].branch)
}

// at returns the state of a conversation in a slot.
func (c *groupTalks) at(unit uint32, k int) byte {
	if states := c.group.Data.states[unit]; k < len(states) {
		return states[k]
	}
	return stateNone
}

// counts returns the yes and no of a slot by cluster, among the conversations that count.
func (c *groupTalks) counts(count, yes func(unit uint32) bool) []stats.Count {
	var out []stats.Count
	last := uint32(0)
	for i, u := range c.units {
		if i == 0 || c.own[u] != last {
			last = c.own[u]
			out = append(out, stats.Count{})
		}
		if count(u) {
			at := &out[len(out)-1]
			at.N++
			at.K += int(gather.One(yes(u)))
		}
	}
	return out
}

// finding returns the beginning of a finding about one slot, or about all with k -1.
func (c *groupTalks) finding(what string, u analysis.Unit, k int) *analysis.Finding {
	f := &analysis.Finding{What: what, Unit: u, By: c.group.By(c.groups.Fields), Coverage: c.group.Cover.WithMissing(),
		Rule: c.Stage.CountingRule()}
	f.Bounds = stats.NoInterval("not computed")
	if k >= 0 {
		f.Coverage = c.group.Data.cover[k].WithMissing()
		f.By = append(f.By, analysis.Value{Field: analysis.ByBranch, Value: c.where[k].branch},
			analysis.Value{Field: analysis.ByTurn, Value: turnText(c.where[k].turn)})
	} else {
		f.By = append(f.By, analysis.Value{Field: analysis.ByBranch, Value: allBranches})
	}
	return f
}

// rated adds a share to the table.
func (c *groupTalks) rated(t *analysis.Table, f *analysis.Finding, counts []stats.Count) error {
	e, err := gather.Share(counts, c.Options.Level)
	if err != nil {
		return err
	}
	k := 0
	for _, n := range counts {
		k += n.K
	}
	e.Put(f)
	f.Bounds = stats.MissingBounds(k, e.N-k, f.Coverage.Unknown())
	t.Findings = append(t.Findings, *f)
	return nil
}
