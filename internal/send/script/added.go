package script

import (
	"context"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/study"
)

// Added are items that a person bought to tell two lanes apart whose answers are judged one by one: they are asked of the two alone. Items of
// an input are counted from its beginning, so that a lane has all items up to a place.
type Added struct {
	Stage  string   `json:"stage"` // that judges them
	First  string   `json:"first"`
	Second string   `json:"second"`
	Budget string   `json:"budget,omitempty"` // the most they are to cost, as it was said
	Stages []string `json:"stages"`           // in which they are asked: that one, and what it needs
	Input  string   `json:"input"`
	Common int64    `json:"common"` // items that all lanes are asked about
	From   int64    `json:"from"`   // items that both had
	To     int64    `json:"to"`     // items that both have with them
}

// same reports whether items were bought for the same wish, whatever it brought.
func (a Added) same(w Settle) bool {
	return a.Stage == w.Stage && Settle{First: a.First, Second: a.Second, Budget: a.Budget}.same(w)
}

// N is how many items were bought.
func (a Added) N() int64 { return a.To - a.From }

// BoughtItems reports whether items were bought for a wish, and whether it was the last one.
func (s Settings) BoughtItems(w Settle) (bought, last bool) {
	for i, a := range s.Added {
		if a.same(w) {
			bought, last = true, i == len(s.Added)-1
		}
	}
	return bought, last
}

// Common is how many items of an input all lanes are asked about; false: all that there are.
func (s Settings) Common(input string) (int64, bool) {
	for _, a := range s.Added {
		if a.Input == input {
			return a.Common, true
		}
	}
	return 0, false
}

// upto is about how many items of its input a stage asks each lane, where some have more than all have; nil: none has.
func (s Settings) upto(stage string) map[string]int64 {
	var out map[string]int64
	for _, a := range s.Added {
		if !slices.Contains(a.Stages, stage) {
			continue
		}
		if out == nil {
			out = map[string]int64{}
		}
		out[a.First], out[a.Second] = max(out[a.First], a.To), max(out[a.Second], a.To)
	}
	return out
}

// reach is how far a stage goes beyond the items that all lanes are asked about; nil: not at all.
type reach struct {
	place map[string]int64 // of items beyond those, by id
	upto  map[string]int64 // about how many items each lane is asked
	most  int64            // of any lane
}

// asks reports whether a lane is asked about an item.
func (r *reach) asks(item, lane string) bool {
	if r == nil {
		return true
	}
	place, beyond := r.place[item]
	return !beyond || place < r.upto[lane]
}

// reachOf is how far a stage of the script goes.
func (s *Script) reachOf(st *study.Stage) *reach {
	upto := s.settings.upto(st.Name)
	if upto == nil {
		return nil
	}
	r := &reach{place: s.beyond[s.input.Root(st)], upto: upto}
	for _, n := range upto {
		r.most = max(r.most, n)
	}
	return r
}

// Uneven reports whether some lanes of a stage that judges were asked about more items than others.
func (s *Script) Uneven(stage string) bool {
	j, ok := s.stages[stage].(*judging)
	if !ok || j.reach == nil {
		return false
	}
	n := int64(-1)
	for _, a := range j.sources {
		for _, l := range a.lanes() {
			if !j.picks(l) {
				continue
			}
			if n >= 0 && n != j.reach.upto[l.Name] {
				return true
			}
			n = j.reach.upto[l.Name]
		}
	}
	return false
}

// Between are the items of an input from a place to another one.
func Between(items iter.Seq2[assay.Item, error], from, to int64) iter.Seq2[assay.Item, error] {
	return after(first(items, to), from)
}

// recallAdded reads which items only some lanes are asked about.
func (s *Script) recallAdded(ctx context.Context) error {
	for _, a := range s.settings.Added {
		if s.beyond[a.Input] != nil {
			continue
		}
		places, n := map[string]int64{}, int64(0)
		for it, err := range s.Ledger.ItemHeads(ctx, s.run.No, a.Input) {
			if err != nil {
				return err
			}
			if n >= a.Common {
				places[it.ID] = n
			}
			n++
		}
		if s.beyond == nil {
			s.beyond = map[string]map[string]int64{}
		}
		s.beyond[a.Input] = places
	}
	return nil
}

// itemsOf walks over the items that a stage is about, with those that only some of its lanes are asked about.
func (s *Script) itemsOf(ctx context.Context, rec stage) iter.Seq2[assay.Item, error] {
	r := reaches(rec)
	if r == nil {
		return s.input.Rows.Items(ctx, rec.items())
	}
	return first(s.Ledger.Items(ctx, s.run.No, rec.items()), r.most)
}

// reaches is how far a stage goes.
func reaches(rec stage) *reach {
	switch rec := rec.(type) {
	case *asking:
		return rec.reach
	case *judging:
		return rec.reach
	}
	return nil
}

// first are so many items, from the beginning.
func first(items iter.Seq2[assay.Item, error], n int64) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		left := n
		if left <= 0 {
			return
		}
		for it, err := range items {
			if !yield(it, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// commonRows are the items of a snapshot that all lanes are asked about.
type commonRows struct {
	ledgerRows
	settings Settings
}

// Items streams them.
func (r commonRows) Items(ctx context.Context, input string) iter.Seq2[assay.Item, error] {
	all := r.ledgerRows.Items(ctx, input)
	if n, some := r.settings.Common(input); some {
		return first(all, n)
	}
	return all
}
