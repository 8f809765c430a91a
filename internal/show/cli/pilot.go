package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/study/plan"
)

// pilotFlags ask a few questions before the whole is priced.
type pilotFlags struct {
	n    int
	yes  bool
	home homeFlags
}

func (f *pilotFlags) register(c *cobra.Command) {
	c.Flags().IntVar(&f.n, "pilot", 0, "ask each lane the first N items live, keep the answers, and price the plan from them")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "with --pilot: ask without confirming")
	f.home.register(c)
}

// pilot asks the first questions live, and plans again from what the answers took. The answers are kept: the study's run
// takes them over at no cost.
func pilot(c *cobra.Command, w *World, d *plan.Input, whole *plan.Plan, o plan.Options, name string, f planFlags) (*plan.Plan, error) {
	ctx := c.Context()
	p, problems := workspace.PlanPilot(ctx, workspace.Wanted{File: name, Input: d, Study: f.study.StudyOptions}, whole, o, f.pilot.n)
	if p == nil {
		return nil, workspace.InFolder(problems, filepath.Dir(name))
	}
	if err := runnable(w, d, p.Plan, name, false); err != nil {
		return nil, err
	}
	if err := confirmPilot(w, p.Plan, f.pilot); err != nil {
		return nil, err
	}
	h, err := f.pilot.home.open(ctx, w, false)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	run, err := h.BeginPilot(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := drive(ctx, w, h, run, d.Study, driveOptions{quiet: true}); err != nil && exitCode(err) != exitIncomplete {
		return nil, err
	}
	answers, err := h.Observe(ctx, run, p)
	if err != nil {
		return nil, err
	}
	again, problems := d.Make(ctx, o)
	if again == nil {
		return nil, workspace.InFolder(problems, filepath.Dir(name))
	}
	fmt.Fprintf(w.Stderr, "priced from %s of run %s; `assay run` takes them over\n", assay.Count(answers, "answer"), run.ID)
	return again, nil
}

func confirmPilot(w *World, p *plan.Plan, f pilotFlags) error {
	total := p.Sum(func(plan.Part) bool { return true })
	fmt.Fprintf(w.Stderr, "The pilot asks %s live, for about %s (%s to %s).\n", assay.Count(total.Requests, "request"), total.Live.Expected, total.Live.Low, total.Live.High)
	return ask(w, f.yes, "Ask?")
}

// ask wants a yes before money moves. Without a terminal and without --yes nothing is sent.
func ask(w *World, yes bool, question string) error {
	return doubt{question: question, verb: "send", declined: "nothing was sent"}.ask(w, yes)
}

// doubt is a question before something that cannot be taken back.
type doubt struct {
	question string
	verb     string // what --yes does
	declined string
}

// ask wants a yes; without a terminal, only --yes is one.
func (d doubt) ask(w *World, yes bool) error {
	if yes {
		return nil
	}
	if !w.Terminal.In {
		return usage("add --yes to "+d.verb, "%s: there is no terminal to ask", d.declined)
	}
	yes, err := d.yes(w)
	if err == nil && !yes {
		err = usage("", "%s", d.declined)
	}
	return err
}

// yes asks at the terminal.
func (d doubt) yes(w *World) (bool, error) {
	fmt.Fprint(w.Stderr, d.question+" [y/N] ")
	answer, err := bufio.NewReader(w.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	a := strings.ToLower(strings.TrimSpace(answer))
	return a == "y" || a == "yes", nil
}
