package batchrun_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
	"assay/internal/send/dispatch/local"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
	"assay/internal/send/provider"
	"assay/internal/send/provider/apis"
	"assay/internal/simulator"
	"assay/internal/study/catalog"
)

// rig is a ledger with its files, and a simulator to which runs are driven.
type rig struct {
	t       *testing.T
	ctx     context.Context
	sim     *simulator.Server
	ledger  engine.Ledger
	planner *batchrun.Planner
	read    *batchrun.Reader
	key     string
	budget  *assay.Money // of runs that are begun; nil: none
}

func newRig(t *testing.T, faults ...string) *rig {
	t.Helper()
	return newRigWith(t, simulator.Options{}, faults...)
}

func newRigWith(t *testing.T, o simulator.Options, faults ...string) *rig {
	t.Helper()
	o.Seed, o.Dir = 1, t.TempDir()
	for _, f := range faults {
		rule, err := simulator.ParseRule(f)
		if err != nil {
			t.Fatal(err)
		}
		o.Faults = append(o.Faults, rule)
	}
	sim, err := simulator.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	folder, err := artifacts.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close(); folder.Close(); sim.Close() })
	return &rig{t: t, ctx: t.Context(), sim: sim, key: "key",
		ledger: engine.Ledger{Work: ledger.Work, Leases: ledger.Leases, Limits: ledger.Limits, Reuse: ledger.Reuse, Reader: ledger.Reader},
		planner: &batchrun.Planner{Runs: ledger.Runs, Clients: ledger.Clients,
			Reader: ledger.Reader, Files: folder, Catalog: catalog.Default()},
		read: &batchrun.Reader{Ledger: ledger.Reader, Pages: ledger.Pages, Files: folder, Catalog: catalog.Default()}}
}

// access opens a vendor's account at the simulator.
func (r *rig) access(name string) (engine.Access, error) {
	v, ok := catalog.Default().Vendor(name)
	if !ok {
		return engine.Access{}, fmt.Errorf("no vendor %q", name)
	}
	a, err := apis.Open(provider.Config{Name: name, Kind: name, BaseURL: r.sim.BaseURLs("http://simulator.example")[name],
		Key: provider.NewSecret(r.key), HTTP: r.sim.Transport(), Limits: v.Limits})
	return engine.Access{Account: a, Fingerprint: "of " + r.key}, err
}

func (r *rig) dial(t batchrun.Target) (engine.Access, error) { return r.access(t.Name) }

// begin checks a file and begins its run.
func (r *rig) begin(id, name, text string, o batchfile.Options) store.Run {
	r.t.Helper()
	o.Name, o.Catalog = name, catalog.Default()
	if o.Mode == "" {
		o.Mode = assay.ModeBatch
	}
	checked, problems, err := batchfile.Check(r.ctx, opener(text), o)
	if err != nil || checked == nil {
		r.t.Fatal(err, problems)
	}
	b := batchrun.Batch{File: *checked}
	run, err := r.planner.Begin(r.ctx, store.NewRun{ID: id, Study: name, Digest: b.Digest(), Budget: r.budget}, b, opener(text))
	if err != nil {
		r.t.Fatal(err)
	}
	return run
}

// drive drives a run until nothing moves any more, or until returns true.
func (r *rig) drive(run store.Run, until func(engine.RunStatus) bool) (store.Run, engine.RunStatus) {
	r.t.Helper()
	d := local.Driver{Until: until, Engine: runs.New(engine.Config{
		Ledger: r.ledger, Files: r.planner.Files, Planner: r.planner, Accounts: r.access, Clock: engine.WallClock(),
		Timing: engine.DefaultTiming().Scaled(2000), Random: rand.New(rand.NewPCG(1, 2)), Holder: "test",
	})}
	st, err := d.Drive(r.ctx, run.No)
	if err != nil {
		r.t.Fatal(err)
	}
	run, err = r.read.Ledger.Run(r.ctx, run.No)
	if err != nil {
		r.t.Fatal(err)
	}
	return run, st
}

// lines returns a file of chat requests with these ids.
func lines(ids ...string) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, `{"custom_id":%q,"method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4.1-mini","max_tokens":50,"messages":[{"role":"user","content":%q}]}}`+"\n", id, "What is "+id+"?")
	}
	return b.String()
}
