package planning

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/driving"
	"assay/internal/show/cli/quote"
	"assay/internal/show/cli/shell"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

// pilotFlags ask a few questions before the whole is priced.
type pilotFlags struct {
	n    int
	yes  bool
	home shell.HomeFlags
}

func (f *pilotFlags) register(c *cobra.Command) {
	c.Flags().IntVar(&f.n, "pilot", 0, "ask each lane the first N items live, keep the answers, and price the plan from them")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --pilot: ask without confirming")
	f.home.Register(c)
}

// pilot asks the first questions live, and plans again from what the answers took. The answers are kept: the study's run
// takes them over at no cost.
func pilot(c *cobra.Command, w *shell.World, d *plan.Input, whole *plan.Plan, o plan.Options, name string,
	f planFlags) (*plan.Plan, error) {
	ctx := c.Context()
	p, problems := workspace.PlanPilot(ctx, workspace.Wanted{File: name, Input: d, Study: f.study.StudyOptions}, whole, o, f.pilot.n)
	if p == nil {
		return nil, workspace.InFolder(problems, filepath.Dir(name))
	}
	if err := driving.Runnable(w, d, p.Plan, name, false); err != nil {
		return nil, err
	}
	if err := confirmPilot(w, p.Plan, f.pilot); err != nil {
		return nil, err
	}
	h, err := f.pilot.home.OpenHome(ctx, w, false)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	run, err := h.BeginPilot(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := driving.Drive(ctx, w, h, run, d.Study, driving.DriveOptions{Quiet: true}); err != nil &&
		shell.ExitCode(err) != shell.ExitIncomplete {
		return nil, err
	}
	if err := h.Learn(ctx, d, store.Run{}); err != nil {
		return nil, err
	}
	lanes, err := h.Ledger.Reader.Lanes(ctx, run.No)
	if err != nil {
		return nil, err
	}
	answers := int64(0)
	for _, l := range lanes {
		answers += l.Endings[assay.Answered] + l.Endings[assay.Cut] + l.Endings[assay.Refused]
	}
	again, problems := estimate.Make(ctx, d, o)
	if again == nil {
		return nil, workspace.InFolder(problems, filepath.Dir(name))
	}
	fmt.Fprintf(w.Stderr, "priced from %s of run %s; `assay run` takes them over\n", assay.Count(answers, "answer"), run.ID)
	return again, nil
}

func confirmPilot(w *shell.World, p *plan.Plan, f pilotFlags) error {
	total := p.Sum(func(plan.Part) bool { return true })
	fmt.Fprintf(w.Stderr, "%s: the pilot asks them live, and `assay run` takes the answers over.\n",
		quote.PayNow(total.Live, total.Requests, true))
	return shell.Ask(w, f.yes, "Ask?")
}
