package driving

import (
	"cmp"
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results/labels"
	"assay/internal/show/cli/shell"
)

// labelsFormat is the format of people's labels: they go into a run that is there, and make none.
const labelsFormat = "labels"

const labelsHelp = "\n\nWith --format labels, FILE is a table of labels that people gave to answers of a run that is here, one row " +
	"each: verdicts of human:NAME.\n" +
	"A row names what it is about by `key` (of the answer, or of a judge's request about it), or by `item` and `lane` and, where " +
	"several answers\n" +
	"share these, `turn`, `branch`, `template` and `draw`; of a pair by `a` and `b` as they were shown (lanes, or items), and `trait`. " +
	"What was said\n" +
	"stands in `label` (for a pair a, b, tie or a name; `winner` is taken too) or `score`; `state` is valid where it is left out, else " +
	"abstained,\n" +
	"malformed, failed, missing or excluded. `explanation`, `confidence`, `judge` and `stage` may stand beside. Labels of a random " +
	"sample correct\n" +
	"the judge's numbers if a column `probability` has the chance, above 0 and at most 1, with which each answer was drawn. Rows that " +
	"mean nothing\n" +
	"in the run, or too much, are listed with their lines; the others are written (exit code 3). Reading the same file again changes " +
	"nothing; a\n" +
	"label that changed takes the place of the old one."

// labels takes in what people said about answers of a run.
func (f importFlags) labels(ctx context.Context, w *shell.World, name string) error {
	h, run, err := f.home.FindRun(ctx, w, f.run)
	if err != nil {
		return err
	}
	defer h.Close()
	rows, err := readLabels(w, name)
	if err != nil {
		return err
	}
	var problems assay.Problems
	byStage := map[string][]*labels.Label{}
	for i := range rows {
		r := &rows[i]
		r.Stage = cmp.Or(r.Stage, f.stage)
		if r.Judge, err = labels.Person(cmp.Or(r.Judge, f.judge)); err != nil {
			problems.Add(r.At, "--judge human:NAME, or a column judge", "no judge is named")
			continue
		}
		if r.Stage == "" {
			problems.Add(r.At, "--stage NAME, or a column stage", "no stage is named")
			continue
		}
		byStage[r.Stage] = append(byStage[r.Stage], r)
	}
	var all []labels.Labelled
	for stage, of := range byStage {
		people, err := h.Planner.People(ctx, run, stage)
		if err != nil {
			return shell.Usage("assay status "+run.ID+" lists the stages", "%s: %s", of[0].At, err)
		}
		found, err := labels.Match(ctx, h.Results(), run, people, of, &problems)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	n, err := labels.Write(ctx, h.Results(), run, all)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stdout, "%s: %d new, %d changed, %d as before\n", assay.Count(len(all), "label"), n.New, n.Changed, n.Same)
	if len(problems) == 0 {
		return nil
	}
	for _, p := range problems[:min(len(problems), labels.MaxProblems)] {
		fmt.Fprintln(w.Stderr, p)
	}
	return &shell.ExitError{Code: shell.ExitIncomplete,
		Err: fmt.Errorf("%d of %s not taken in", len(rows)-len(all), assay.Count(len(rows), "row"))}
}

func readLabels(w *shell.World, name string) ([]labels.Label, error) {
	f, err := w.Disk.Open(name)
	if err != nil {
		return nil, shell.Unread(err, "name a .csv, .tsv or .jsonl file", "read labels: %s: %s", name, assay.FileReason(err))
	}
	defer f.Close()
	return labels.Read(f, name)
}
