package reading

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type resultFlags struct {
	home  shell.HomeFlags
	pick  rows.Pick
	sort  string
	limit int
	wide  bool
	json  bool
}

// Results makes the command `assay results`.
func Results(w *shell.World) *cobra.Command {
	var f resultFlags
	c := &cobra.Command{
		Use:     "results [RUN]",
		GroupID: shell.GroupLook,
		Short:   "Show the answers of a run, or what judges said of them",
		Long: "Shows what was answered, the beginning of each text; --json prints the rows that `assay export --format jsonl` writes: " +
			"whole texts, with\n" +
			"thoughts, tokens, cost and verdicts (docs/data.md has every field). Judges are lanes like any other: their stage has " +
			"their replies.\n\n" +
			"With --verdict or --judge it shows verdicts instead: --verdict takes a label (explicit_flip), a state (malformed, failed, " +
			"abstained), or of a\n" +
			"pair the name of the better one; --lane is then the lane that was judged, and --json prints rows of the table of verdicts.\n" +
			"--wide prints each row as a block, whole: the question, the answer or both answers, who was judged, the verdict and the " +
			"judge's reason.\n" +
			"KEY is the beginning of a request's key: `assay show KEY` shows all there is about it.",
		Args: shell.UpTo("RUN"),
		RunE: f.home.Looking(w, func(ctx context.Context, h *shell.Home, run store.Run) error {
			if err := f.known(ctx, h, run); err != nil {
				return err
			}
			return printResults(ctx, w, h, run, f)
		}),
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.pick.Stage, "stage", "", "only this stage; of verdicts, the stage that judges or the one that is judged")
	c.Flags().StringVar(&f.pick.Lane, "lane", "", "only this lane; of a stage that judges, the judge or the lane it judges")
	c.Flags().StringVar(&f.pick.Item, "item", "", "only this item")
	c.Flags().StringVar(&f.pick.Verdict, "verdict", "", "show the verdicts with this `LABEL`, state or winner")
	c.Flags().StringVar(&f.pick.Judge, "judge", "", "show the verdicts of this judge")
	c.Flags().IntVar(&f.pick.Draw, "draw", 0, "only this draw")
	c.Flags().StringVar(&f.sort, "sort", "", "sort by "+strings.Join(sortFields(), ", ")+"; -FIELD: the largest first")
	c.Flags().IntVar(&f.limit, "limit", 0, fmt.Sprintf("at most so many rows (default: %d in a table, all in JSON)", shell.MaxTableRows))
	c.Flags().BoolVar(&f.wide, "wide", false, "print whole texts: question, answers, who was judged, and the judge's reason")
	c.Flags().BoolVar(&f.json, "json", false,
		"print JSON lines with whole texts: of requests, with --verdict or --judge of verdicts")
	return c
}

// known reports what the flags name and the run does not have. A lane that the stage does not ask is one that it judges.
func (f *resultFlags) known(ctx context.Context, h *shell.Home, run store.Run) error {
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return err
	}
	var stages, names []string
	for _, l := range lanes {
		if !slices.Contains(stages, l.Stage) {
			stages = append(stages, l.Stage)
		}
		if !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	asks := func(l store.Lane) bool { return l.Name == f.pick.Lane && l.Stage == f.pick.Stage }
	if f.pick.Stage != "" && slices.Contains(names, f.pick.Lane) && !f.verdicts() && !slices.ContainsFunc(lanes, asks) {
		f.pick.Judged, f.pick.Lane = f.pick.Lane, ""
	}
	switch field := strings.TrimPrefix(f.sort, "-"); {
	case f.pick.Stage != "" && !slices.Contains(stages, f.pick.Stage) && !f.verdicts():
		return shell.Usage(shell.NearOrAll(f.pick.Stage, stages), "--stage: the run sends nothing in a stage %q", f.pick.Stage)
	case f.pick.Lane != "" && !slices.Contains(names, f.pick.Lane):
		return shell.Usage(shell.NearOrAll(f.pick.Lane, names), "--lane: the run has no lane %q", f.pick.Lane)
	case f.sort != "" && !slices.Contains(sortFields(), field):
		return shell.Usage(shell.NearOrAll(field, sortFields()), "--sort: rows are not sorted by %q", field)
	case f.limit < 0 || f.pick.Draw < 0:
		return shell.Usage("", "--limit and --draw: want 0 or more")
	case f.sort != "" && f.json && f.limit == 0:
		return shell.Usage("add --limit N", "--sort with --json needs a limit: what is sorted is held in memory")
	}
	return f.knownItem(ctx, h, run)
}

// knownItem wants the item of --item to be one that the run has asked about.
func (f *resultFlags) knownItem(ctx context.Context, h *shell.Home, run store.Run) error {
	if f.pick.Item == "" {
		return nil
	}
	for _, err := range rows.Answers(ctx, h.Results(), run, rows.Pick{Item: f.pick.Item}) {
		return err
	}
	const looked, listed = 5_000, 6
	var items []string
	n := 0
	for a, err := range rows.Answers(ctx, h.Results(), run, rows.Pick{}) {
		if n++; err != nil || n > looked {
			break
		}
		if !slices.Contains(items[max(0, len(items)-listed):], a.At.Item) {
			items = append(items, a.At.Item)
		}
	}
	slices.Sort(items)
	items = slices.Compact(items)
	if len(items) == 0 {
		return nil // nothing was asked yet
	}
	hint := assay.DidYouMean(f.pick.Item, items)
	if hint == "" {
		hint = assay.ThereAre(items[:min(len(items), listed)])
	}
	if len(items) > listed && !strings.HasPrefix(hint, "did") {
		hint += " and others"
	}
	return shell.Usage(hint, "--item: the run asks about no item %q", f.pick.Item)
}

// verdicts reports whether rows are verdicts.
func (f resultFlags) verdicts() bool { return f.pick.Verdict != "" || f.pick.Judge != "" }

func printResults(ctx context.Context, w *shell.World, h *shell.Home, run store.Run, f resultFlags) error {
	if h.Rehearsal {
		fmt.Fprintln(w.Stderr, "REHEARSAL: these answers come from the simulator")
	}
	if f.json || f.wide || f.verdicts() {
		return f.printRows(ctx, w, h, run)
	}
	t := term.Table{Head: []string{"KEY", "STAGE", "ITEM", "LANE", "JUDGED", "TURN", "BRANCH", "DRAW", "ENDING", "TEXT"},
		Right: map[int]bool{5: true, 7: true}, Spare: []string{"DRAW", "JUDGED", "TURN", "BRANCH", "STAGE"}}
	s := arrange(f, shell.MaxTableRows, answerOrder)
	for a, err := range s.walk(rows.Answers(ctx, h.Results(), run, f.pick)) {
		if err != nil {
			return err
		}
		judged := ""
		if a.At.Judge != "" {
			judged = subjectOf(a.At)
		}
		t.Add(a.Key.Short(), a.At.Stage, a.At.Item, a.Lane, judged, a.At.Turn, a.At.Branch, a.At.Draw, a.Outcome.Ending, cellText(a))
	}
	s.say(w)
	return t.Compact("JUDGED", "BRANCH").Write(w.Stdout)
}

// cellText returns an answer in a table. The ledger has no text of one that is very long; the raw bytes do.
func cellText(a store.Answer) string {
	if a.Over && a.Outcome.Text == "" && a.Outcome.Fault == nil {
		return "(long: --json prints it)"
	}
	return shorten(a.Outcome)
}

func shorten(o assay.Outcome) string {
	text := o.Text
	if o.Fault != nil {
		text = o.Fault.Error()
	}
	return assay.Clean(text, 100)
}
