package reading

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/cli/shell"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/formats"
	"assay/internal/show/export/table"
)

type exportFlags struct {
	home       shell.HomeFlags
	study      string
	format     string
	out        string
	all        bool
	rehearsals bool
	replace    bool
	json       bool
}

// Export makes the command `assay export`.
func Export(w *shell.World) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:     "export [RUN...] --format FORMAT --out DIR",
		GroupID: shell.GroupDecide,
		Short:   "Write the results of runs as files for other programs",
		Long: "Writes answers, verdicts, items and findings of runs: one tidy row each. RUN is an id, the beginning of one, a study's " +
			"name, a bundle, or latest\n" +
			"(the default): the newest open run, else the newest run, and a rehearsal only where there is no real run.\n" +
			"--study takes all runs of a study, --all all runs. A folder or file appears only when it is whole.\n\n" +
			"csv, jsonl, parquet   tables: answers, verdicts, items, findings; with --out FILE the answers alone (- is standard output)\n" +
			formatHelp() +
			"\nWhat export writes, `assay import` reads. docs/data.md has every column.",
		RunE: func(c *cobra.Command, args []string) error { return runExport(c.Context(), w, args, f) },
	}
	f.home.Register(c)
	shell.Choice(c, &f.format, "format", formatNames(), strings.Join(formatNames(), ", "))
	c.Flags().StringVar(&f.out, "out", "", "the folder to write, or a file that ends in .csv, .jsonl or .parquet")
	c.Flags().StringVar(&f.study, "study", "", "all runs of this study")
	c.Flags().BoolVar(&f.all, "all", false, "all runs")
	c.Flags().BoolVar(&f.rehearsals, "rehearsals", false, "with --study or --all: the rehearsals instead")
	c.Flags().BoolVar(&f.json, "json", false, "with --format inspect: .json files instead of .eval")
	c.Flags().BoolVar(&f.replace, "replace", false, "replace an earlier export of this name")
	return c
}

// formatHelp lists the formats that are trees of other systems.
func formatHelp() string {
	var b strings.Builder
	for _, f := range formats.All() {
		if f.Writes != "" {
			fmt.Fprintf(&b, "%-20s  %s\n", f.Name, f.Writes)
		}
	}
	return b.String()
}

// formatNames returns the formats that can be written.
func formatNames() []string {
	var names []string
	for _, f := range formats.All() {
		if f.Name != "" {
			names = append(names, f.Name)
		}
	}
	return names
}

func runExport(ctx context.Context, w *shell.World, refs []string, f exportFlags) error {
	switch {
	case f.format == "":
		return shell.Usage(assay.ThereAre(formatNames()), "--format is missing")
	case f.out == "":
		return shell.Usage("a folder, such as --out results", "--out is missing")
	case (f.all || f.study != "") && len(refs) > 0, f.all && f.study != "":
		return shell.Usage("", "name runs, or --study, or --all")
	}
	runs, closeAll, err := f.chosen(ctx, w, refs)
	if err != nil {
		return err
	}
	defer closeAll()
	return f.write(ctx, w, runs)
}

// chosen opens the runs that the command line names, the oldest first. The second result closes them.
func (f exportFlags) chosen(ctx context.Context, w *shell.World, refs []string) ([]export.Run, func(), error) {
	var out []export.Run
	var open []*shell.Home
	closeAll := func() {
		for _, h := range open {
			h.Close()
		}
	}
	if f.all || f.study != "" {
		h, err := f.home.OpenHome(ctx, w, f.rehearsals)
		if err != nil {
			return nil, nil, err
		}
		open = append(open, h)
		runs, err := h.Ledger.Reader.Runs(ctx, f.study, store.RunOpen, store.RunClosed)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		slices.Reverse(runs)
		for _, r := range runs {
			out = append(out, exported(h, r))
		}
		if len(out) == 0 {
			closeAll()
			return nil, nil, shell.Usage("--rehearsals exports rehearsals", "there is no such run")
		}
		return out, closeAll, nil
	}
	if len(refs) == 0 {
		refs = []string{""}
	}
	for _, ref := range refs {
		h, run, err := f.home.Look(ctx, w, ref)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		open = append(open, h)
		out = append(out, exported(h, run))
	}
	return out, closeAll, nil
}

// exported returns a run as it is exported. A bundle has no bytes of providers.
func exported(h *shell.Home, run store.Run) export.Run {
	r := export.Run{Run: run, Results: h.Results(), Version: shell.Version()}
	if h.Temporary == "" {
		r.Raw = h.Files
	}
	return r
}

func (f exportFlags) write(ctx context.Context, w *shell.World, runs []export.Run) error {
	for _, r := range runs {
		if r.Rehearsal {
			fmt.Fprintf(w.Stderr, "REHEARSAL: the answers of run %s come from the simulator\n", r.ID)
		}
	}
	all := formats.All()
	form := all[slices.IndexFunc(all, func(t export.Format) bool { return t.Name == f.format })]
	if f.json {
		if form.WriteJSON == nil {
			return shell.Usage("leave it out", "--json is for --format inspect")
		}
		form.Write = form.WriteJSON
	}
	if form.WriteFile != nil && (f.out == "-" || filepath.Ext(f.out) == "."+f.format) {
		return f.file(ctx, w, form, runs)
	}
	return f.tree(ctx, w, form, runs)
}

// file writes the answers alone into one file.
func (f exportFlags) file(ctx context.Context, w *shell.World, form export.Format, runs []export.Run) error {
	if f.out == "-" {
		if form.Name == string(table.Parquet) {
			return shell.Usage("name a file", "parquet cannot go to standard output")
		}
		return form.WriteFile(ctx, w.RawOut(), runs)
	}
	file, err := folder.NewFile(w.Disk.Path(f.out), folder.Replace(f.replace))
	if err != nil {
		return inTheWay(err)
	}
	defer file.Abort()
	if err := form.WriteFile(ctx, file, runs); err != nil {
		return err
	}
	return file.Commit()
}

// tree writes a folder with the mark that says what is in it.
func (f exportFlags) tree(ctx context.Context, w *shell.World, form export.Format, runs []export.Run) error {
	t, err := folder.NewTree(w.Disk.Path(f.out), folder.Replace(f.replace))
	if err != nil {
		return inTheWay(err)
	}
	defer t.Abort()
	var none *export.NoStageError
	switch err := form.Write(ctx, t, runs); {
	case errors.As(err, &none):
		return shell.Usage("csv, jsonl and parquet write all stages", "%s", none)
	case err != nil:
		return err
	}
	if err := export.WriteMark(ctx, t, f.format, runs); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return inTheWay(err)
	}
	fmt.Fprintf(w.Stderr, "%s of %s written to %s\n", f.format, assay.Count(len(runs), "run"), f.out)
	return nil
}

func inTheWay(err error) error {
	if errors.Is(err, folder.ErrExists) {
		return shell.Usage("give another --out, or --replace", "%s", err)
	}
	return err
}
