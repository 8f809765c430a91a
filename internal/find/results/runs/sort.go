package runs

import (
	"cmp"
	"slices"
	"strings"
)

// Sort is the order of a list of runs.
type Sort string

// The orders of lists.
const (
	SortNewest Sort = "newest"
	SortOldest Sort = "oldest"
	SortStudy  Sort = "study"
	SortState  Sort = "state"  // what a person has to look after first
	SortLeader Sort = "leader" // the best score first
	SortSize   Sort = "size"   // the most requests first
	SortCost   Sort = "cost"   // the dearest first
)

// Sorts returns all orders.
func Sorts() []Sort {
	return []Sort{SortNewest, SortOldest, SortStudy, SortState, SortLeader, SortSize, SortCost}
}

// urgency is the order of states: what a person has to look after, what goes on, what has ended.
var urgency = []State{StateHeld, StateStopped, StateJudges, StatePeople, StateInFlight, StateWaiting, StatePlanned, StateIncomplete,
	StateCancelled, StateDone}

// Merge puts the runs of several homes, each in this order, into one list.
func Merge[L any](by Sort, all []L, run func(L) Listed, homes int) {
	if homes > 1 {
		slices.SortStableFunc(all, func(a, b L) int { return by.Compare(run(a), run(b)) })
	}
}

// Compare compares two runs by an order.
func (by Sort) Compare(a, b Listed) int {
	switch by {
	case SortOldest:
		return a.Run.Created.Compare(b.Run.Created)
	case SortStudy:
		return cmp.Compare(strings.ToLower(a.Run.Study), strings.ToLower(b.Run.Study))
	case SortState:
		return cmp.Compare(slices.Index(urgency, a.State), slices.Index(urgency, b.State))
	case SortLeader:
		if a.Lead.Value == nil || b.Lead.Value == nil {
			return unknownLast(a.Lead.Value == nil, b.Lead.Value == nil)
		}
		return cmp.Compare(*b.Lead.Value, *a.Lead.Value)
	case SortSize:
		return cmp.Compare(b.Far.Wanted, a.Far.Wanted)
	case SortCost:
		return cmp.Compare(b.Needs.Cost.Sum, a.Needs.Cost.Sum)
	}
	return b.Run.Created.Compare(a.Run.Created)
}

func unknownLast(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
