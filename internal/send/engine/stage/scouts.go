package stage

import (
	"cmp"
	"context"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// One lane of a kind is asked so many items before the others, under a budget that does not cover everything and while no
// answer of its kind is known.
const (
	leastScouted = 10
	mostScouted  = 20
)

// tally sums what the items of all lanes cost, by their rank.
type tally struct {
	*Extension
	left   assay.Money
	ranks  []assay.Money               // what the item of each rank costs in all lanes together
	heads  map[store.GroupKey][]string // by stage and turn: the first items that are left for the lane that was asked least
	ahead  map[store.GroupKey]int64    // items that groups were asked before others of their stage
	scouts map[string]*scout           // by stage and kind of lane
	guess  int                         // groups of which no answer is known
}

func newTally(x *Extension, left assay.Money) *tally {
	return &tally{Extension: x, left: left, heads: map[store.GroupKey][]string{}, ahead: map[store.GroupKey]int64{},
		scouts: map[string]*scout{}}
}

// scout is the first lane of those of one kind of which no answer is known.
type scout struct {
	group store.GroupKey
	costs []assay.Money // of its first items
}

// walk looks at all groups, those of lanes that were asked least first: what others were asked before them, the budget has
// to buy for them first.
func (t *tally) walk(ctx context.Context, groups []engine.Group) error {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b engine.Group) int { return cmp.Compare(t.asked(a), t.asked(b)) })
	for _, g := range groups {
		if err := t.group(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (t *tally) asked(g engine.Group) int64 {
	l, _ := t.LaneOf(g.Stage, g.Lane)
	return l.Open + l.Ended()
}

func (t *tally) group(ctx context.Context, g engine.Group) error {
	var own assay.Money
	var r *ranker
	var s *scout
	stage := g.GroupKey
	stage.Lane = ""
	head, known := t.heads[stage]
	for p, err := range t.Fresh(ctx, g) {
		if err != nil {
			return err
		}
		if r == nil {
			if n := slices.Index(head, p.At.Item); n > 0 {
				t.ahead[g.GroupKey] = int64(n)
			}
			r, s = limit{ahead: t.ahead}.ranker(g.GroupKey), t.scout(g, p)
		}
		if r.covers(p.At.Item); !known && r.rank <= mostScouted && int64(len(head)) == r.rank {
			head = append(head, p.At.Item)
			t.heads[stage] = head
		}
		cost := p.Expected
		if t.Policy.ReserveHigh {
			cost = p.High
		}
		add(&t.ranks, r.rank, cost.Sum)
		if s != nil && r.rank < mostScouted {
			add(&s.costs, r.rank, cost.Sum)
		}
		if own += cost.Sum; own > t.left {
			break
		}
	}
	return nil
}

// add adds a cost to the one of a rank.
func add(all *[]assay.Money, rank int64, cost assay.Money) {
	for int64(len(*all)) <= rank {
		*all = append(*all, 0)
	}
	(*all)[rank] += cost
}

// scout enters a group whose costs are guessed, and returns what its first items cost if it is to show what its kind takes.
func (t *tally) scout(g engine.Group, p engine.Planned) *scout {
	if p.Guessed == "" || t.Policy.ReserveHigh {
		return nil
	}
	t.guess++
	kind := g.Stage + "\x00" + p.Guessed
	if g.Mode == store.Live { // makes no job, and is asked with the first
		kind = g.Stage + "\x00" + g.Lane
	}
	if t.scouts[kind] != nil {
		return nil
	}
	t.scouts[kind] = &scout{group: g.GroupKey}
	return t.scouts[kind]
}

// scouting returns the first items of one lane of each kind, and reports whether these go first, or are on their way: a guess covers only
// a part of what the budget does, and the rest would need another job of every lane. By the guess, the budget covers so many items.
func (t *tally) scouting(ctx context.Context, items int) (limit, bool, error) {
	if t.guess <= len(t.scouts) {
		return limit{}, false, nil
	}
	only := map[store.GroupKey]bool{}
	var costs []assay.Money
	for _, s := range t.scouts {
		open, ended := t.kin(s.group)
		if open > 0 {
			return limit{short: true}, true, nil
		}
		if ended > 0 { // and nothing is known all the same
			return limit{}, false, nil
		}
		only[s.group] = true
		for n, c := range s.costs {
			add(&costs, int64(n), c)
		}
	}
	n, sum := 0, assay.Money(0)
	for n < min(len(costs), mostScouted, max(leastScouted, 4*items)) && (sum+costs[n] <= t.left/2 || n == 0 && costs[0] <= t.left) {
		sum += costs[n]
		n++
	}
	if n == 0 {
		return limit{}, false, nil
	}
	return limit{items: int64(n), short: true, only: only}, true, t.Ledger.Work.Note(ctx, t.Run.No, 0, store.BudgetEvent,
		assay.Count(n, "item")+" of one lane of each model "+assay.Verb(n, "goes", "go")+" first: what answers cost is not known yet")
}

// kin counts the requests that lanes of a group's model have in flight in its stage, and those that were asked and have ended.
func (t *tally) kin(g store.GroupKey) (open, ended int64) {
	own, _ := t.LaneOf(g.Stage, g.Lane)
	for _, l := range t.Lanes {
		if l.Stage == g.Stage && l.Provider == own.Provider && l.Model == own.Model && l.State == store.LaneOpen {
			open += l.Open
			ended += l.Ended() - l.Reused - l.Imported
		}
	}
	return open, ended
}
