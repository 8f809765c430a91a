package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay"
	"assay/export"
	"assay/store"
)

type exportFlags struct {
	home       homeFlags
	study      string
	format     string
	out        string
	all        bool
	rehearsals bool
	replace    bool
}

func exportCommand(w *World) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:     "export [RUN...] --format FORMAT --out DIR",
		GroupID: groupDecide,
		Short:   "Write the results of runs as files for other programs",
		Long: "Writes requests, verdicts and items of runs: one tidy row each. RUN is an id, the beginning of one, a study's name, a bundle, or latest\n" +
			"(the default); --study takes all runs of a study, --all all runs. A folder or file appears only when it is whole.\n\n" +
			"csv, jsonl, parquet   tables: requests, verdicts, items; with --out FILE the requests alone (- is standard output)\n" +
			formatHelp() +
			"\nWhat export writes, `assay import` reads. docs/export.md has every column.",
		RunE: func(c *cobra.Command, args []string) error { return runExport(c.Context(), w, args, f) },
	}
	f.home.register(c)
	c.Flags().StringVar(&f.format, "format", "", "csv, jsonl, parquet"+moreFormats())
	c.Flags().StringVar(&f.out, "out", "", "the folder to write, or a file that ends in .csv, .jsonl or .parquet")
	c.Flags().StringVar(&f.study, "study", "", "all runs of this study")
	c.Flags().BoolVar(&f.all, "all", false, "all runs")
	c.Flags().BoolVar(&f.rehearsals, "rehearsals", false, "with --study or --all: the rehearsals instead")
	c.Flags().BoolVar(&f.replace, "replace", false, "replace an earlier export of this name")
	return c
}

// foreignFormat is a tree of another system.
type foreignFormat struct {
	name, help string
	write      func(ctx context.Context, t *export.Tree, runs []exported) error
}

// foreignFormats lists the trees of other systems; adding one is one line.
func foreignFormats() []foreignFormat {
	return []foreignFormat{
		{"registry", "comparisons as the pairwise system keeps them: run_manifest.csv, jobs_registry.csv, results, combined_all_runs.csv", writeRegistry},
		{"by-group", "answers, compliance and rankings by statement, as the specification system keeps them", writeGroups},
		{"conversations", "conversations by model with scores and a log of batches, as the sycophancy system keeps them", writeConversations},
	}
}

func formatHelp() string {
	var b strings.Builder
	for _, f := range foreignFormats() {
		fmt.Fprintf(&b, "%-20s  %s\n", f.name, f.help)
	}
	return b.String()
}

func moreFormats() string {
	var b strings.Builder
	for _, f := range foreignFormats() {
		b.WriteString(", " + f.name)
	}
	return b.String()
}

func runExport(ctx context.Context, w *World, refs []string, f exportFlags) error {
	var names []string
	for _, t := range export.Formats() {
		names = append(names, string(t))
	}
	for _, t := range foreignFormats() {
		names = append(names, t.name)
	}
	switch {
	case f.format == "":
		return usage("there is "+strings.Join(names, ", "), "--format is missing")
	case !slices.Contains(names, f.format):
		return usage(cmpOr(assay.DidYouMean(f.format, names), "there is "+strings.Join(names, ", ")), "no format is called %q", f.format)
	case f.out == "":
		return usage("a folder, such as --out results", "--out is missing")
	case (f.all || f.study != "") && len(refs) > 0, f.all && f.study != "":
		return usage("", "name runs, or --study, or --all")
	}
	runs, closeAll, err := f.chosen(ctx, w, refs)
	if err != nil {
		return err
	}
	defer closeAll()
	return f.write(ctx, w, runs)
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// exported is one run to export.
type exported struct {
	h   *home
	run store.Run
}

// chosen opens the runs that the command line names, the oldest first. The second result closes them.
func (f exportFlags) chosen(ctx context.Context, w *World, refs []string) ([]exported, func(), error) {
	var out []exported
	var open []*home
	closeAll := func() {
		for _, h := range open {
			h.Close()
		}
	}
	if f.all || f.study != "" {
		h, err := f.home.open(ctx, w, f.rehearsals)
		if err != nil {
			return nil, nil, err
		}
		open = append(open, h)
		runs, err := h.ledger.Runs(ctx, f.study, store.RunOpen, store.RunClosed)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		slices.Reverse(runs)
		for _, r := range runs {
			out = append(out, exported{h, r})
		}
		if len(out) == 0 {
			closeAll()
			return nil, nil, usage("--rehearsals exports rehearsals", "there is no such run")
		}
		return out, closeAll, nil
	}
	if len(refs) == 0 {
		refs = []string{""}
	}
	for _, ref := range refs {
		h, run, err := f.home.look(ctx, w, ref)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		open = append(open, h)
		out = append(out, exported{h, run})
	}
	return out, closeAll, nil
}

func (f exportFlags) write(ctx context.Context, w *World, runs []exported) error {
	for _, e := range runs {
		if e.run.Rehearsal {
			fmt.Fprintf(w.Stderr, "REHEARSAL: the answers of run %s come from the simulator\n", e.run.ID)
		}
	}
	for _, t := range foreignFormats() {
		if t.name == f.format {
			return f.tree(ctx, w, runs, func(tree *export.Tree) error { return t.write(ctx, tree, runs) })
		}
	}
	form := export.Format(f.format)
	if f.out == "-" || filepath.Ext(f.out) == "."+f.format {
		return f.single(ctx, w, form, runs)
	}
	return f.tree(ctx, w, runs, func(tree *export.Tree) error { return writeTables(ctx, tree, form, runs) })
}

// single writes the requests alone into one file.
func (f exportFlags) single(ctx context.Context, w *World, form export.Format, runs []exported) error {
	if f.out == "-" {
		if form == export.Parquet {
			return usage("name a file", "parquet cannot go to standard output")
		}
		return writeTable(w.Stdout, form, runs, func(e exported) rowsOf[export.Request] { return e.requests(ctx) })
	}
	file, err := export.NewFile(w.Disk.Path(f.out), export.Replace(f.replace))
	if err != nil {
		return inTheWay(err)
	}
	defer file.Abort()
	if err := writeTable(file, form, runs, func(e exported) rowsOf[export.Request] { return e.requests(ctx) }); err != nil {
		return err
	}
	return file.Commit()
}

// tree writes a folder with the mark that says what is in it.
func (f exportFlags) tree(ctx context.Context, w *World, runs []exported, write func(*export.Tree) error) error {
	t, err := export.NewTree(w.Disk.Path(f.out), export.Replace(f.replace))
	if err != nil {
		return inTheWay(err)
	}
	defer t.Abort()
	if err := write(t); err != nil {
		return err
	}
	if err := writeMark(ctx, t, f.format, runs); err != nil {
		return err
	}
	if err := t.Commit(); err != nil {
		return inTheWay(err)
	}
	fmt.Fprintf(w.Stderr, "%s of %s written to %s\n", f.format, assay.Count(len(runs), "run"), f.out)
	return nil
}

func inTheWay(err error) error {
	if errors.Is(err, export.ErrExists) {
		return usage("give another --out, or --replace", "%s", err)
	}
	return err
}

func writeTables(ctx context.Context, t *export.Tree, form export.Format, runs []exported) error {
	if err := writeFile(t, "requests", form, runs, func(e exported) rowsOf[export.Request] { return e.requests(ctx) }); err != nil {
		return err
	}
	if err := writeFile(t, "verdicts", form, runs, func(e exported) rowsOf[export.Verdict] { return e.verdicts(ctx) }); err != nil {
		return err
	}
	return writeFile(t, "items", form, runs, func(e exported) rowsOf[export.Item] { return e.items(ctx) })
}

func writeFile[T any](t *export.Tree, name string, form export.Format, runs []exported, rows func(exported) rowsOf[T]) error {
	file, err := t.Create(name + "." + string(form))
	if err != nil {
		return err
	}
	return errors.Join(writeTable(file, form, runs, rows), file.Close())
}

func writeTable[T any](w io.Writer, form export.Format, runs []exported, rows func(exported) rowsOf[T]) error {
	table, err := export.NewTable[T](form, w)
	if err != nil {
		return err
	}
	for _, e := range runs {
		for row, err := range rows(e) {
			if err != nil {
				return fmt.Errorf("export run %s: %w", e.run.ID, err)
			}
			if err := table.Write(row); err != nil {
				return fmt.Errorf("export run %s: %w", e.run.ID, err)
			}
		}
	}
	return table.Close()
}

// exportMark says what a folder holds.
type exportMark struct {
	Format string        `json:"format"`
	Runs   []exportedRun `json:"runs"`
}

type exportedRun struct {
	Run       string `json:"run"`
	Study     string `json:"study"`
	Rehearsal bool   `json:"rehearsal"`
	State     string `json:"state"`
	Result    string `json:"result"` // empty: still open
	Created   string `json:"created"`
	Note      string `json:"note"`

	Analyses []export.Analysis `json:"analyses"` // those that the study declares
}

func writeMark(ctx context.Context, t *export.Tree, format string, runs []exported) error {
	mark := exportMark{Format: format}
	for _, e := range runs {
		one := exportedRun{
			Run: e.run.ID, Study: e.run.Study, Rehearsal: e.run.Rehearsal, State: string(e.run.State), Result: string(e.run.Result),
			Created: e.run.Created.UTC().Format(time.RFC3339), Note: e.run.Note, Analyses: []export.Analysis{},
		}
		st, err := e.h.planner.Study(ctx, e.run)
		if err != nil {
			return err
		}
		for _, a := range st.Analyses {
			one.Analyses = append(one.Analyses, export.Analysis{Of: a.Of, Method: a.Method, By: a.By.List, Where: a.Filter.Source, Primary: a.Primary})
		}
		mark.Runs = append(mark.Runs, one)
	}
	return writeDocument(t, export.Mark, mark)
}

// writeDocument writes one JSON file of a tree.
func writeDocument(t *export.Tree, name string, v any) error {
	file, err := t.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(writeJSON(file, v), file.Close())
}
