package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/traffic"
	"assay/internal/simulator"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

const smallStudy = `study: small
inputs:
  questions:
    items: [{id: one, text: What is one?, expect: "1"}, {id: two, text: What is two?, expect: "2"}]
canary: false
lane_defaults: {max_tokens: 100, temperature: 0}
lanes:
  a: {model: openai/gpt-4.1}
  b: {model: openai/gpt-4.1-mini}
stages:
  - {name: answers, ask: questions, turns: ["{{ text }}"]}
  - {name: checked, judge: answers, rubric: contains}
`

// rig is a folder with a study, a world, and a simulator in this process that the world's providers are.
type rig struct {
	t     *testing.T
	ctx   context.Context
	env   map[string]string
	sim   *simulator.Server
	world *World
	place Place
}

func newRig(t *testing.T, study string, change ...func(*simulator.Options)) *rig {
	t.Helper()
	o := simulator.Options{Seed: 1, Dir: t.TempDir()}
	for _, c := range change {
		c(&o)
	}
	sim, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	r := &rig{t: t, ctx: t.Context(), sim: sim, env: map[string]string{"USER": "ada"}}
	for name, url := range sim.BaseURLs("http://simulator.example") {
		if v, ok := catalog.Default().Vendor(name); ok && v.BaseURLEnv != "" {
			r.env[v.BaseURLEnv] = url
			if len(v.KeyEnv) > 0 {
				r.env[v.KeyEnv[0]] = "a-key-of-" + name
			}
		}
	}
	r.world = &World{
		Env: func(name string) (string, bool) { v, ok := r.env[name]; return v, ok },
		Now: time.Now, Disk: Disk{Dir: t.TempDir()}, HTTP: sim.Transport(), Contact: traffic.NewContact(time.Now),
		Seams: Seams{Timing: func(t engine.Timing) engine.Timing { return t.Scaled(2000) }},
	}
	r.write("study.yaml", study)
	return r
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	if err := os.WriteFile(r.world.Disk.Path(name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// open opens the home with a planner in it; it is closed at the end of the test.
func (r *rig) open(rehearsal Rehearsal) *Home {
	r.t.Helper()
	h, err := r.place.Open(r.ctx, r.world, rehearsal)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { h.Close() })
	return h
}

// wanted reads and plans the study.
func (r *rig) wanted(o StudyOptions, s snapshot.Settings) Wanted {
	r.t.Helper()
	d, problems, err := r.world.ReadStudy(r.ctx, "study.yaml", o)
	if err != nil || d == nil {
		r.t.Fatal(problems, err)
	}
	p, _, err := MakePlan(r.ctx, d, plan.Options{Lanes: s.Lanes, Stages: s.Stages, Limit: s.Limit}, ".")
	if err != nil {
		r.t.Fatal(err)
	}
	return Wanted{File: "study.yaml", Input: d, Plan: p, Study: o, Settings: s, Budget: BudgetOf(d.Study, nil)}
}

// begin begins a run, which must not be there.
func (r *rig) begin(h *Home, want Wanted) store.Run {
	r.t.Helper()
	run, err := h.Run(r.ctx, want, Doorkeeper{
		Waiting: func() { r.t.Error("another process is said to begin the run") },
		Resumed: func(now Current) error { r.t.Errorf("run %s is there already", now.Run.ID); return nil },
		Confirm: func([]store.Run, *Edit) error { return nil },
		Extend:  func(now Current, _ TakeOver) error { r.t.Errorf("run %s is extended", now.Run.ID); return nil },
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// live has a slice of live requests that is at work and has sent nothing: one request of a lane.
func (r *rig) live(h *Home, run store.Run, lane, model string) {
	r.t.Helper()
	at := assay.Coordinates{Stage: "answers", Item: "one", Lane: lane, Turn: 1, Draw: 1}
	g, err := h.Ledger.Work.AddSegment(r.ctx, store.NewSegment{
		Run: run.No, GroupKey: store.GroupKey{Stage: at.Stage, Lane: lane, Turn: 1}, Mode: store.Live, Purpose: store.ForWave,
		Provider: "openai", Model: model, Nonce: "22222222",
	}, "me", time.Hour)
	if err == nil {
		err = errors.Join(
			h.Ledger.Work.AddAttempts(r.ctx, g.Lease, []store.Attempt{{Key: at.Key(), Try: 1, At: at}}),
			h.Ledger.Work.Stage(r.ctx, g.Lease, store.Bytes{}, 0, 0, time.Now()),
			h.Ledger.Work.GoLive(r.ctx, g.Lease, "an account", 0, time.Now()))
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// drive drives a run and concludes.
func (r *rig) drive(h *Home, run store.Run, d Drive) runs.Standing {
	r.t.Helper()
	if err := h.Ready(r.ctx); err != nil {
		r.t.Fatal(err)
	}
	s, err := h.Planner.Study(r.ctx, run)
	if err != nil {
		r.t.Fatal(err)
	}
	e, err := h.Engine(r.ctx, run, s)
	if err != nil {
		r.t.Fatal(err)
	}
	defer e.Close()
	if d.Gone == nil {
		d.Gone = func(holder string) { r.t.Errorf("taken over from %s", holder) }
	}
	d.Stopping = func(int) {}
	st, err := h.Drive(r.ctx, run, e, d)
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := h.Conclude(r.ctx, run, st)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

// finished begins and drives a run to its end.
func (r *rig) finished(h *Home, want Wanted) store.Run {
	r.t.Helper()
	c := r.drive(h, r.begin(h, want), Drive{})
	if c.State != runs.StateDone {
		r.t.Fatal(c.Sentence())
	}
	return c.Run
}

// wants returns an error of a type.
func wants[E error](t *testing.T, err error, text string) E {
	t.Helper()
	e, ok := errors.AsType[E](err)
	if !ok || err.Error() != text {
		t.Errorf("got %T %v, want %T %s", err, err, e, text)
	}
	return e
}

func exists(t *testing.T, elem ...string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(elem...))
	return err == nil
}

// spent returns what a run has cost.
func (r *rig) spent(h *Home, run store.Run) assay.Money {
	r.t.Helper()
	lanes, err := h.Ledger.Reader.Spending(r.ctx, run.No)
	if err != nil {
		r.t.Fatal(err)
	}
	var sum assay.Cost
	for _, l := range lanes {
		sum = sum.Add(l.Cost)
	}
	return sum.Sum
}
