package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/export/bundle"
	"assay/internal/show/export/folder"
)

type bundleFlags struct {
	home    homeFlags
	out     string
	replace bool
}

func bundleCommand(w *World) *cobra.Command {
	var f bundleFlags
	c := &cobra.Command{
		Use:     "bundle [RUN] --out FILE",
		GroupID: groupDecide,
		Short:   "Put one run into one file that gives the same digits anywhere",
		Long: "Writes the study, the items, the answers, the verdicts and the gold labels of a run into one file. `assay analyse FILE`, `results FILE`, `export FILE`,\n" +
			"`spend FILE` and `diff FILE RUN` read it in place of a run, on any machine and without keys. No key, no account, no path and no user of\n" +
			"this machine is in it; the raw bytes of providers are not either. A bundle of which one byte was changed is refused.",
		Args: upTo("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return runBundle(c.Context(), w, firstOf(args), f) },
	}
	f.home.register(c)
	c.Flags().StringVar(&f.out, "out", "", "the file to write, such as results.assay")
	c.Flags().BoolVar(&f.replace, "replace", false, "replace a file of this name")
	return c
}

func runBundle(ctx context.Context, w *World, ref string, f bundleFlags) error {
	if f.out == "" {
		return usage("a file, such as --out results.assay", "--out is missing")
	}
	h, run, err := f.home.find(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	file, err := folder.NewFile(w.Disk.Path(f.out), folder.Replace(f.replace))
	if err != nil {
		return inTheWay(err)
	}
	defer file.Abort()
	if err := bundle.Write(ctx, file, h.exported(run)); err != nil {
		return fmt.Errorf("bundle run %s: %w", run.ID, err)
	}
	if err := file.Commit(); err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "run %s of %s is in %s\n", run.ID, run.Study, f.out)
	return nil
}

// openBundle makes a ledger out of a bundle, in a folder that goes away when the home is closed.
func openBundle(ctx context.Context, w *World, name string) (*home, store.Run, error) {
	b, err := bundle.Open(name)
	if err != nil {
		hint := "ask for it again, or make it anew: assay bundle RUN --out FILE"
		if errors.Is(err, bundle.ErrNotBundle) {
			hint = "assay bundle RUN --out FILE makes one; a RUN is an id or a study's name"
		}
		return nil, store.Run{}, &exitError{code: exitUsage, err: err, hint: hint}
	}
	defer b.Close()
	dir, err := os.MkdirTemp("", "assay-bundle-")
	if err != nil {
		return nil, store.Run{}, fmt.Errorf("unpack bundle: %w", err)
	}
	h, run, err := unpack(ctx, w, b, dir)
	if err != nil {
		return nil, run, errors.Join(fmt.Errorf("unpack bundle %s: %w", name, err), os.RemoveAll(dir))
	}
	return h, run, nil
}

func unpack(ctx context.Context, w *World, b *bundle.Bundle, dir string) (*home, store.Run, error) {
	where := filepath.Join(dir, "ledger.db")
	ledger, err := ledger.Open(ctx, where, ledger.Options{Now: w.Now})
	if err != nil {
		return nil, store.Run{}, err
	}
	run, err := b.Restore(ctx, ledger)
	if err != nil {
		return nil, run, errors.Join(err, ledger.Close())
	}
	files, err := artifacts.Open(filepath.Join(dir, "runs"))
	if err != nil {
		return nil, run, errors.Join(err, ledger.Close())
	}
	return &home{Home: workspace.New(w.workspace(), workspace.Home{Ledger: ledger, Files: files, Where: where, Rehearsal: run.Rehearsal, Temporary: dir})}, run, nil
}
