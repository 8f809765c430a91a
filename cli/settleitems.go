package cli

import (
	"context"
	"fmt"
	"math"
	"strings"

	"assay"
	"assay/plan"
	"assay/report"
	"assay/results"
	"assay/script"
	"assay/store"
	"assay/study"
)

// itemWish is which two lanes are to be told apart by more items, for how much at most, and what is said where no stage ranks both.
type itemWish struct {
	script.Settle
	budget *assay.Money
	none   *results.SettleError
}

// settleItems says how many more items tell two lanes apart whose answers are judged one by one. Where the run left items of the input out, it
// returns how the study is run with as many more; else it says what is to be added, and where.
func settleItems(ctx context.Context, w *World, h *home, d *plan.Input, run store.Run, wish itemWish, f runFlags) (*runFlags, error) {
	found, err := h.results().Findings(ctx, run, results.Query{})
	if err != nil {
		return nil, err
	}
	doc, err := h.outline(ctx, w, found)
	if err != nil {
		return nil, err
	}
	s, apart, ranked := doc.Settle(wish.Stage, wish.First, wish.Second)
	if !ranked {
		return nil, usage(wish.none.Hint, "--settle: %s", wish.none.Text)
	}
	why := ""
	switch {
	case apart:
		why = "they are told apart already"
	case s.Even.N == 0:
		why = "too little is known about them"
	case !s.Likely.Known:
		why = "no sensible number of " + s.Unit + "s would: they are too close"
	case run.State != store.RunClosed:
		return nil, usage("assay resume "+h.named(run), "run %s is open: more is bought when it has come to its end", run.ID)
	}
	if why != "" {
		fmt.Fprintf(w.Stderr, "%s and %s in stage %s: %s. Nothing is bought.\n", s.First, s.Second, s.Stage, why)
		return nil, nil
	}
	return moreItems(ctx, w, h, d, run, s, wish.budget, f)
}

// moreItems says how many items are needed, and takes those that there are.
func moreItems(ctx context.Context, w *World, h *home, d *plan.Input, run store.Run, s report.Settling, budget *assay.Money, f runFlags) (*runFlags, error) {
	st, _ := d.Study.Stage(s.Stage)
	input := d.Root(st)
	have, all := 0, 0
	for _, err := range h.Ledger.Items(ctx, run.No, input) {
		if err != nil {
			return nil, err
		}
		have++
	}
	for _, err := range d.FirstItems(ctx, input, 0) {
		if err != nil {
			return nil, err
		}
		all++
	}
	if have == 0 || s.Clusters == 0 {
		return nil, usage("", "--settle: stage %s is about no items of an input", s.Stage)
	}
	need := int(math.Ceil(s.Likely.N * float64(have) / float64(s.Clusters))) // several items may share a cluster
	fmt.Fprintf(w.Stderr, "run %s, stage %s: about %s tell %s and %s apart with a chance of %.0f%%%s.\n",
		run.ID, s.Stage, assay.Count(need, "more "+s.Unit), s.First, s.Second, 100*results.SettlingChance, feeWords(s.Likely.Cost))
	take := min(need, all-have)
	if f.settings.Limit == 0 || take <= 0 {
		fmt.Fprintf(w.Stderr, "All %s of input %s were asked. %s, and run the study again: answers are kept, and only what is new is asked. Nothing is bought.\n",
			assay.Thousands(have), input, whereToAdd(d, input, need, have))
		return nil, nil
	}
	if lanes := len(d.Study.Contestants(askedBy(d, st))); lanes > 2 {
		fmt.Fprintf(w.Stderr, "Each is asked of all %d lanes, and judged: tables stay whole, and cost more than for the two.\n", lanes)
	}
	if each, known := laneCost(d, st, s); budget != nil {
		if !known {
			fmt.Fprintf(w.Stderr, "%s and %s in stage %s: no price is known for one of its lanes, so a budget cannot be kept. Nothing is bought.\n", s.First, s.Second, s.Stage)
			return nil, nil
		}
		if most := int(budget.Float() / each * float64(have) / float64(s.Clusters)); most < take { // each is the cost of a cluster
			fmt.Fprintf(w.Stderr, "The budget pays for about %s.\n", assay.Count(most, s.Unit))
			if take = most; take == 0 {
				return nil, nil
			}
		}
	}
	if take < need {
		fmt.Fprintf(w.Stderr, "%s taken; for %.0f%% it takes more.\n", assay.Count(take, s.Unit)+assay.Verb(take, " is", " are"), 100*results.SettlingChance)
	}
	f.settle, f.settings.Limit, f.settings.Stages = "", have+take, nil // the stage was that of the wish
	f.settings.Settles = fmt.Sprintf("run %s did not tell %s and %s apart", run.ID, s.First, s.Second)
	kept := "answers of run " + run.ID + " are kept"
	switch {
	case d.Study.Reuse != nil:
		kept = "answers are taken over as the study's reuse says"
	case f.rehearse:
		kept, f.budget = "a rehearsal asks all again", "" // the budget is for what is new
	}
	fmt.Fprintf(w.Stderr, "The study is run with --limit %d: %s, and %s of input %s are new. It is a further look, and its tables say so.\n",
		f.settings.Limit, kept, assay.Count(take, "item"), input)
	return &f, nil
}

// askedBy is the stage whose answers a stage judges.
func askedBy(d *plan.Input, st *study.Stage) *study.Stage {
	for range d.Study.Stages {
		next, ok := d.Study.Stage(strings.Join(st.Judge.List[:min(1, len(st.Judge.List))], ""))
		if !ok || st.Verb() != study.VerbJudge {
			break
		}
		st = next
	}
	return st
}

// laneCost is what one more item costs, asked of all lanes, in the mode of the judges.
func laneCost(d *plan.Input, st *study.Stage, s report.Settling) (float64, bool) {
	fee := s.Likely.Cost.Batch
	if l, ok := d.Study.Lane(strings.Join(st.Judges.List[:min(1, len(st.Judges.List))], "")); ok && d.Mode(st, l) == assay.ModeLive || !fee.OK {
		fee = s.Likely.Cost.Live
	}
	if !fee.OK {
		fee = s.Likely.Cost.Paid
	}
	lanes := max(2, len(d.Study.Contestants(askedBy(d, st))))
	return fee.Value / s.Likely.N * float64(lanes) / 2, fee.OK && fee.Value > 0
}

// feeWords are a price in brackets; empty where none is known.
func feeWords(fee report.Fee) string {
	if text := fee.Words(); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// whereToAdd says what is to be changed so that an input has more items.
func whereToAdd(d *plan.Input, input string, need, have int) string {
	in, ok := d.Study.Inputs.Find(input)
	switch {
	case !ok:
		return fmt.Sprintf("Add %s to it", assay.Count(need, "item"))
	case in.Sample != nil:
		return fmt.Sprintf("Raise its sample from %d to %d", in.Sample.N, have+need)
	case in.Limit > 0:
		return fmt.Sprintf("Raise its limit from %d to %d", in.Limit, have+need)
	case in.File != "":
		return fmt.Sprintf("Add %s to %s", assay.Count(need, "item"), in.File)
	}
	return fmt.Sprintf("Add %s to it", assay.Count(need, "item"))
}
