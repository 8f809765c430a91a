// Package talks analyses conversations: whether later answers take the first one back, under pressure and when merely
// asked again.
package talks

import (
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

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
	cover  []analysis.Coverage   // by slot
	items  gather.Places         // those that anything is planned or known of
	byItem []gather.ItemCoverage // by slot, at the items' places
	states map[uint32][]byte     // by conversation
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
	s.covers(g.Data, k)
	g.Data.cover[k].Planned++
	g.Data.byItem[k].Expect(g.Data.items.Of(s.Known.Of(r.Item)))
}

// covers makes room for what is counted about a slot.
func (s *flips) covers(d *conversations, k int) {
	d.cover, d.byItem = gather.Grown(d.cover, k), gather.Grown(d.byItem, k)
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
	s.covers(g.Data, k)
	g.Data.cover[k].Count(r)
	g.Data.byItem[k].Count(r, g.Data.items.Of(s.Known.Of(r.Item)))
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
	name := s.units.Text(unit)
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
		return cmp.Or(cmp.Compare(s.Known.Text(s.own[a]), s.Known.Text(s.own[b])), cmp.Compare(s.units.Text(a), s.units.Text(b)))
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

// items returns the conversations of each item, items of one cluster one after the other.
func (c *groupTalks) items() iter.Seq2[string, []uint32] {
	return func(yield func(string, []uint32) bool) {
		for from := 0; from < len(c.units); {
			item, to := c.itemOf(c.units[from]), from+1
			for ; to < len(c.units) && c.own[c.units[to]] == c.own[c.units[from]] && c.itemOf(c.units[to]) == item; to++ {
			}
			if !yield(item, c.units[from:to]) {
				return
			}
			from = to
		}
	}
}

// itemOf returns the item at the beginning of a conversation's name.
func (c *groupTalks) itemOf(unit uint32) string {
	name := c.flips.units.Text(unit)
	length, rest, _ := strings.Cut(name, ":")
	n, err := strconv.Atoi(length)
	if err != nil || n > len(rest) {
		return name
	}
	return rest[:n]
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

// rated adds a share to the table: of yes among the conversations that count, each item of equal weight.
func (c *groupTalks) rated(t *analysis.Table, f *analysis.Finding, k int, count, yes func(unit uint32) bool) error {
	var shares itemShares
	known := map[uint32]stats.Count{}
	for item, units := range c.items() {
		var n stats.Count
		for _, u := range units {
			if count(u) {
				n.N, n.K = n.N+1, n.K+int(gather.One(yes(u)))
			}
		}
		shares.add(c.own[units[0]], n)
		known[c.Known.Of(item)] = n
	}
	e, err := gather.ShareOfItems(shares.clusters, c.Options.Level)
	if err != nil {
		return err
	}
	e.Put(f)
	f.Bounds = c.bounds(k, known)
	t.Findings = append(t.Findings, *f)
	return nil
}

// bounds returns where the share of a slot must lie whatever its missing verdicts are.
func (c *groupTalks) bounds(k int, known map[uint32]stats.Count) stats.Interval {
	var least, most stats.Total
	for at := range c.group.Data.items.Len() {
		n, missing := known[c.group.Data.items.ID(at)], c.group.Data.byItem[k].Unknown(at)
		if all := n.N + missing; all > 0 {
			least.Add(float64(n.K) / float64(all))
			most.Add(float64(n.K+missing) / float64(all))
		}
	}
	if least.N == 0 {
		return stats.NoInterval("no answers, and none missing")
	}
	return stats.Between(least.Sum/float64(least.N), most.Sum/float64(most.N))
}

// itemShares are the shares of items, by cluster.
type itemShares struct {
	clusters []stats.ItemShares
	last     uint32 // the cluster of the last item
}

// add enters an item; those of one cluster come one after the other.
func (s *itemShares) add(cluster uint32, n stats.Count) {
	if len(s.clusters) == 0 || cluster != s.last {
		s.clusters, s.last = append(s.clusters, stats.ItemShares{}), cluster
	}
	s.clusters[len(s.clusters)-1].Add(n)
}
