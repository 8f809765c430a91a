package driving

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/quotes"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// buyComparisons buys the comparisons that would tell two lanes apart, and extends the run of the study with them.
func buyComparisons(ctx context.Context, w *shell.World, h *shell.Home, want workspace.Wanted, f runFlags) error {
	d := want.Input
	names := strings.Split(f.settle, ",")
	if len(names) != 2 || strings.TrimSpace(names[0]) == "" || strings.TrimSpace(names[1]) == "" {
		return shell.Usage("for example --settle \"haiku, mini.low\"", "--settle: want the names of two lanes, got %q", f.settle)
	}
	wish := rounds.Settle{First: strings.TrimSpace(names[0]), Second: strings.TrimSpace(names[1]), Budget: f.budget}
	lanes := laneNames(d.Study)
	for _, name := range []string{wish.First, wish.Second} {
		if !slices.Contains(lanes, name) {
			return shell.Usage(shell.NearOrAll(name, lanes), "--settle: the study has no lane %q", name)
		}
	}
	if len(f.settings.Stages) == 1 {
		wish.Stage = f.settings.Stages[0]
	}
	budget, err := ParseBudget(f.budget)
	if err != nil {
		return err
	}
	want.Settings.Stages = nil
	now, err := h.Current(ctx, want)
	if err != nil {
		return err
	}
	if now.Run.No == 0 || now.Edit != nil {
		return shell.Usage("run the study first, without --settle", "there is no run of this study as it is now")
	}
	run := now.Run
	o, err := quotes.OfferOf(ctx, h.Results(), run, wish, budget)
	if bad, ok := errors.AsType[*quotes.SettleError](err); ok {
		if bad.Single {
			return itemsInstead(ctx, w, h, d, run, wish, bad)
		}
		return shell.Usage(bad.Hint, "--settle: %s", bad.Text)
	}
	if err != nil {
		return err
	}
	switch {
	case o.Under && run.State == store.RunClosed:
		return shell.Usage("assay retry "+h.Named(run),
			"run %s: a round of stage %s is held, and nothing more is bought before it comes to its end", run.ID, o.Stage)
	case o.Under, run.State == store.RunOpen && (o.Known || o.Bought):
		fmt.Fprintf(w.Stderr, "going on with run %s: what was bought for stage %s is under way, and nothing is bought again\n",
			run.ID, o.Stage)
	case o.Ends:
		fmt.Fprintf(w.Stderr, "%s and %s in stage %s: %s. Nothing is bought.\n", o.First, o.Second, o.Stage, o.Why)
		return nil
	case run.State == store.RunOpen:
		return shell.Usage("assay resume "+h.Named(run), "run %s is open: more is bought when it has come to its end", run.ID)
	default:
		if err := confirmComparisons(w, run, o, f); err != nil {
			return err
		}
		bought, err := h.BuySettling(ctx, h.Results(), run, o.Settle, o.Cost)
		if err != nil {
			return err
		}
		if !bought {
			return fmt.Errorf("run %s: another process was first; look at it with `assay status %s`", run.ID, h.Named(run))
		}
	}
	if run, err = h.Ledger.Reader.Run(ctx, run.No); err != nil {
		return err
	}
	return Drive(ctx, w, h, run, d.Study, DriveOptions{Detach: f.detach, Interval: f.interval})
}

// laneNames returns the lanes of a study: those that it declares, and those whose answers it imports.
func laneNames(s *study.Study) []string {
	var out []string
	add := func(l *study.Lane) {
		if !slices.Contains(out, l.Name) {
			out = append(out, l.Name)
		}
	}
	for i := range s.Lanes {
		add(&s.Lanes[i])
	}
	for i := range s.Stages {
		if s.Stages[i].Import != nil {
			for _, l := range s.Contestants(&s.Stages[i]) {
				add(l)
			}
		}
	}
	return out
}

// confirmComparisons prints what is bought, for how much and with which chance, and asks.
func confirmComparisons(w *shell.World, run store.Run, o quotes.Offer, f runFlags) error {
	for _, line := range o.Words(run.ID) {
		fmt.Fprintln(w.Stderr, line)
	}
	if f.rehearse {
		return nil
	}
	return shell.Ask(w, f.yes, "Send?")
}

// itemsInstead returns what to type where answers are judged one by one, so that only more items tell two lanes apart:
// none are bought for two lanes alone.
func itemsInstead(ctx context.Context, w *shell.World, h *shell.Home, d *plan.Input, run store.Run, wish rounds.Settle,
	none *quotes.SettleError) error {
	q, ranked, err := quotes.QuoteItems(ctx, h.Results(), run, wish)
	switch {
	case err != nil:
		return err
	case !ranked:
		return shell.Usage(none.Hint, "--settle: %s", none.Text)
	case q.Needed == 0:
		fmt.Fprintf(w.Stderr, "%s and %s in stage %s: %s. Nothing is bought.\n", wish.First, wish.Second, q.Stage, q.Why)
		return nil
	}
	there, err := d.Items.Count(ctx, q.Input)
	if err != nil {
		return err
	}
	all, err := d.Items.Population(ctx, q.Input)
	if err != nil {
		return err
	}
	limit, first, set := q.Asked+q.Needed, "", ""
	if limit > int64(there) {
		first, set = whereToAdd(d, q, limit, int64(all))
	}
	if !q.Limited() || limit >= int64(there) {
		limit = 0
	}
	fee := ""
	if text := q.Cost.Words(); text != "" {
		fee = " (" + text + ")"
	}
	return shell.Usage(first+"`"+quotes.RerunWith(h.Results(), q, limit, set, w.Disk.Path("."))+h.Typed+
		"` keeps all answers and asks only what is new",
		"--settle buys comparisons, and stage %s judges answers one by one: about %s %s %s and %s apart with a chance of %.0f%%%s", q.Stage,
		assay.Count(q.Needed, "more "+q.Unit), assay.Verb(int(q.Needed), "tells", "tell"), wish.First, wish.Second,
		100*quotes.SettlingChance, fee)
}

// whereToAdd returns what has to be done first, and what the command sets, so that an input of so many items in all gives those that are
// wanted.
func whereToAdd(d *plan.Input, q quotes.ItemQuote, wanted, all int64) (first, set string) {
	in, _ := d.Study.Inputs.Find(q.Input)
	if wanted > all {
		to := in.File
		if to == "" {
			to = "input " + q.Input
		}
		first = fmt.Sprintf("add %s to %s%s, then ", assay.Count(wanted-all, "item"), to, answersToo(d.Study, q.Stage))
	}
	switch {
	case in.Sample != nil:
		set = fmt.Sprintf("inputs.%s.sample.n=%d", q.Input, wanted)
	case in.Limit > 0:
		set = fmt.Sprintf("inputs.%s.limit=%d", q.Input, wanted)
	}
	return first, set
}

// answersToo returns where the answers to new items have to be added, where a stage judges answers of a file.
func answersToo(s *study.Study, stage string) string {
	st, ok := s.Stage(stage)
	if !ok {
		return ""
	}
	for _, name := range st.Judge.List {
		if from, ok := s.Stage(name); ok && from.Import != nil {
			return " and the answers to them to " + from.Import.File
		}
	}
	return ""
}
