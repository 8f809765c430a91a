package driving

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/report/words"
	"assay/internal/study/plan"
)

// Lock makes the command `assay lock`.
func Lock(w *shell.World) *cobra.Command {
	var f shell.StudyFlags
	var home shell.HomeFlags
	c := &cobra.Command{
		Use:     "lock [STUDY]",
		GroupID: shell.GroupStart,
		Short:   "Write a study, its items and its analyses into the ledger before anything is sent",
		Long: "Writes the study with its texts, the digests of its items and what it declares (analyses, primary findings, thresholds, " +
			"exclusions) into\n" +
			"the ledger, under one hash and the time. The next run, its report and its bundle tell when the study was locked and what " +
			"was changed since.\nNothing is sent. Locking the same study again changes nothing: the first time counts.",
		Args: shell.StudyArg(w),
		RunE: func(c *cobra.Command, args []string) error {
			name := shell.StudyFile(w, args)
			d, p, err := shell.Planned(c, w, name, f, plan.Options{}, nil)
			if err != nil {
				return err
			}
			h, err := home.OpenHome(c.Context(), w, false)
			if err != nil {
				return err
			}
			defer h.Close()
			l, verdicts, err := workspace.Lock(c.Context(), h.Home, workspace.Wanted{File: name, Input: d, Plan: p, Study: f.StudyOptions})
			if err != nil {
				return err
			}
			fmt.Fprintln(w.Stdout, words.LockWords(&l))
			if verdicts > 0 {
				fmt.Fprintf(w.Stderr, "%s of this study %s there already: the lock is before the data of `assay run %s%s --new` alone\n",
					assay.Count(verdicts, "verdict"), assay.Verb(verdicts, "is", "are"), name, h.Typed)
			}
			return nil
		},
	}
	f.Register(c)
	home.Register(c)
	return c
}

// printLock prints since when the study of a run is locked, and what was changed since.
func printLock(ctx context.Context, w *shell.World, h *shell.Home, want workspace.Wanted) error {
	l, err := workspace.Locked(ctx, h.Home, want)
	if l != nil {
		fmt.Fprintln(w.Stderr, words.LockWords(&l.Lock))
	}
	return err
}
