package planning

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/quote"
	"assay/internal/show/cli/shell"
	"assay/internal/study/plan"
)

// Check makes the command `assay check`.
func Check(w *shell.World) *cobra.Command {
	var f shell.StudyFlags
	var online bool
	c := &cobra.Command{
		Use:     "check [STUDY]",
		GroupID: shell.GroupStart,
		Short:   "List everything that is wrong with a study",
		Long: "Reads a study, its texts and all its rows, renders every first request, and lists all problems at once as file:line:col: " +
			"what (hint).\n" +
			"Nothing is sent. Exit code 2 when there is a problem; warnings alone are exit code 0.\n\n" +
			"--online also asks the providers, by calls that cost nothing, whether keys, models and permissions are there.",
		Args: shell.StudyArg(w),
		RunE: func(c *cobra.Command, args []string) error {
			name := shell.StudyFile(w, args)
			d, p, err := shell.Planned(c, w, name, f, plan.Options{}, nil)
			if err != nil {
				return err
			}
			if online {
				problems := workspace.InFolder(checkOnline(c.Context(), w, d), filepath.Dir(name))
				if len(problems.Errors()) > 0 {
					return problems
				}
				for _, q := range problems {
					w.Warn(q.String())
				}
			}
			total := p.Sum(func(plan.Part) bool { return true })
			if b := d.Study.Budget; b.Set && total.Cost.Expected.Sum > b.Money {
				fmt.Fprintf(w.Stderr, "%s: warning: the budget of %s does not cover what is expected, %s (the run stops when it is spent; "+
					"assay plan %s shows what costs how much)\n", name, b.Money, total.Cost.Expected, name)
			}
			fmt.Fprintf(w.Stdout, "%s: no problems; %s in %s\n", name, assay.Count(total.Requests, "request"), assay.Count(p.Waves, "wave"))
			if err := printIdentities(c.Context(), w, d); err != nil {
				return err
			}
			for _, q := range p.Power {
				fmt.Fprint(w.Stdout, quote.NoWorseLines(q))
			}
			for i := range d.Study.Stages {
				st := &d.Study.Stages[i]
				if left := d.NotAsked(st); len(left) > 0 {
					fmt.Fprintf(w.Stdout, "stage %s asks all lanes but those that judge: %s (`lanes: \"*\"` asks them, too)\n", st.Name,
						strings.Join(left, ", "))
				}
			}
			return nil
		},
	}
	f.Register(c)
	c.Flags().BoolVar(&online, "online", false, "also ask the providers, free calls only")
	return c
}

// printIdentities prints which column of each table is the id.
func printIdentities(ctx context.Context, w *shell.World, d *plan.Input) error {
	all, err := d.Identities(ctx)
	for _, i := range all {
		if i.Column != "" {
			fmt.Fprintf(w.Stdout, "input %s: items are known by column %q of %s\n", i.Input, i.Column, i.File)
			continue
		}
		hint := "`id: COLUMN` on the input names another"
		if i.Other != "" {
			hint = fmt.Sprintf("`id: %q` on the input takes that column", i.Other)
		}
		fmt.Fprintf(w.Stdout, "input %s: %s has no column id: items are known by the number of their row, and their answers by the "+
			"wording where rows move (%s)\n", i.Input, i.File, hint)
	}
	return err
}

// checkOnline asks the providers of a study, and names those whose keys work.
func checkOnline(ctx context.Context, w *shell.World, d *plan.Input) assay.Problems {
	if !slices.ContainsFunc(d.Keys(w.IsSet), func(k plan.Key) bool { return k.Set || k.Optional }) {
		fmt.Fprintln(w.Stderr, "no provider was asked: no key is set (assay list keys)")
	}
	return w.Workspace().CheckOnline(ctx, d, func(k plan.Key) {
		fmt.Fprintf(w.Stderr, "%s: the key works for %s %s\n", k.Provider, assay.Verb(len(k.Lanes), "lane", "lanes"),
			strings.Join(k.Lanes, ", "))
	})
}
