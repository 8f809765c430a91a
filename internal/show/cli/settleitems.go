package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/send/workspace"
	"assay/internal/show/report"
	"assay/internal/study/plan"
)

// settleItems buys the items that tell two lanes apart whose answers are judged one by one, and extends the run of the study with them: they
// come from those that --limit left out, and are asked of the two alone. Else it says what is to be added, and where. It reports whether
// the run goes on.
func settleItems(ctx context.Context, w *World, h *home, want workspace.Wanted, run store.Run, wish results.ItemWish, none *results.SettleError, f runFlags) (bool, error) {
	o, ranked, err := h.results().OfferItems(ctx, run, wish)
	if bad, ok := errors.AsType[*script.UnaddableError](err); ok {
		return false, usage("a larger --limit begins a new run with more items for all lanes; answers are taken over",
			"--settle: stage %s of run %s cannot be extended for two lanes alone: %s", o.Stage, run.ID, bad.Why)
	}
	if err != nil {
		return false, err
	}
	switch {
	case !ranked:
		return false, usage(none.Hint, "--settle: %s", none.Text)
	case o.Under:
		fmt.Fprintf(w.Stderr, "going on with run %s: what was bought for stage %s is under way, and nothing is bought again\n", run.ID, o.Stage)
		return true, nil
	case !o.Ends && run.State != store.RunClosed:
		return false, usage("assay resume "+h.named(run), "run %s is open: more is bought when it has come to its end", run.ID)
	case o.Needed > 0:
		fmt.Fprintf(w.Stderr, "run %s, stage %s: about %s tell %s and %s apart with a chance of %.0f%%%s.\n",
			run.ID, o.Stage, assay.Count(o.Needed, "more "+o.Unit), o.First, o.Second, 100*results.SettlingChance, feeWords(o.Quote))
	}
	switch {
	case o.Ends:
		fmt.Fprintf(w.Stderr, "%s and %s in stage %s: %s. Nothing is bought.\n", o.First, o.Second, o.Stage, o.Why)
		return false, nil
	case o.N() == 0:
		fmt.Fprintf(w.Stderr, "All %s of input %s were asked. %s, and run the study again: answers are kept, and only what is new is asked. Nothing is bought.\n",
			assay.Thousands(o.Has), o.Input, whereToAdd(want.Input, o, f.settings.Limit))
		return false, nil
	}
	if err := confirmItems(w, run, o, wish.Budget, f); err != nil {
		return false, err
	}
	bought, err := h.BuyItems(ctx, want, run, o, wish.Budget)
	if err == nil && !bought {
		err = fmt.Errorf("run %s: another process was first; look at it with `assay status %s`", run.ID, h.named(run))
	}
	return bought, err
}

// confirmItems says what is asked of which lanes, for how much and with which chance, and asks.
func confirmItems(w *World, run store.Run, o results.ItemOffer, budget *assay.Money, f runFlags) error {
	fmt.Fprintf(w.Stderr, "Run %s is extended by %s of input %s, for a chance of about %.0f%%", run.ID, assay.Count(o.N(), "item"), o.Input, 100*o.Chance)
	switch {
	case o.Cut:
		fmt.Fprint(w.Stderr, ": the budget pays for no more")
	case o.N() < o.Needed:
		fmt.Fprint(w.Stderr, ": there are no more")
	}
	fmt.Fprintln(w.Stderr, ".")
	var asked []string
	for _, a := range o.Adds {
		asked = append(asked, fmt.Sprintf("%s of %s in %s", assay.Thousands(a.First), a.Lane, a.Stage))
	}
	fmt.Fprintf(w.Stderr, "New requests: %s.\n", strings.Join(asked, ", "))
	if o.Lanes > 2 {
		fmt.Fprintln(w.Stderr, "Other lanes are not asked: they are compared with these two on the items that they have.")
	}
	fmt.Fprintf(w.Stderr, "That costs about %s as batches and %s live, by what answers took so far; it goes %s.\n", feeOrUnknown(o.Fees.Batch), feeOrUnknown(o.Fees.Live), modesWords(o.Fees.Modes))
	if budget != nil {
		fmt.Fprintf(w.Stderr, "No more than %s is spent on it, and then %s by the run in all; %s of it is set aside until the bills are there.\n",
			*budget, run.Spent+run.Reserved+run.Perhaps+*budget, o.Fees.Goes.Sum)
	}
	fmt.Fprintln(w.Stderr, "It is a further look at the same verdicts: the chance of a false claim grows, and the tables say so.")
	if f.rehearse {
		return nil
	}
	return ask(w, f.yes, "Send?")
}

func feeOrUnknown(c assay.Cost) string {
	if !c.Known() {
		return "an unknown sum"
	}
	return c.Sum.String()
}

// modesWords say how requests travel.
func modesWords(modes []assay.Mode) string {
	switch {
	case len(modes) > 1:
		return "partly in batches, partly live"
	case len(modes) == 1 && modes[0] == assay.ModeLive:
		return "live"
	}
	return "in batches"
}

// feeWords are a price in brackets; empty where none is known.
func feeWords(fee report.Fee) string {
	if text := fee.Words(); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// whereToAdd says what is to be changed so that an input has more items.
func whereToAdd(d *plan.Input, o results.ItemOffer, limit int) string {
	need := o.Needed
	more := fmt.Sprintf("Add %s to it", assay.Count(need, "item"))
	in, ok := d.Study.Inputs.Find(o.Input)
	switch {
	case ok && in.Sample != nil:
		more = fmt.Sprintf("Raise its sample from %d to %d", in.Sample.N, o.From+need)
	case ok && in.Limit > 0:
		more = fmt.Sprintf("Raise its limit from %d to %d", in.Limit, o.From+need)
	case ok && in.File != "":
		more = fmt.Sprintf("Add %s to %s", assay.Count(need, "item"), in.File)
	}
	if limit > 0 {
		more += ", leave --limit out"
	}
	return more
}
