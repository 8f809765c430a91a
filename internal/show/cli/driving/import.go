package driving

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/results/labels"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
	"assay/internal/show/export/formats"
	"assay/internal/show/export/studyfolder"
	"assay/internal/study/plan"
)

type importFlags struct {
	home            shell.HomeFlags
	format          string
	out, study, run string
	dry             bool

	columns            []string
	lane               string
	requests, provider string
	stage, judge       string
}

// Import makes the command `assay import`.
func Import(w *shell.World) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:     "import --format FORMAT DIR|FILE...",
		GroupID: shell.GroupTools,
		Short:   "Take in results that another program, or an export, wrote, or labels of people",
		Long: "Reads answers and verdicts made elsewhere into the folder of a study with `import:` stages, and loads it as a run, so " +
			"that `analyse`,\n" +
			"`report`, `label` and `export` work on it. Nothing is asked and nothing is paid. What cannot be read is listed with its " +
			"place; the rest is\n" +
			"taken in (exit code 3). Verdicts are those of judges called imported:NAME: nothing is sent for them. The same files once " +
			"more change nothing.\n\n" +
			"csv, jsonl, parquet   the tables of `assay export`, one of `assay batch collect`, or one table with the columns item, " +
			"lane and text;\n" +
			"                      --columns names those that are called otherwise: --columns item=custom_id,text=answer" +
			importHelp() + labelsHelp,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return shell.Usage(shell.HelpOf(c), "%s wants DIR or FILE", c.CommandPath())
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.format != labelsFormat:
				return runImport(c.Context(), w, args, f)
			case len(args) > 1:
				return shell.Usage("type it once for each", "--format labels takes one FILE")
			}
			return f.labels(c.Context(), w, args[0])
		},
	}
	f.home.Register(c)
	shell.Choice(c, &f.format, "format", importNames(), strings.Join(importNames(), ", "))
	c.Flags().StringVar(&f.out, "out", "", "the folder of the study to write (default: imported-NAME)")
	c.Flags().StringVar(&f.study, "study", "", "the study's name (default: from the folder)")
	c.Flags().StringVar(&f.run, "run", "",
		"of tables that hold several runs, this one; of labels, the run they are about (default: latest)")
	c.Flags().StringSliceVar(&f.columns, "columns", nil, "of one table: OURS=THEIRS for every column that is called otherwise")
	c.Flags().StringVar(&f.lane, "lane", "", "the lane of rows that name none; with --format batch, of all (default: the model)")
	c.Flags().StringVar(&f.requests, "requests", "",
		"with --format batch: the file that was sent, for the questions, the models, and what is missing")
	c.Flags().StringVar(&f.provider, "provider", "", "with --format batch: whose results they are (default: recognised)")
	c.Flags().StringVar(&f.stage, "stage", "", "with --format labels: the stage, where rows do not say")
	c.Flags().StringVar(&f.judge, "judge", "", "with --format labels: human:NAME, where rows do not say")
	c.Flags().BoolVar(&f.dry, "no-run", false, "write the study's folder and load nothing")
	return c
}

// importHelp lists the formats that are trees of other systems.
func importHelp() string {
	var b strings.Builder
	for _, f := range formats.All() {
		if f.Reads != "" {
			fmt.Fprintf(&b, "\n%-20s  %s", f.Import, f.Reads)
		}
		if f.Reads != "" && f.Name != "" {
			fmt.Fprintf(&b, " (what export --format %s writes)", f.Name)
		}
	}
	return b.String()
}

// importNames returns the formats that can be read.
func importNames() []string {
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.Import)
	}
	return append(names, labelsFormat)
}

func runImport(ctx context.Context, w *shell.World, names []string, f importFlags) error {
	for i, name := range names {
		_, err := w.Disk.Stat(name)
		if err == nil {
			names[i], err = w.Disk.Pinned(name)
		}
		if err != nil {
			return shell.Unread(err, "name a folder or a file", "import %s: %s", name, assay.FileReason(err))
		}
	}
	form, err := f.reader()
	if err != nil {
		return err
	}
	files, err := f.from(w, names)
	if err != nil {
		return err
	}
	name := f.study
	if name == "" {
		name = studyNameOf(names[0])
	}
	if f.out == "" {
		f.out = "imported-" + name
	}
	tree, err := folder.Beside(w.Disk.Path(f.out))
	if err != nil {
		return err
	}
	defer tree.Abort()
	folder, err := studyfolder.New(tree)
	if err != nil {
		return err
	}
	t := &troubles{world: w}
	sink := folder.Sink(t.note)
	sink.Note = func(text string) { fmt.Fprintln(w.Stderr, text) }
	if err := f.readError(form.Read(ctx, files, sink), form, names[0]); err != nil {
		return err
	}
	if folder.Answers+folder.Verdicts+folder.Failed.Sum() == 0 {
		t.rest()
		return shell.Usage("", "%s: no row could be read", names[0])
	}
	var mark export.Mark
	if files.File == "" && len(files.Sources) == 0 {
		mark = export.ReadMark(files.Files)
	}
	folder.Analyses = mark.Analyses(f.run)
	if err := folder.Close(name, "results of "+f.format+" files, imported"); err != nil {
		return err
	}
	if err := f.keep(w, tree, folder); err != nil {
		return err
	}
	if f.dry {
		return t.result()
	}
	err = f.load(ctx, w, folder.Rehearsal || mark.Rehearsed(), t)
	if t.n > 0 && (err == nil || shell.ExitCode(err) == shell.ExitIncomplete) {
		return t.result()
	}
	return err
}

// readError returns in words why files could not be read.
func (f importFlags) readError(err error, form export.Format, from string) error {
	var column *formats.ColumnError
	switch {
	case errors.As(err, &column):
		return shell.Usage(column.Hint, "%s", column)
	case errors.Is(err, export.ErrFile):
		return shell.Usage("name the folder that the other program wrote", "%s is not a folder", from)
	case errors.Is(err, export.ErrNothing) && form.Reads == "":
		return shell.Usage("an export, or a file with the columns item, lane and text", "%s has no answers.%s", from, f.format)
	case errors.Is(err, export.ErrNothing):
		return shell.Usage("assay help import shows what the formats look like", "%s holds no results of %s", from, f.format)
	case errors.Is(err, export.ErrRuns):
		return shell.Usage("choose one with --run", "%s", err)
	case err != nil:
		return fmt.Errorf("import %s: %w", from, err)
	}
	return nil
}

// keep gives the folder its name, and prints what it holds. Where the same is there already, that is left as it is.
func (f importFlags) keep(w *shell.World, tree *folder.Tree, made *studyfolder.Folder) error {
	same, err := tree.Same(made.Data())
	if err != nil {
		return err
	}
	if same {
		fmt.Fprintf(w.Stderr, "%s has the same already\n", f.out)
		return nil
	}
	if err := tree.Commit(); errors.Is(err, folder.ErrExists) {
		return shell.Usage("give another --out", "%s", err)
	} else if err != nil {
		return err
	}
	if n := made.Failed.Sum(); n > 0 {
		fmt.Fprintf(w.Stderr, "%s: %s\n", noAnswers(n), made.Failed)
	}
	fmt.Fprintf(w.Stderr, "%s and %s are in %s\n", assay.Count(made.Answers, "answer"), assay.Count(made.Verdicts, "verdict"), f.out)
	return nil
}

func noAnswers(n int64) string {
	if n == 1 {
		return "1 row is no answer"
	}
	return assay.Thousands(n) + " rows are no answers"
}

// reader returns the format that --format names.
func (f importFlags) reader() (export.Format, error) {
	all, names := formats.All(), importNames()
	if f.format == "" {
		return export.Format{}, shell.Usage(assay.ThereAre(names), "--format is missing")
	}
	return all[slices.Index(names, f.format)], nil
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
	world *shell.World
	n     int
}

func (t *troubles) note(p assay.Problem) {
	if t.n++; t.n <= labels.MaxProblems {
		fmt.Fprintln(t.world.Stderr, p)
	}
}

func (t *troubles) rest() {
	if t.n > labels.MaxProblems {
		fmt.Fprintf(t.world.Stderr, "and %d more\n", t.n-labels.MaxProblems)
	}
}

// result is the exit code of an import that left something out.
func (t *troubles) result() error {
	t.rest()
	if t.n == 0 {
		return nil
	}
	return &shell.ExitError{Code: shell.ExitIncomplete, Err: fmt.Errorf("%s could not be taken in", assay.Count(t.n, "thing"))}
}

// load makes a run of the folder, with its verdicts.
func (f importFlags) load(ctx context.Context, w *shell.World, rehearsal bool, t *troubles) error {
	file := filepath.Join(f.out, studyfolder.StudyFile)
	d, problems, err := w.Workspace().ReadStudy(ctx, file, workspace.StudyOptions{})
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
	h, err := f.home.OpenHome(ctx, w, rehearsal)
	if err != nil {
		return err
	}
	defer h.Close()
	want := workspace.Wanted{File: file, Input: d, Plan: p, Note: "imported"}
	begun, was, err := h.Imported(ctx, want)
	if err != nil {
		return err
	}
	note := t.note
	switch {
	case was && begun.State == store.RunClosed:
		fmt.Fprintf(w.Stderr, "it was imported before, as run %s, and nothing was changed\n", begun.ID)
		return nil
	case was: // it was interrupted: what it has already is no trouble
		note = func(assay.Problem) {}
	default:
		if begun, err = h.BeginAs(ctx, want, d.Study.Study, nil); err != nil {
			return err
		}
	}
	if err := studyfolder.Load(ctx, h.Planner.Library, begun, w.Disk.Folder(f.out), note); err != nil {
		return err
	}
	return Drive(ctx, w, h, begun, d.Study, DriveOptions{Quiet: true})
}
