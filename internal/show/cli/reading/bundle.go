package reading

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"assay/internal/show/cli/shell"
	"assay/internal/show/export/bundle"
	"assay/internal/show/export/folder"
	"assay/internal/show/report/words"
)

type bundleFlags struct {
	home    shell.HomeFlags
	out     string
	replace bool
}

// Bundle makes the command `assay bundle`.
func Bundle(w *shell.World) *cobra.Command {
	var f bundleFlags
	c := &cobra.Command{
		Use:     "bundle [RUN] --out FILE",
		GroupID: shell.GroupDecide,
		Short:   "Put one run into one file that gives the same digits anywhere",
		Long: "Writes the study, the items, the answers, the verdicts and the gold labels of a run into one file. `assay analyse FILE`, " +
			"`results FILE`, `export FILE`,\n" +
			"`spend FILE` and `diff FILE RUN` read it in place of a run, on any machine and without keys. No key, no account, no path " +
			"and no user of\n" +
			"this machine is in it; the raw bytes of providers are not either. A bundle of which one byte was changed is refused.",
		Args: shell.UpTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return runBundle(c.Context(), w, shell.FirstOf(args), f) },
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.out, "out", "", "the file to write, such as results.assay")
	c.Flags().BoolVar(&f.replace, "replace", false, "replace a file of this name")
	return c
}

func runBundle(ctx context.Context, w *shell.World, ref string, f bundleFlags) error {
	if f.out == "" {
		return shell.Usage("a file, such as --out results.assay", "--out is missing")
	}
	h, run, err := f.home.FindRun(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	file, err := folder.NewFile(w.Disk.Path(f.out), folder.Replace(f.replace))
	if err != nil {
		return inTheWay(err)
	}
	defer file.Abort()
	if err := bundle.Write(ctx, file, exported(h, run)); err != nil {
		return fmt.Errorf("bundle run %s: %w", run.ID, err)
	}
	if err := file.Commit(); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "run %s of %s is in %s\n", run.ID, run.Study, f.out)
	plan, err := h.Results().Scripts.Plan(ctx, run)
	if err == nil && plan.Lock != nil {
		fmt.Fprintln(w.Stderr, words.LockWords(plan.Lock))
	}
	return err
}
