package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/export"
	"assay/plan"
	"assay/results"
	"assay/workspace"
)

type importFlags struct {
	home            homeFlags
	format          string
	out, study, run string
	dry             bool
}

func importCommand(w *World) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:     "import --format FORMAT DIR|FILE",
		GroupID: groupTools,
		Short:   "Take in results that another program, or an export, wrote",
		Long: "Reads answers and verdicts made elsewhere into the folder of a study with `import:` stages, and loads it as a run, so that `analyse`,\n" +
			"`report`, `label` and `export` work on it. Nothing is asked and nothing is paid. What cannot be read is listed with its place; the rest is\n" +
			"taken in (exit code 3). Verdicts stand under judges called human:NAME: no model is asked for them.\n\n" +
			"csv, jsonl, parquet   the tables of `assay export`, or one table with the columns item, lane and text" +
			importHelp(),
		Args: args("DIR or FILE"),
		RunE: func(c *cobra.Command, args []string) error { return runImport(c.Context(), w, args[0], f) },
	}
	f.home.register(c)
	c.Flags().StringVar(&f.format, "format", "", strings.Join(importNames(), ", "))
	c.Flags().StringVar(&f.out, "out", "", "the folder of the study to write (default: imported-NAME)")
	c.Flags().StringVar(&f.study, "study", "", "the study's name (default: from the folder)")
	c.Flags().StringVar(&f.run, "run", "", "of tables that hold several runs, this one")
	c.Flags().BoolVar(&f.dry, "no-run", false, "write the study's folder and load nothing")
	return c
}

// importHelp lists the formats that are trees of other systems.
func importHelp() string {
	var b strings.Builder
	for _, f := range export.Formats() {
		if f.Reads != "" {
			fmt.Fprintf(&b, "\n%-20s  %s (what export --format %s writes)", f.Import, f.Reads, f.Name)
		}
	}
	return b.String()
}

// importNames are the formats that can be read.
func importNames() []string {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, f.Import)
	}
	return names
}

func runImport(ctx context.Context, w *World, from string, f importFlags) error {
	if _, err := os.Stat(w.Disk.Path(from)); err != nil {
		return usage("name a folder or a file", "import %s: %s", from, reasonOf(err))
	}
	form, err := f.reader()
	if err != nil {
		return err
	}
	name := f.study
	if name == "" {
		name = studyNameOf(from)
	}
	if f.out == "" {
		f.out = "imported-" + name
	}
	tree, err := export.NewTree(w.Disk.Path(f.out), export.Keep)
	if err != nil {
		return inTheWay(err)
	}
	defer tree.Abort()
	folder, err := export.NewFolder(tree)
	if err != nil {
		return err
	}
	t := &troubles{world: w}
	files := f.from(w, from)
	err = form.Read(ctx, files, folder.Sink(t.note))
	switch {
	case errors.Is(err, export.ErrFile):
		return usage("name the folder that the other program wrote", "%s is no folder", from)
	case errors.Is(err, export.ErrNothing) && form.Reads == "":
		return usage("an export, or a file with the columns item, lane and text", "%s has no requests.%s", from, f.format)
	case errors.Is(err, export.ErrNothing):
		return usage("assay help import shows what the formats look like", "%s holds no results of %s", from, f.format)
	case errors.Is(err, export.ErrRuns):
		return usage("choose one with --run", "%s", err)
	case err != nil:
		return fmt.Errorf("import %s: %w", from, err)
	case folder.Answers+folder.Said == 0:
		t.rest()
		return usage("", "%s: no row could be read", from)
	}
	var mark export.Mark
	if files.File == "" {
		mark = export.ReadMark(files.Files)
	}
	folder.Analyses = mark.Analyses(f.run)
	if err := folder.Close(name, "results of "+f.format+" files, imported"); err != nil {
		return err
	}
	if err := tree.Commit(); err != nil {
		return inTheWay(err)
	}
	fmt.Fprintf(w.Stderr, "%s and %s are in %s\n", assay.Count(folder.Answers, "answer"), assay.Count(folder.Said, "verdict"), f.out)
	if f.dry {
		return t.result()
	}
	err = f.load(ctx, w, folder.Rehearsal || mark.Rehearsed(), t)
	if t.n > 0 && (err == nil || exitCode(err) == exitIncomplete) {
		return t.result()
	}
	return err
}

// reader is the format that --format names.
func (f importFlags) reader() (export.Format, error) {
	all, names := export.Formats(), importNames()
	if f.format == "" {
		return export.Format{}, usage("there is "+strings.Join(names, ", "), "--format is missing")
	}
	i := slices.Index(names, f.format)
	if i < 0 {
		return export.Format{}, usage(cmp.Or(assay.DidYouMean(f.format, names), "there is "+strings.Join(names, ", ")), "no format is called %q", f.format)
	}
	return all[i], nil
}

// from names the files that are read: a folder, or one file.
func (f importFlags) from(w *World, name string) export.From {
	name = w.Disk.Path(name)
	if isFile(name) {
		return export.From{Files: os.DirFS(filepath.Dir(name)), File: filepath.Base(name), Run: f.run}
	}
	return export.From{Files: os.DirFS(name), Run: f.run}
}

// studyNameOf makes a study's name out of the name of a file or folder.
func studyNameOf(from string) string {
	base := filepath.Base(filepath.Clean(from))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c) {
			return c
		}
		return '-'
	}, base)
	if name = strings.Trim(name, ".-_"); name == "" {
		return "results"
	}
	return name
}

// troubles lists what could not be taken in, as far as a person reads it.
type troubles struct {
	world *World
	n     int
}

func (t *troubles) note(p assay.Problem) {
	if t.n++; t.n <= results.MaxProblems {
		fmt.Fprintln(t.world.Stderr, p)
	}
}

func (t *troubles) rest() {
	if t.n > results.MaxProblems {
		fmt.Fprintf(t.world.Stderr, "and %d more\n", t.n-results.MaxProblems)
	}
}

// result is the exit code of an import that left something out.
func (t *troubles) result() error {
	t.rest()
	if t.n == 0 {
		return nil
	}
	return &exitError{code: exitIncomplete, err: fmt.Errorf("%s could not be taken in", assay.Count(t.n, "thing"))}
}

// load makes a run of the folder, with its verdicts.
func (f importFlags) load(ctx context.Context, w *World, rehearsal bool, t *troubles) error {
	file := filepath.Join(f.out, export.StudyFile)
	d, problems, err := w.workspace().ReadStudy(ctx, file, workspace.StudyOptions{})
	if err != nil {
		return err
	}
	if d == nil {
		return problems
	}
	p, _, err := workspace.MakePlan(ctx, d, plan.Options{}, f.out)
	if err != nil {
		return err
	}
	h, err := f.home.open(ctx, w, rehearsal)
	if err != nil {
		return err
	}
	defer h.Close()
	begun, err := h.BeginAs(ctx, workspace.Wanted{File: file, Input: d, Plan: p, Note: "imported"}, d.Study.Study, nil)
	if err != nil {
		return err
	}
	if err := export.Load(ctx, h.Planner.Library, begun, w.Disk.Folder(f.out), t.note); err != nil {
		return err
	}
	return drive(ctx, w, h, begun, d.Study, driveOptions{quiet: true})
}
