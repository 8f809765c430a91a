package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"assay"
	"assay/cli/term"
	"assay/results"
	"assay/store"
)

type resultFlags struct {
	home        homeFlags
	stage, lane string
	item        string
	json        bool
}

func resultsCommand(w *World) *cobra.Command {
	var f resultFlags
	c := &cobra.Command{
		Use:     "results [RUN]",
		GroupID: groupLook,
		Short:   "Show the answers of a run",
		Long: "Shows what was answered, the beginning of each text; --json prints the rows that `assay export --format jsonl` writes: whole texts, with\n" +
			"thoughts, tokens, cost and verdicts (docs/export.md has every field). Judges are lanes like any other: their stage has their replies.",
		Args: upTo("RUN"),
		RunE: f.home.looking(w, func(ctx context.Context, h *home, run store.Run) error {
			if err := f.known(ctx, h, run); err != nil {
				return err
			}
			return printResults(ctx, w, h, run, f)
		}),
	}
	f.home.register(c)
	c.Flags().StringVar(&f.stage, "stage", "", "only this stage")
	c.Flags().StringVar(&f.lane, "lane", "", "only this lane")
	c.Flags().StringVar(&f.item, "item", "", "only this item")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object a request, whole texts")
	return c
}

// known reports a stage or lane that the run does not have.
func (f resultFlags) known(ctx context.Context, h *home, run store.Run) error {
	lanes, err := h.Ledger.Lanes(ctx, run.No)
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
	if f.stage != "" && !slices.Contains(stages, f.stage) {
		return usage(nearOrAll(f.stage, stages), "--stage: the run sends nothing in a stage %q", f.stage)
	}
	if f.lane != "" && !slices.Contains(names, f.lane) {
		return usage(nearOrAll(f.lane, names), "--lane: the run has no lane %q", f.lane)
	}
	return nil
}

func printResults(ctx context.Context, w *World, h *home, run store.Run, f resultFlags) error {
	if h.Rehearsal {
		fmt.Fprintln(w.Stderr, "REHEARSAL: these answers come from the simulator")
	}
	if f.json {
		return f.writeRows(ctx, w, h, run)
	}
	t := term.Table{Head: []string{"STAGE", "ITEM", "LANE", "TURN", "BRANCH", "ENDING", "TEXT"}, Right: map[int]bool{3: true}}
	for a, err := range f.answers(ctx, h.Ledger.Reader, run.No) {
		if err != nil {
			return err
		}
		if t.Len() == maxTableRows {
			fmt.Fprintf(w.Stderr, "the first %d; --json prints all\n", maxTableRows)
			break
		}
		t.Add(a.At.Stage, a.At.Item, a.Lane, a.At.Turn, a.At.Branch, a.Outcome.Ending, cellText(a))
	}
	return t.Write(w.Stdout)
}

// writeRows prints one JSON object a request: the rows that exports and the API have.
func (f resultFlags) writeRows(ctx context.Context, w *World, h *home, run store.Run) error {
	rows, err := h.results().Rows(ctx, run)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w.Stdout)
	e.SetEscapeHTML(false)
	for row, err := range rows.Of(ctx, f.answers(ctx, h.Ledger.Reader, run.No)) {
		if err != nil {
			return err
		}
		if err := e.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

// answers are those that the flags ask for. Those on one item are found by an index, page by page, without walking over the whole run.
func (f resultFlags) answers(ctx context.Context, ledger *store.Reader, run int64) iter.Seq2[store.Answer, error] {
	if f.item == "" {
		return ledger.Answers(ctx, run, f.stage, f.lane)
	}
	const page = 200
	filter := store.AnswerFilter{Stage: f.stage, Lane: f.lane, Item: f.item}
	return func(yield func(store.Answer, error) bool) {
		var after store.Mark
		for n := page; n == page; {
			some, err := ledger.AnswersPage(ctx, run, filter, after, page)
			if err != nil {
				yield(store.Answer{}, err)
				return
			}
			n = len(some)
			for _, a := range some {
				after = store.Mark{Segment: a.Segment, Ord: a.Ord}
				if !yield(a, nil) {
					return
				}
			}
		}
	}
}

// maxTableRows is as much as a person reads in a table.
const maxTableRows = 1000

// cellText is an answer in a table. The ledger has no text of one that is very long; the raw bytes do.
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

// results reads the runs of the home.
func (h *home) results() *results.Reader {
	return h.Planner.Results
}
