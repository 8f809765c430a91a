// Package planning has the commands that check and price a study before anything is sent.
package planning

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/quote"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/study/plan"
)

type planFlags struct {
	study  shell.StudyFlags
	scope  shell.ScopeFlags
	lanes  []string
	stages []string
	limit  int
	show   int
	items  []string
	write  string
	json   bool
	detect string
	points float64 // of detect
	pilot  pilotFlags
}

// Plan makes the command `assay plan`.
func Plan(w *shell.World) *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:     "plan [STUDY]",
		GroupID: shell.GroupStart,
		Short:   "Show what would be sent and what it would cost; nothing is sent",
		Long: "Plans a study: the first wave, comparisons of items too, is rendered and encoded exactly as it would go out and cut into " +
			"batches; later waves\n" +
			"are counted (at most) and estimated. Prices are low, expected and high; unknown prices are said to be unknown. Where the " +
			"study was run\n" +
			"before, it says what `assay run` would do now: what is taken over, what is new, and what that costs.\n\n" +
			"Every stage that judges or compares says what difference its size can show with 80% power. --detect 5pt says what size a " +
			"difference of 5\n" +
			"points needs: of rates, of hundredths of a scale of scores, or of wins above 50%. Where the study was run before, both go " +
			"by how its answers\n" +
			"varied; else by what is assumed.\n\n" +
			"--show prints requests of every stage, judges too; --stage, --lane and --item pick some. What a request of a later wave " +
			"will say depends on\n" +
			"answers: a text that begins with (STAND-IN takes the place of each, and the line above the request says so.",
		Args: shell.StudyArg(w),
		RunE: func(c *cobra.Command, args []string) error { return runPlan(c, w, shell.StudyFile(w, args), f) },
	}
	f.study.Register(c)
	f.scope.RegisterScope(c)
	c.Flags().StringSliceVar(&f.lanes, "lane", nil, "only these lanes; globs allowed")
	c.Flags().StringSliceVar(&f.stages, "stage", nil, "only these stages")
	c.Flags().IntVar(&f.limit, "limit", 0, "only the first N items of each input that is asked")
	c.Flags().IntVar(&f.show, "show", 0, "print the first N requests of each stage and lane, as they would go out")
	c.Flags().StringSliceVar(&f.items, "item", nil, "with --show: only requests about these items")
	c.Flags().StringVar(&f.write, "write", "", "write all batch files of the first wave into this folder, as they would go out")
	c.Flags().BoolVar(&f.json, "json", false, "print the plan as JSON")
	c.Flags().StringVar(&f.detect, "detect", "", "say what size of study a difference needs, such as 5pt: items, comparisons and cost")
	f.pilot.register(c)
	return c
}

func runPlan(c *cobra.Command, w *shell.World, name string, f planFlags) error {
	if f.show < 0 {
		return shell.Usage("", "--show needs a number from 0 up")
	}
	if len(f.items) > 0 && f.show == 0 {
		return shell.Usage("add --show 1", "--item goes with --show")
	}
	err := f.scope.Apply(w, name, &f.study)
	if err != nil {
		return err
	}
	if f.points, err = quote.Detectable(f.detect); err != nil {
		return err
	}
	if c.Flags().Changed("pilot") && f.pilot.n < 1 {
		return shell.Usage("for example --pilot 20", "--pilot: want 1 or more")
	}
	o := plan.Options{Lanes: f.lanes, Stages: f.stages, Limit: f.limit}
	whole := o
	if f.show > 0 && f.write == "" && f.pilot.n == 0 {
		whole.Lanes, whole.Stages = nil, nil // what a judge reads is made by the others
	}
	d, p, err := shell.Planned(c, w, name, f.study, whole, &shell.Seen{HomeFlags: f.pilot.home})
	if err != nil {
		return err
	}
	if f.pilot.n > 0 {
		if p, err = pilot(c, w, d, p, o, name, f); err != nil {
			return err
		}
	}
	a, err := ahead(c, w, d, p, name, f)
	if err != nil {
		return err
	}
	switch {
	case f.show > 0:
		err = showRequests(c, w, d, p, f)
	case f.json:
		err = term.WriteJSON(w.Stdout, planJSON(d, p, a))
	default:
		err = printPlan(w, d, p, a, f)
	}
	if err != nil || f.write == "" {
		return err
	}
	return writePlan(c, w, d, p, o, f.write)
}

func printPlan(w *shell.World, d *plan.Input, p *plan.Plan, a *workspace.Ahead, f planFlags) error {
	t := term.Table{
		Head: []string{"WAVE", "STAGE", "LANE", "MODEL", "MODE", "TURN", "REQUESTS", "BATCHES", "INPUT", "OUTPUT", "LOW",
			"EXPECTED", "HIGH"},
		Right: map[int]bool{5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true},
		Spare: []string{"BATCHES", "TURN", "INPUT", "OUTPUT", "MODE", "LOW", "MODEL", "HIGH"},
	}
	for _, q := range p.Parts {
		batches := "–"
		if q.Mode == assay.ModeBatch && q.Segments != nil {
			batches = fmt.Sprint(len(q.Segments))
		}
		t.Add(q.Wave, q.Stage, q.Lane.Name, q.Lane.ID(), d.Sent(&q), q.Turn, quote.AtMost(q.Exact)+assay.Thousands(q.Requests), batches,
			quote.Tokens(q.Input.Expected), quote.Tokens(q.Output.Expected), q.Cost.Low, q.Cost.Expected, q.Cost.High)
	}
	between := ""
	if len(p.Parts) > 0 {
		if err := t.Write(w.Stdout); err != nil {
			return err
		}
		between = "\n"
	}
	sent := "Nothing was sent.\n"
	if f.pilot.n > 0 {
		sent = "Nothing but the pilot was sent.\n"
	}
	expected := p.Sum(func(plan.Part) bool { return true }).Cost.Expected
	text := between + quote.Summary(d, p) + aheadWords(a) + aheadBudget(a, workspace.BudgetOf(d.Study, nil), expected) + sent
	return w.Say(text)
}

func writePlan(c *cobra.Command, w *shell.World, d *plan.Input, p *plan.Plan, o plan.Options, dir string) error {
	names, err := d.Write(c.Context(), p, o, func(name string) (io.WriteCloser, error) {
		return w.Disk.Create(filepath.Join(dir, name), os.O_EXCL)
	})
	if err != nil {
		return &shell.ExitError{Code: shell.ExitFailed, Err: err, Hint: "choose an empty folder"}
	}
	fmt.Fprintf(w.Stderr, "wrote %s into %s\n", assay.Count(len(names), "file"), cmp.Or(dir, "."))
	return nil
}
