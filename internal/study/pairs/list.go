package pairs

import (
	"iter"
	"slices"
)

// Listed is a pair that a study lists itself.
type Listed struct {
	Item   int64 // the place of the item on which two lanes meet; EverySlot: on all. Items meet each other on EverySlot
	First  int64 // the place of the lane, or of the item, in its list
	Second int64
	Twice  bool // it is listed the other way round, too
}

// EverySlot is the item of a list that names none.
const EverySlot = -1

// twice reports whether the list has pairs both ways round.
func (d Design) twice() bool {
	return slices.ContainsFunc(d.List, func(l Listed) bool { return l.Twice })
}

// list is the field of pairs that a study lists: those of the same two lanes take turns in being odd.
type list struct {
	of     []Listed
	odd    []bool
	every  bool // the list names no items: every two lanes of it meet on every slot
	slots  int64
	stride int64             // slots of an item
	byItem map[int64][]int64 // places in the list
}

func newList(d Design) *list {
	l := &list{of: d.List, odd: make([]bool, len(d.List)), slots: d.Slots, stride: max(1, d.Stride), byItem: map[int64][]int64{}}
	l.every = d.Lanes > 0 && !slices.ContainsFunc(d.List, func(e Listed) bool { return e.Item != EverySlot })
	met := map[[2]int64]int{}
	for i, e := range d.List {
		two := [2]int64{min(e.First, e.Second), max(e.First, e.Second)}
		if d.Lanes == 0 {
			two = [2]int64{} // items meet once: every second pair of all
		}
		l.odd[i] = met[two]%2 == 1
		met[two]++
		l.byItem[e.Item] = append(l.byItem[e.Item], int64(i))
	}
	return l
}

func (l *list) rows() int64 {
	if l.every {
		return l.slots * int64(len(l.of))
	}
	return l.stride * int64(len(l.of))
}

func (l *list) at(row int64) meeting {
	per := int64(len(l.of))
	if l.every {
		return l.meet(row%per, row/per, row/per)
	}
	place, way := row/l.stride, row%l.stride
	return l.meet(place, max(0, l.of[place].Item)*l.stride+way, way)
}

// meet returns the meeting of a listed pair on a slot, which is the lap-th of its own.
func (l *list) meet(place, slot, lap int64) meeting {
	e := l.of[place]
	return meeting{slot: slot, low: e.First, high: e.Second, odd: l.odd[place] != (lap%2 == 1)}
}

func (l *list) on(slot int64) iter.Seq2[int64, meeting] {
	return func(yield func(int64, meeting) bool) {
		if l.every {
			for place := range l.of {
				if row := slot*int64(len(l.of)) + int64(place); slot >= l.slots || !yield(row, l.at(row)) {
					return
				}
			}
			return
		}
		places, items := l.byItem[EverySlot] // items meet each other on slot 0
		if !items || slot != 0 {
			places = l.byItem[slot/l.stride]
		}
		for _, place := range places {
			if row := place*l.stride + slot%l.stride; !yield(row, l.at(row)) {
				return
			}
		}
	}
}

// twice returns the rows that the list has the other way round, too.
func (l *list) twice() []int64 {
	var out []int64
	for row := range l.rows() {
		place := row / l.stride
		if l.every {
			place = row % int64(len(l.of))
		}
		if l.of[place].Twice {
			out = append(out, row)
		}
	}
	return out
}
