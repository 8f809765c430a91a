package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/find/results/trend"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/study/studyfile"
)

type trendFlags struct {
	home  shell.HomeFlags
	stage string
	last  int
	json  bool
}

// usualRuns is how many runs a trend has where --last is not given.
const usualRuns = 10

// Trend makes the command `assay trend`.
func Trend(w *shell.World) *cobra.Command {
	var f trendFlags
	c := &cobra.Command{
		Use:     "trend STUDY",
		GroupID: shell.GroupDecide,
		Short:   "Print each lane over the runs of a study, and whether the judge or the model changed",
		Long: "Prints what each lane got in every closed run of a study, and what changed from one run to the next, on the items that\n" +
			"both have, adjusted over the lanes (Holm). STUDY is a study file or its name. `assay run STUDY --new` adds a run.\n\n" +
			"A change may be the judge's. A gold set tells: answers that stay the same, with people's labels, which the same judge\n" +
			"gets in every run. The judge's shift is what changed on them; the model's change is what remains, with the errors of\n" +
			"both. 300 to 400 gold answers name a shift of 5 points in 9 of 10 cases. Take answers of an earlier run: ones unlike\n" +
			"the rest, by verdicts or length, correct nothing. Their stage has the rubric, by name, and the judges of the stage\n" +
			"that it checks:\n\n" +
			"  inputs:\n" +
			"    gold: {file: gold.csv, id: item}      # item,lane,text,answer,label\n" +
			"  stages:\n" +
			"    - {name: kept, import: {file: gold.csv, of: gold, text: answer, asked: rows}}\n" +
			"    - {name: anchor, judge: kept, rubric: fine, judges: [judge], gold: gold.csv}\n\n" +
			"It is no part of the leaderboard. Answers and verdicts that a run took over from an earlier one measure nothing again.",
		Args: shell.Args("STUDY"),
		RunE: func(c *cobra.Command, args []string) error { return runTrend(c.Context(), w, args[0], f) },
	}
	f.home.Register(c)
	c.Flags().StringVar(&f.stage, "stage", "", "only this stage")
	c.Flags().IntVar(&f.last, "last", usualRuns, "at most so many runs, the newest; 0: all")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return c
}

func runTrend(ctx context.Context, w *shell.World, ref string, f trendFlags) error {
	if f.last < 0 {
		return shell.Usage("0 takes all", "--last: want 0 or more, got %d", f.last)
	}
	h, run, err := f.studyRun(ctx, w, ref)
	if err != nil {
		return err
	}
	defer h.Close()
	t, err := trend.Of(ctx, h.Results(), run, f.last)
	if err != nil {
		return err
	}
	if err := t.Only(f.stage); err != nil {
		return err
	}
	if f.json {
		err = term.WriteJSON(w.Stdout, t.JSON())
	} else {
		err = printTrend(w, t, shell.Watermark(h))
	}
	if err != nil || len(t.Runs) > 1 {
		return err
	}
	again, err := runNew(h, run, w.Disk.Path("."))
	if err != nil {
		return err
	}
	return shell.Usage(again, "%s of %s: a trend needs two", assay.Count(len(t.Runs), "closed run"), t.Study)
}

// studyRun opens the home with the newest run of a study, which is a file or a name.
func (f *trendFlags) studyRun(ctx context.Context, w *shell.World, ref string) (*shell.Home, store.Run, error) {
	file := w.Workspace().StudyFile(ref)
	if !w.Disk.IsFile(w.Disk.Path(file)) {
		return f.home.FindRun(ctx, w, ref)
	}
	dir, base := filepath.Split(file)
	st, problems := studyfile.Read(w.Disk.Folder(dir), base, studyfile.Options{})
	if st == nil {
		return nil, store.Run{}, workspace.InFolder(problems, dir)
	}
	h, run, err := f.home.FindRun(ctx, w, st.Study)
	if err != nil {
		return h, run, err
	}
	run, err = h.Results().Ledger.FindRun(ctx, st.Study, filepath.Dir(w.Disk.Path(file)))
	if errors.Is(err, store.ErrNotFound) {
		err = shell.Usage("name the study itself to see them: assay trend "+results.ShellWord(st.Study)+h.Typed,
			"the runs of %s were begun in another folder", st.Study)
	}
	if err != nil {
		h.Close()
	}
	return h, run, err
}

// runNew returns the command that runs the study of a run once more.
func runNew(h *shell.Home, run store.Run, dir string) (string, error) {
	var s snapshot.Settings
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		return "", fmt.Errorf("read the settings of run %s: %w", run.ID, err)
	}
	return h.Results().RerunWith(run, s, dir) + " --new" + h.Typed, nil
}

func printTrend(w *shell.World, t *trend.Trend, mark string) error {
	fmt.Fprintf(w.Stdout, "%s%s, %s\n", mark, assay.Clean(t.Study, 200), assay.Count(len(t.Runs), "closed run"))
	if t.Earlier > 0 {
		fmt.Fprintf(w.Stdout, "%s not shown: --last 0 takes all.\n", assay.Count(t.Earlier, "earlier run"))
	}
	if t.Open > 0 {
		fmt.Fprintf(w.Stdout, "%s left out until closed.\n", assay.Count(t.Open, "open run"))
	}
	if len(t.Stages) == 0 && len(t.Runs) > 0 {
		fmt.Fprintln(w.Stdout, "The newest run ranks no lanes.")
	}
	for i := range t.Stages {
		if err := printStageTrend(w, t, &t.Stages[i]); err != nil {
			return err
		}
	}
	return nil
}

func printStageTrend(w *shell.World, t *trend.Trend, s *trend.Stage) error {
	what := s.What
	if len(s.Labels) > 0 {
		what = "share of " + strings.Join(s.Labels, " or ")
	}
	fmt.Fprintf(w.Stdout, "\nstage %s: %s\n", assay.Clean(s.Name, 60), assay.Clean(what, 60))
	table := term.Table{Head: []string{"RUN", "DATE", "LANE", "VALUE", "95% INTERVAL", "CHANGE", "WHOSE"},
		Right: map[int]bool{3: true, 5: true}, Least: map[int]int{0: 10}, Spare: []string{"DATE"}}
	for i := range t.Runs {
		for k, lane := range s.Lanes {
			run, date := "", ""
			if k == 0 {
				run, date = t.Runs[i].ID, t.Runs[i].Created.UTC().Format(time.DateOnly)
			}
			change, whose := s.Change(i, lane)
			p := s.Points[i][k]
			table.Add(run, date, lane, shownIn(s.Unit, p.Value), spanIn(s.Unit, p.Low(), p.High()), change, whose)
		}
	}
	if err := table.Write(w.Stdout); err != nil {
		return err
	}
	say := func(text, indent string) {
		fmt.Fprintln(w.Stdout, term.Wrapped(assay.Clean(text, 2000), w.OutWidth(), indent))
	}
	fmt.Fprintln(w.Stdout)
	for i := range t.Runs {
		say(t.About(s, i), "  ")
	}
	for i := range s.Steps {
		fmt.Fprintln(w.Stdout)
		for k, line := range t.Story(s, i) {
			if k > 0 {
				line = "- " + line
			}
			say(line, "  ")
		}
	}
	return nil
}

// spanIn returns an interval in a unit; empty: there is none.
func spanIn(u analysis.Unit, low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return strings.TrimSuffix(u.Show(*low), "%") + " to " + strings.TrimSuffix(u.Show(*high), "%")
}
