package results

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/show/report"
	"assay/internal/study/plan"
)

// ItemOffer is what it takes to tell two lanes apart whose answers are judged one by one: items that are asked of the two alone.
type ItemOffer struct {
	script.Added
	Under  bool                // what was bought for it is under way
	Ends   bool                // nothing can be bought: see Why
	Why    string              // it is so
	Unit   string              // what items are called
	Needed int64               // items, for the usual chance
	Left   int64               // items of the input that were not asked of both
	Has    int64               // items of the input
	Chance float64             // of what is bought
	Cut    bool                // the budget pays for less than there is
	Adds   []script.AddedShare // requests
	Fees   script.Fees         // of all of them
	Lanes  int                 // that the stage ranks
	Quote  report.Fee          // of what is needed, by the summary
}

// ItemWish is which two lanes are to be told apart by items, for how much at most, and where items are.
type ItemWish struct {
	script.Settle
	Budget *assay.Money // nil: anything
	Input  *plan.Input  // the study of the run
}

// OfferItems says how many more items it takes to tell two lanes apart. It is false where no stage ranks both.
func (r *Reader) OfferItems(ctx context.Context, run store.Run, w ItemWish) (ItemOffer, bool, error) {
	var o ItemOffer
	s, err := r.Scripts.Open(ctx, run)
	if err != nil {
		return o, false, err
	}
	found, err := r.Findings(ctx, run, Query{})
	if err != nil {
		return o, false, err
	}
	doc, err := r.Outline(ctx, found)
	if err != nil {
		return o, false, err
	}
	q, apart, ranked := doc.Settle(w.Stage, w.First, w.Second)
	if !ranked {
		return o, false, nil
	}
	w.Stage = q.Stage
	bought, last := s.Settings().BoughtItems(w.Settle)
	o.Stage, o.First, o.Second, o.Unit, o.Quote = q.Stage, w.First, w.Second, q.Unit, q.Likely.Cost
	o.Under = last && run.State == store.RunOpen
	switch {
	case o.Under:
		return o, true, nil
	case apart:
		o.Ends, o.Why = true, "they are told apart already"
	case bought:
		o.Ends, o.Why = true, "what this budget pays was bought and looked at, and did not settle it; a larger --budget buys more, and is a further look"
	case q.Chance == nil:
		o.Ends, o.Why = true, "too little is known about them"
	case !q.Likely.Known:
		o.Ends, o.Why = true, "no sensible number of "+q.Unit+"s would: they are too close"
	}
	if o.Ends || run.State != store.RunClosed {
		return o, true, nil
	}
	return o, true, r.items(ctx, s, &o, w, q)
}

// items fills in how many items are bought, and what they cost.
func (r *Reader) items(ctx context.Context, s *script.Script, o *ItemOffer, w ItemWish, q report.Settling) error {
	var err error
	if o.Added, err = s.Addable(ctx, w.Settle); err != nil {
		return err
	}
	for _, err := range w.Input.FirstItems(ctx, o.Input, 0) {
		if err != nil {
			return err
		}
		o.Has++
	}
	if o.From == 0 || q.Clusters == 0 {
		o.Ends, o.Why = true, fmt.Sprintf("stage %s is about no items of an input", o.Stage)
		return nil
	}
	each := float64(o.From) / float64(q.Clusters) // several items may share a cluster, and some have no verdict on both
	o.Needed, o.Left, o.Lanes = int64(math.Ceil(q.Likely.N*each)), o.Has-o.From, q.Lanes
	if o.To = o.From + min(o.Needed, o.Left); o.N() <= 0 {
		o.To = o.From
		return nil
	}
	if err := r.priced(ctx, s, o, w); err != nil || o.Ends {
		return err
	}
	o.Chance = q.Chance(float64(o.N()) / each)
	return nil
}

// priced counts and prices the items of an offer, and cuts them to a budget.
func (r *Reader) priced(ctx context.Context, s *script.Script, o *ItemOffer, w ItemWish) error {
	for {
		var err error
		if o.Adds, err = s.Adds(ctx, o.Added, w.Between(ctx, o.Added)); err != nil {
			return err
		}
		if o.Fees, err = s.Price(ctx, o.Adds); err != nil {
			return err
		}
		cost := o.Fees.Goes
		switch {
		case w.Budget == nil:
			return nil
		case !cost.Known():
			o.Ends, o.Why = true, "no price is known for one of its lanes, so a budget cannot be kept"
			return nil
		case cost.Sum <= *w.Budget:
			return nil
		}
		o.Cut = true
		n := int64(float64(o.N()) * w.Budget.Float() / cost.Sum.Float())
		if o.To = o.From + min(n, o.N()-1); n < 1 || o.N() < 1 {
			o.To, o.Ends, o.Why = o.From, true, "the budget does not pay for one item"
			return nil
		}
	}
}

// Between are the items of a purchase.
func (w ItemWish) Between(ctx context.Context, a script.Added) iter.Seq2[assay.Item, error] {
	return script.Between(w.Input.FirstItems(ctx, a.Input, 0), a.From, a.To)
}

// added says which items were bought for two lanes of a stage, or of any, in words; empty: none were. Uneven: other lanes have fewer.
func (r *Reader) added(ctx context.Context, run store.Run, stage string) (text string, uneven bool, err error) {
	var settings script.Settings
	if err := json.Unmarshal([]byte(run.Settings), &settings); err != nil {
		return "", false, fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	if len(settings.Added) == 0 {
		return "", false, nil
	}
	s, err := r.Scripts.Open(ctx, run)
	if err != nil {
		return "", false, err
	}
	var parts []string
	for _, a := range settings.Added {
		if stage != "" && a.Stage != stage {
			continue
		}
		alone, common := "", ""
		if s.Uneven(a.Stage) {
			uneven, alone, common = true, " alone", ": lanes are compared, and ordered, on the items that they have in common"
		}
		text := fmt.Sprintf("%s more %s asked of %s and %s%s, because %s did not tell them apart%s",
			assay.Count(a.N(), "item"), assay.Verb(int(a.N()), "was", "were"), a.First, a.Second, alone, assay.Thousands(a.From), common)
		if stage == "" {
			text = "stage " + a.Stage + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; "), uneven, nil
}
