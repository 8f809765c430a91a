package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"assay"
	"assay/plan"
	"assay/store"
	"assay/study"
	"assay/waves"
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

// pilotSuffix marks the runs of pilots, so that they are not taken for runs of the study.
const pilotSuffix = ".pilot"

// pilot asks the first questions live, and plans again from what the answers took. The answers are kept: the study's run
// takes them over at no cost.
func pilot(c *cobra.Command, w *World, d *plan.Input, whole *plan.Plan, o plan.Options, name string, f planFlags) (*plan.Plan, error) {
	ctx := c.Context()
	few := o
	few.Limit, few.Stages = f.pilot.n, firstStages(whole)
	p, problems := d.Make(ctx, few)
	if p == nil {
		return nil, shown(problems, filepath.Dir(name))
	}
	p.Parts = firstParts(p)
	if err := runnable(w, d, p, name, false); err != nil {
		return nil, err
	}
	if err := confirmPilot(w, p, f.pilot); err != nil {
		return nil, err
	}
	h, err := f.pilot.home.open(ctx, w, false)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	run, err := beginPilot(ctx, w, h, d, p, few, name, f)
	if err != nil {
		return nil, err
	}
	if err := drive(ctx, w, h, run, d.Study, driveOptions{quiet: true}); err != nil && exitCode(err) != exitIncomplete {
		return nil, err
	}
	if d.Observed, err = observed(ctx, h, d, run, few); err != nil {
		return nil, err
	}
	again, problems := d.Make(ctx, o)
	if again == nil {
		return nil, shown(problems, filepath.Dir(name))
	}
	fmt.Fprintf(w.Stderr, "priced from %s of run %s; `assay run` takes them over\n", assay.Count(observedAnswers(d), "answer"), run.ID)
	return again, nil
}

// firstStages are the stages that can be asked before any answer is there.
func firstStages(p *plan.Plan) []string {
	var names []string
	for _, q := range firstParts(p) {
		names = append(names, q.Stage)
	}
	return names
}

func firstParts(p *plan.Plan) []plan.Part {
	var out []plan.Part
	for _, q := range p.Parts {
		if q.Verb == study.VerbAsk && q.Turn == 1 && q.Exact {
			out = append(out, q)
		}
	}
	return out
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
	fmt.Fprint(w.Stderr, d.question+" [y/N] ")
	answer, err := bufio.NewReader(w.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return usage("", "%s", d.declined)
	}
	return nil
}

func beginPilot(ctx context.Context, w *World, h *home, d *plan.Input, p *plan.Plan, o plan.Options, name string, f planFlags) (store.Run, error) {
	digest, err := studyDigest(ctx, w, d, name)
	if err != nil {
		return store.Run{}, err
	}
	return begin(ctx, w, h, waves.Beginning{
		Run: store.NewRun{Study: d.Study.Study + pilotSuffix, Digest: digest}, Desk: d, Plan: p,
		Settings: waves.Settings{Lanes: o.Lanes, Stages: o.Stages, Limit: o.Limit, NoCanary: true, Pilot: true},
	}, name, f.study)
}

// pilotOf is the newest pilot of the same study, unchanged since; empty where there is none.
func pilotOf(ctx context.Context, h *home, study, digest string) (string, error) {
	runs, err := h.ledger.Runs(ctx, study+pilotSuffix)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.Digest == digest && r.Rehearsal == h.rehearsal {
			return r.ID, nil
		}
	}
	return "", nil
}

// observed is what the answers of a pilot took, by lane.
func observed(ctx context.Context, h *home, d *plan.Input, run store.Run, o plan.Options) (map[string]plan.Observed, error) {
	bytes := map[assay.Key]int{}
	for _, name := range o.Stages {
		st, ok := d.Study.Stage(name)
		if !ok {
			continue
		}
		for _, l := range d.Study.Contestants(st) {
			for r, err := range d.First(ctx, st, l, o) {
				if err != nil {
					return nil, err
				}
				bytes[r.Key] = promptBytes(r.Prompt)
			}
		}
	}
	out := map[string]plan.Observed{}
	sums := map[string]struct{ bytes, input, output int64 }{}
	for a, err := range h.ledger.Answers(ctx, run.No, "", "") {
		if err != nil {
			return nil, err
		}
		u := a.Outcome.Usage
		if !u.Known || !a.Outcome.Ending.Stands() {
			continue
		}
		seen, sum := out[a.Lane], sums[a.Lane]
		tokens := float64(u.Output)
		if seen.N == 0 || tokens < seen.Low {
			seen.Low = tokens
		}
		seen.High = max(seen.High, tokens)
		seen.N++
		sum.bytes, sum.input, sum.output = sum.bytes+int64(bytes[a.Key]), sum.input+u.Input, sum.output+u.Output
		seen.Mean = float64(sum.output) / float64(seen.N)
		if sum.bytes > 0 {
			seen.PerByte = float64(sum.input) / float64(sum.bytes)
		}
		out[a.Lane], sums[a.Lane] = seen, sum
	}
	return out, nil
}

func promptBytes(p *assay.Prompt) int {
	n := len(p.System) + len(p.Context)
	for _, m := range p.Messages {
		n += len(m.Text)
	}
	return n
}

func observedAnswers(d *plan.Input) int64 {
	n := int64(0)
	for _, o := range d.Observed {
		n += o.N
	}
	return n
}
