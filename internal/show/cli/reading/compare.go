package reading

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/show/export/bundle"
)

type compareFlags struct {
	home shell.HomeFlags
	json bool
}

// Compare makes the command `assay compare`.
func Compare(w *shell.World) *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:     "compare RUN1 RUN2",
		GroupID: shell.GroupDecide,
		Short:   "Print what changed between two runs, on the items they share",
		Long: "Compares two runs: first the settings that differ (lanes, models, prompts, rubrics, items), then the verdicts. Judged " +
			"stages of one name are compared\n" +
			"lane by lane on the items that both runs have, pair by pair; a difference is the second run minus the first, " +
			"and p-values are\n" +
			"adjusted over all of them (Holm). Comparisons of one name are put side by side: their strengths are not paired.\n" +
			"A RUN is an id, the beginning of one, a study's name, a bundle, or latest:\n" +
			"the newest open run, else the newest run, and a rehearsal only where there is no real run.",
		Args: shell.Args("RUN1", "RUN2"),
		RunE: func(c *cobra.Command, args []string) error { return runCompare(c.Context(), w, args, f) },
	}
	f.home.Register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func runCompare(ctx context.Context, w *shell.World, refs []string, f compareFlags) error {
	var readers [2]*results.Reader
	var runs [2]store.Run
	for i, ref := range refs {
		h, run, err := f.home.Look(ctx, w, ref)
		if errors.Is(err, bundle.ErrNotBundle) {
			return shell.Usage(fmt.Sprintf("assay judge %s %s --judge PROVIDER/MODEL asks which of two texts is better", refs[0], refs[1]),
				"compare takes two runs: %s is neither one nor a bundle", ref)
		}
		if err != nil {
			return err
		}
		defer h.Close()
		readers[i], runs[i] = h.Results(), run
	}
	if runs[0].ID == runs[1].ID {
		return shell.Usage("name two runs", "%s and %s are the same run", refs[0], refs[1])
	}
	d, err := findings.Compare(ctx, readers, runs)
	if err != nil {
		return err
	}
	if f.json {
		err = term.WriteJSON(w.Stdout, d.JSON())
	} else {
		err = printDiff(w, d)
	}
	if err != nil {
		return err
	}
	if d.Shared() == 0 {
		return shell.Usage("runs of one study share items; elsewhere inputs must have the same name and items the same ids",
			"runs %s and %s share no item: only their settings can be compared", runs[0].ID, runs[1].ID)
	}
	return nil
}

func printDiff(w *shell.World, d *findings.Diff) error {
	for i, run := range d.Runs {
		mark := ""
		if run.Rehearsal {
			mark = "REHEARSAL: "
		}
		fmt.Fprintf(w.Stdout, "%s%d: run %s of %s\n", mark, i+1, run.ID, run.Study)
	}
	fmt.Fprintln(w.Stdout)
	if len(d.Settings) == 0 {
		fmt.Fprintln(w.Stdout, "settings: nothing changed")
	} else {
		t := term.Table{Head: []string{"SETTING", "WAS", "IS"}}
		for _, c := range d.Settings {
			t.Add(c.What, c.Was, c.Is)
		}
		if err := t.Write(w.Stdout); err != nil {
			return err
		}
	}
	for _, i := range d.Items {
		fmt.Fprintf(w.Stdout, "input %s: %s in both runs, %d of them changed; %d only in run 1, %d only in run 2\n", i.Input,
			assay.Count(i.Shared, "item"), i.Changed, i.First, i.Second)
	}
	for k := range d.Paired {
		if err := printFindings(w, &d.Paired[k], ""); err != nil {
			return err
		}
	}
	if len(d.Beside) == 0 {
		return nil
	}
	fmt.Fprintln(w.Stdout, "\ncomparisons, side by side (not paired)")
	t := term.Table{Head: []string{"STAGE", "WHAT", "OF", "1", "2"}, Right: map[int]bool{3: true, 4: true}}
	for _, b := range d.Beside {
		t.Add(b.Stage, b.What, b.Of, shownIn(b.Was.Shown(), b.Was.Value), shownIn(b.Now.Shown(), b.Now.Value))
	}
	return t.Write(w.Stdout)
}
