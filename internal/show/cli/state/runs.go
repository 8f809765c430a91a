package state

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

type runsFlags struct {
	listFlags
	filter runs.Filter
	states []string
}

// Runs makes the command `assay runs`.
func Runs(w *shell.World) *cobra.Command {
	var f runsFlags
	c := &cobra.Command{
		Use:     "runs [PATH…]",
		GroupID: shell.GroupLook,
		Short:   "List all runs, newest first: state, result, leader, cost, note",
		Long: "Lists the runs of studies and batch files, newest first, from the ledger alone. PATH is a home, or a folder to look for " +
			"homes in; without\n" +
			"one, it is the home of this folder.\n\n" +
			"STATE is planned, in flight, waiting (for a provider, until a moment), held (a person has to decide), stopped (nothing goes " +
			"on by itself),\n" +
			"or how the run ended: done, incomplete, cancelled, judges failed (no verdict of a stage can be used), people to vote. " +
			"RESULT is who leads in a\n" +
			"run that has ended, as `assay run`, `assay analyse` or the dashboard computed it; it is empty until then. `assay status " +
			"RUN` has the reason of a\n" +
			"state and what to type next.",
		RunE: func(c *cobra.Command, paths []string) error { return listRuns(c.Context(), w, f, paths) },
	}
	f.register(c, "runs")
	c.Flags().StringVar(&f.filter.Study, "study", "", "only runs of this study, or batch file")
	shell.Choice(c, &f.filter.Kind, "kind", []runs.Kind{runs.KindStudy, runs.KindBatch}, "only runs of a study, or of a batch file (batch)")
	c.Flags().StringSliceVar(&f.states, "state", nil, "only runs in these states; open: all that are not closed")
	c.Flags().StringVar(&f.filter.By, "by", "", "only runs that this person began")
	f.filter.Sort = runs.SortNewest
	shell.Choice(c, &f.filter.Sort, "sort", runs.Sorts(), "newest, oldest, study, state (urgent first), leader, size or cost")
	c.Flags().StringVar(&f.filter.Note, "note", "", "only runs with this text in their note")
	return c
}

func (f *runsFlags) check() error {
	for _, s := range f.states {
		state := runs.State(s)
		if known := append(runs.States(), runs.StateOpen); !slices.Contains(known, state) {
			return shell.Usage(assay.Choices(state, known), "--state: no state is called %q", s)
		}
		f.filter.States = append(f.filter.States, state)
	}
	return nil
}

func listRuns(ctx context.Context, w *shell.World, f runsFlags, paths []string) error {
	if err := f.check(); err != nil {
		return err
	}
	homes, err := f.homes(ctx, w, paths)
	if err != nil {
		return err
	}
	defer closeAll(homes)
	if err := knownStudy(ctx, homes, f.filter.Study); err != nil {
		return err
	}
	f.filter.Limit = f.limit
	noted := false
	return f.list(ctx, w, func(out io.Writer) (open bool, err error) {
		rows, more, err := runRows(ctx, homes, f.filter)
		if err != nil {
			return false, err
		}
		if !noted {
			f.notAll(w, more)
			noted = true
		}
		open = slices.ContainsFunc(rows, runs.Row.Unfinished)
		if f.json {
			return open, term.WriteJSON(out, map[string]any{"runs": rows})
		}
		return open, runTable(rows, len(homes) > 1).Write(out)
	})
}

// runRows returns the runs of all homes in one order.
func runRows(ctx context.Context, homes []listedHome, filter runs.Filter) (rows []runs.Row, more bool, err error) {
	type placed struct {
		runs.Listed
		home string
	}
	var all []placed
	for _, h := range homes {
		own, cut, err := runs.List(ctx, h.at.Results(), filter)
		if err != nil {
			return nil, false, err
		}
		for _, l := range own {
			all = append(all, placed{l, h.name})
		}
		more = more || cut
	}
	runs.Merge(filter.Sort, all, func(p placed) runs.Listed { return p.Listed }, len(homes))
	rows = []runs.Row{}
	for _, l := range all {
		if filter.Limit > 0 && len(rows) == filter.Limit {
			return rows, true, nil
		}
		row := l.Row()
		row.Home = l.home
		rows = append(rows, row)
	}
	return rows, more, nil
}

// runTable shows what a person looks for first: what a run is, whether it needs somebody, what came out and what it cost.
func runTable(rows []runs.Row, homes bool) *term.Table {
	t := &term.Table{Head: []string{"RUN", "STATE", "STUDY", "RESULT", "LEADER", "ANSWERED", "FAILED", "SPENT", "BEGUN", "SIZE", "BY",
		"NOTE"}, Right: map[int]bool{5: true, 6: true, 7: true},
		Spare: []string{"BY", "SIZE", "FAILED", "BEGUN", "NOTE", "ANSWERED", "LEADER"},
		Least: map[int]int{3: 24}}
	if homes {
		t.Head = append(t.Head, "HOME")
	}
	for _, r := range rows {
		failed, answered := "", ""
		if r.Wanted > 0 { // of what was imported nothing was asked
			answered = assay.Thousands(r.Answered) + " of " + assay.Thousands(r.Wanted)
		}
		if r.Failed > 0 {
			failed = assay.Thousands(r.Failed)
		}
		cells := []any{
			r.Run, r.State, r.Study, resultText(r), leaderText(r.Lead), answered, failed, r.SpentText,
			shell.ShortMoment(&r.Begun), r.Size.String(), r.By, r.Note,
		}
		if homes {
			cells = append(cells, cmp.Or(r.Home, "."))
		}
		t.Add(cells...)
	}
	return t.Compact("RESULT", "LEADER", "FAILED", "SIZE", "BY", "NOTE")
}

// resultText returns what came out of a run, or how far it is.
func resultText(r runs.Row) string {
	if r.Found != "" || r.Answered == r.Wanted {
		return r.Found
	}
	return assay.Thousands(r.Answered) + " of " + assay.Thousands(r.Wanted) + " answered"
}

// leaderText returns who is first, with its score and interval.
func leaderText(l store.Lead) string {
	if l.Range == "" {
		return strings.TrimSpace(l.Leader + " " + l.Score)
	}
	return fmt.Sprintf("%s %s (%s)", l.Leader, l.Score, l.Range)
}

// noteLine is who began a run, when and why.
func noteLine(by, note, begun string) string {
	parts := []string{"Begun " + begun}
	if by != "" {
		parts[0] += " by " + assay.Clean(by, 100)
	}
	if note != "" {
		parts = append(parts, assay.Clean(note, 500))
	}
	return strings.Join(parts, ": ")
}
