package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/analysis"
	"assay/judge"
	"assay/store"
	"assay/waves"
)

type verdictFlags struct {
	home              homeFlags
	run, stage, judge string
}

func verdictsCommand(w *World) *cobra.Command {
	c := &cobra.Command{
		Use:     "verdicts",
		GroupID: groupDecide,
		Short:   "Take in what people said about answers",
		RunE: func(c *cobra.Command, args []string) error {
			return usage("assay verdicts import FILE", "verdicts wants a command")
		},
	}
	var f verdictFlags
	in := &cobra.Command{
		Use:   "import FILE",
		Short: "Take in people's labels from a CSV or JSON Lines file",
		Long: "Reads labels that people gave, one row each, as verdicts of human:NAME. A row names what it is about by `key` (of the answer, or of a\n" +
			"judge's request about it), or by `item` and `lane` and, where several answers share these, `turn`, `branch`, `template` and `draw`;\n" +
			"of a pair by `a` and `b` as they were shown (lanes, or items), and `trait`. What was said stands in `label` (for a pair a, b, tie or a\n" +
			"name; `winner` is taken too) or `score`; `state` is valid where it is left out, else abstained, malformed, failed, missing or excluded.\n" +
			"`explanation`, `confidence`, `judge` and `stage` may stand beside. Rows that mean nothing in the run, or too much, are told with their\n" +
			"lines; the others are written (exit code 3). Reading the same file again changes nothing; a label that changed takes the place of\n" +
			"the old one.",
		Args: args("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return importVerdicts(c.Context(), w, args[0], f) },
	}
	f.home.register(in)
	in.Flags().StringVar(&f.run, "run", "", "the run (default: latest)")
	in.Flags().StringVar(&f.stage, "stage", "", "the stage, where rows do not say")
	in.Flags().StringVar(&f.judge, "judge", "", "human:NAME, where rows do not say")
	c.AddCommand(in)
	return c
}

func importVerdicts(ctx context.Context, w *World, name string, f verdictFlags) error {
	h, run, err := f.home.find(ctx, w, f.run)
	if err != nil {
		return err
	}
	defer h.Close()
	rows, err := readLabels(w.Disk.Path(name), name)
	if err != nil {
		return err
	}
	var problems assay.Problems
	byStage := map[string][]*labelRow{}
	for i := range rows {
		r := &rows[i]
		r.stage = cmp.Or(r.stage, f.stage)
		if r.judge, err = personOf(cmp.Or(r.judge, f.judge)); err != nil {
			problems.Add(r.at, "--judge human:NAME, or a column judge", "whose label is this?")
			continue
		}
		if r.stage == "" {
			problems.Add(r.at, "--stage NAME, or a column stage", "of which stage is this?")
			continue
		}
		byStage[r.stage] = append(byStage[r.stage], r)
	}
	var all []labelled
	for stage, of := range byStage {
		people, err := h.planner.People(ctx, run, stage)
		if err != nil {
			return usage("assay status "+run.ID+" lists the stages", "%s: %s", of[0].at, err)
		}
		found, err := matchLabels(ctx, h, run, people, of, &problems)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	if err := writeLabels(ctx, w, h, run, all); err != nil || len(problems) == 0 {
		return err
	}
	for _, p := range problems[:min(len(problems), maxProblems)] {
		fmt.Fprintln(w.Stderr, p)
	}
	return &exitError{code: exitIncomplete, err: fmt.Errorf("%d of %s not taken in", len(rows)-len(all), assay.Count(len(rows), "row"))}
}

// labelled is a row and what it is in the ledger.
type labelled struct {
	people  *waves.People
	verdict store.Verdict
}

// matchLabels finds what each row is about. What is unknown, or means several answers, is a problem.
func matchLabels(ctx context.Context, h *home, run store.Run, people *waves.People, rows []*labelRow, problems *assay.Problems) ([]labelled, error) {
	reading, err := h.planner.Readings(ctx, run, rows[0].stage)
	if err != nil {
		return nil, err
	}
	byKey, byItem, anywhere := indexed(rows)
	for t, err := range people.Tasks(ctx) {
		if err != nil {
			return nil, err
		}
		if len(byKey) > 0 {
			names, err := people.Names(t)
			if err != nil {
				return nil, err
			}
			for _, n := range names {
				for _, r := range byKey[n.Key] {
					r.take(t, n.Turn)
				}
			}
		}
		if len(byItem[t.At.Item]) == 0 && len(anywhere) == 0 {
			continue
		}
		of, err := reading(t.At)
		if err != nil {
			return nil, err
		}
		for _, r := range slices.Concat(byItem[t.At.Item], anywhere) {
			if turn, ok := r.means(t, of); ok {
				r.take(t, turn)
			}
		}
	}
	var out []labelled
	for _, r := range rows {
		if v, ok := r.settle(people, problems); ok {
			out = append(out, labelled{people, v})
		}
	}
	return out, nil
}

// indexed finds rows by key or item; those that compare items with each other may be met anywhere.
func indexed(rows []*labelRow) (byKey map[assay.Key][]*labelRow, byItem map[string][]*labelRow, anywhere []*labelRow) {
	byKey, byItem = map[assay.Key][]*labelRow{}, map[string][]*labelRow{}
	for _, r := range rows {
		switch {
		case r.key != nil:
			byKey[*r.key] = append(byKey[*r.key], r)
		case r.item != "":
			byItem[r.item] = append(byItem[r.item], r)
		default:
			anywhere = append(anywhere, r)
		}
	}
	return byKey, byItem, anywhere
}

// take notes that a row means a task.
func (r *labelRow) take(t analysis.Task, turn bool) {
	if r.found > 0 && r.task.ID == t.ID {
		return // the same under another name
	}
	r.found++
	t.Turn = turn
	r.task = t
}

// means tells whether the coordinates that a row gives are those of a task, and which way round.
func (r *labelRow) means(t analysis.Task, of waves.Reading) (turn, ok bool) {
	is := func(want *string, got string) bool { return want == nil || *want == got }
	if of.Second == "" {
		ok = r.lane != "" && r.lane == t.At.Lane && is(r.branch, t.At.Branch)
	} else {
		turn = r.a == of.Second
		ok = r.a != r.b && (r.a == of.First && r.b == of.Second || r.a == of.Second && r.b == of.First)
		ok = ok && (of.Items || is(r.branch, t.At.Branch)) && is(r.trait, of.Trait)
	}
	number := func(want *int, got int) bool { return want == nil || *want == got }
	return turn, ok && is(r.template, of.Template) && number(r.turn, t.At.Turn) && number(r.draw, of.Draw)
}

// settle is the verdict that a row gives.
func (r *labelRow) settle(people *waves.People, problems *assay.Problems) (store.Verdict, bool) {
	switch {
	case r.found == 0:
		problems.Add(r.at, "assay results RUN --json lists the answers", "stage %s has nothing like this", r.stage)
		return store.Verdict{}, false
	case r.found > 1:
		problems.Add(r.at, "say turn, branch, template, trait or draw too", "this may be about %d answers of stage %s", r.found, r.stage)
		return store.Verdict{}, false
	}
	said, err := r.said(people.Rubric())
	if err == nil && said.State == assay.VerdictMalformed && r.state == "" {
		err = fmt.Errorf("%s", said.Why)
	}
	if err != nil {
		problems.Add(r.at, labelsOf(people.Rubric()), "%s", err)
		return store.Verdict{}, false
	}
	v, err := people.Verdict(r.task, r.judge, said)
	if err != nil {
		problems.Add(r.at, "", "%s", err)
	}
	return v, err == nil
}

// said is what the row says under the rubric.
func (r *labelRow) said(rubric judge.Rubric) (assay.Verdict, error) {
	if r.state != "" && r.state != assay.VerdictValid {
		return assay.Verdict{State: r.state, Why: r.explanation}, nil
	}
	label := r.label
	if r.a != "" && label != assay.LabelA && label != assay.LabelB {
		switch label {
		case r.a:
			label = assay.LabelA
		case r.b:
			label = assay.LabelB
		}
	}
	if label == "" && r.score == nil {
		return assay.Verdict{}, fmt.Errorf("there is neither a label nor a score")
	}
	return rubric.Take(judge.Said{Label: label, Score: r.score, Explanation: r.explanation, Confidence: r.confidence}), nil
}

func labelsOf(r judge.Rubric) string {
	var names []string
	for _, l := range r.Labels {
		names = append(names, l.Name)
	}
	if len(names) == 0 {
		return ""
	}
	return "there is " + strings.Join(names, ", ")
}

// writeLabels writes what is new or has changed.
func writeLabels(ctx context.Context, w *World, h *home, run store.Run, all []labelled) error {
	there := map[assay.Key]store.Verdict{}
	for v, err := range h.ledger.Verdicts(ctx, run.No, "") {
		if err != nil {
			return err
		}
		if strings.HasPrefix(v.At.Judge, waves.PersonPrefix) {
			there[v.At.Key()] = v
		}
	}
	var fresh, changed, same int
	for _, l := range all {
		before, known := there[l.verdict.At.Key()]
		if known && sameSaid(before, l.verdict) {
			same++
			continue
		}
		taken, err := l.people.Withdraw(ctx, l.verdict)
		if err != nil {
			return err
		}
		if _, err := h.ledger.AddVerdicts(ctx, []store.Verdict{l.verdict}); err != nil {
			return err
		}
		if taken > 0 {
			changed++
		} else {
			fresh++
		}
	}
	fmt.Fprintf(w.Stdout, "%s: %d new, %d changed, %d as before\n", assay.Count(len(all), "label"), fresh, changed, same)
	return nil
}

func sameSaid(a, b store.Verdict) bool {
	score := a.Score == nil && b.Score == nil || a.Score != nil && b.Score != nil && *a.Score == *b.Score
	return a.State == b.State && a.Label == b.Label && score && a.Reason == b.Reason
}
