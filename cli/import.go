package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/export"
	"assay/plan"
	"assay/results"
	"assay/store"
	"assay/waves"
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
			"`report`, `label` and `export` work on it. Nothing is asked and nothing is paid. What cannot be read is told with its place; the rest is taken\n" +
			"in (exit code 3). Verdicts stand under judges called human:NAME: nobody is asked for them.\n\n" +
			"csv, jsonl, parquet   the tables of `assay export`, or one table with the columns item, lane and text\n" +
			"speceval              generations, compliance, ratings and rankings by statement (what export --format by-group writes)\n" +
			"sycobench             conversations by model, scores of judges (what export --format conversations writes)\n" +
			"pairwisellm           results of comparisons (what export --format registry writes)",
		Args: args("DIR or FILE"),
		RunE: func(c *cobra.Command, args []string) error { return runImport(c.Context(), w, args[0], f) },
	}
	f.home.register(c)
	c.Flags().StringVar(&f.format, "format", "", "csv, jsonl, parquet, speceval, sycobench, pairwisellm")
	c.Flags().StringVar(&f.out, "out", "", "the folder of the study to write (default: imported-NAME)")
	c.Flags().StringVar(&f.study, "study", "", "the study's name (default: from the folder)")
	c.Flags().StringVar(&f.run, "run", "", "of tables that hold several runs, this one")
	c.Flags().BoolVar(&f.dry, "no-run", false, "write the study's folder and load nothing")
	return c
}

// importFormat is a form in which results come.
type importFormat struct {
	name string
	take func(ctx context.Context, tree fs.FS, t *export.Take) error
}

// importFormats lists the trees of other systems; adding one is one line.
func importFormats() []importFormat {
	return []importFormat{{"speceval", export.SpecEval}, {"sycobench", export.SycoBench}, {"pairwisellm", export.PairwiseLLM}}
}

func runImport(ctx context.Context, w *World, from string, f importFlags) error {
	if _, err := os.Stat(w.Disk.Path(from)); err != nil {
		return usage("name a folder or a file", "import %s: %s", from, reasonOf(err))
	}
	take, err := f.taker(w, from)
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
	err = take(ctx, folder.Take(t.note))
	switch {
	case errors.Is(err, export.ErrNothing):
		return usage("assay help import tells what the formats look like", "%s holds no results of %s", from, f.format)
	case errors.Is(err, export.ErrRuns):
		return usage("choose one with --run", "%s", err)
	case err != nil:
		return fmt.Errorf("import %s: %w", from, err)
	case folder.Answers+folder.Said == 0:
		t.rest()
		return usage("", "%s: no row could be read", from)
	}
	mark := markIn(w, from)
	folder.Analyses = mark.analyses(f.run)
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
	err = f.load(ctx, w, folder.Rehearsal || mark.rehearsed(), t)
	if t.n > 0 && (err == nil || exitCode(err) == exitIncomplete) {
		return t.result()
	}
	return err
}

// markIn is what an export says about itself; of any other folder, nothing.
func markIn(w *World, from string) (mark exportMark) {
	text, err := os.ReadFile(filepath.Join(w.Disk.Path(from), export.Mark))
	if err != nil || json.Unmarshal(text, &mark) != nil {
		return exportMark{}
	}
	return mark
}

// rehearsed tells whether a folder is the export of a rehearsal, which never becomes a run like any other.
func (m exportMark) rehearsed() bool {
	return slices.ContainsFunc(m.Runs, func(r exportedRun) bool { return r.Rehearsal })
}

// analyses are those that the study of a run declares, where the folder holds one run or it is named.
func (m exportMark) analyses(run string) []export.Analysis {
	for _, r := range m.Runs {
		if r.Run == run || run == "" && len(m.Runs) == 1 {
			return r.Analyses
		}
	}
	return nil
}

// taker is how the files are read.
func (f importFlags) taker(w *World, from string) (func(context.Context, *export.Take) error, error) {
	var names []string
	for _, form := range importFormats() {
		names = append(names, form.name)
		if form.name != f.format {
			continue
		}
		if !w.Disk.isFolder(w.Disk.Path(from)) {
			return nil, usage("name the folder that the other program wrote", "%s is no folder", from)
		}
		return func(ctx context.Context, t *export.Take) error { return form.take(ctx, os.DirFS(w.Disk.Path(from)), t) }, nil
	}
	form := export.Format(f.format)
	for _, known := range export.Formats() {
		names = append(names, string(known))
	}
	if !slices.Contains(export.Formats(), form) {
		if f.format == "" {
			return nil, usage("there is "+strings.Join(names, ", "), "--format is missing")
		}
		return nil, usage(cmpOr(assay.DidYouMean(f.format, names), "there is "+strings.Join(names, ", ")), "no format is called %q", f.format)
	}
	dir, files := w.Disk.Path(from), export.TableFiles{Run: f.run}
	table := func(name string) string {
		if name += "." + f.format; isFile(filepath.Join(dir, name)) {
			return name
		}
		return ""
	}
	if isFile(dir) {
		dir, files.Requests = filepath.Dir(dir), filepath.Base(dir)
	} else {
		files.Requests, files.Verdicts, files.Items = table("requests"), table("verdicts"), table("items")
	}
	if files.Requests == "" {
		return nil, usage("an export, or a file with the columns item, lane and text", "%s has no requests.%s", from, f.format)
	}
	return func(ctx context.Context, t *export.Take) error {
		return export.Tables(ctx, form, os.DirFS(dir), files, t)
	}, nil
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

// troubles tells what could not be taken in, as far as a person reads it.
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
	d, problems, err := openStudy(w, file, studyFlags{})
	if err != nil {
		return err
	}
	if d == nil {
		return problems
	}
	p, _, err := makePlan(ctx, d, plan.Options{}, f.out)
	if err != nil {
		return err
	}
	h, err := f.home.open(ctx, w, rehearsal)
	if err != nil {
		return err
	}
	defer h.Close()
	digest, err := studyDigest(ctx, w, d, file)
	if err != nil {
		return err
	}
	run := store.NewRun{Study: d.Study.Study, Digest: digest, Note: "imported", Rehearsal: rehearsal}
	begun, err := begin(ctx, w, h, waves.Beginning{Run: run, Desk: d, Plan: p}, file, studyFlags{})
	if err != nil {
		return err
	}
	if err := f.verdicts(ctx, w, h, begun, t); err != nil {
		return err
	}
	return drive(ctx, w, h, begun, d.Study, driveOptions{quiet: true})
}

// verdictBlock is how many verdicts are written at once.
const verdictBlock = 500

// verdicts writes the verdicts of the folder into the ledger.
func (f importFlags) verdicts(ctx context.Context, w *World, h *home, run store.Run, t *troubles) error {
	placing := map[string]func(waves.Told) (store.Verdict, error){}
	var block []store.Verdict
	flush := func() error {
		if len(block) == 0 {
			return nil
		}
		n, err := h.ledger.AddVerdicts(ctx, block)
		if err == nil && n < int64(len(block)) {
			t.note(assay.Problem{What: fmt.Sprintf("%s said what another had said before", assay.Count(int64(len(block))-n, "verdict"))})
		}
		block = block[:0]
		return err
	}
	tree := w.Disk.Folder(f.out)
	for row, err := range export.Rows[export.Verdict](ctx, export.JSONL, tree, export.VerdictsFile, t.note) {
		if err != nil {
			return err
		}
		place, ok := placing[row.Stage]
		if !ok {
			if place, err = h.planner.Placing(ctx, run, row.Stage); err != nil {
				return err
			}
			placing[row.Stage] = place
		}
		v, err := place(toldOf(row))
		if err != nil {
			t.note(assay.Problem{What: fmt.Sprintf("verdict of %s on %s: %s", row.Judge, cmpOr(row.Item, row.First), err)})
			continue
		}
		if block = append(block, v); len(block) == verdictBlock {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func toldOf(row *export.Verdict) waves.Told {
	told := waves.Told{
		Source: row.Source, Item: row.Item, Lane: row.Lane, First: row.First, Second: row.Second, Template: row.Template, Prompt: row.Prompt, Trait: row.Trait,
		Branch: row.Branch, Turn: int(row.Turn), Draw: int(row.Draw), Vote: int(row.Vote), Judge: row.Judge,
		Said: assay.Verdict{State: assay.VerdictState(row.State), Label: row.Label, Score: row.Score, Explanation: row.Reason, Fields: []byte(row.Fields)},
	}
	if row.Confidence != nil && row.Fields == "" {
		told.Said.Fields = fmt.Appendf(nil, `{"confidence":%g}`, *row.Confidence)
	}
	return told
}
