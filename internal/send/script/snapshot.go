package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/study"
	"assay/internal/study/catalog"
	"assay/internal/study/plan"
)

// Settings are what the command line said when a run began.
type Settings struct {
	File        string     `json:"file"` // the study's name in its folder
	Profile     string     `json:"profile,omitempty"`
	Set         []string   `json:"set,omitempty"`
	Mode        assay.Mode `json:"mode,omitempty"`
	Lanes       []string   `json:"lanes,omitempty"`
	Stages      []string   `json:"stages,omitempty"`
	Limit       int        `json:"limit,omitempty"`
	VerifyFirst bool       `json:"verify_first,omitempty"`
	NoCanary    bool       `json:"no_canary,omitempty"`
	Pilot       bool       `json:"pilot,omitempty"`   // only first questions, live
	Imports     []string   `json:"imports,omitempty"` // the stages that import
	Luck        uint64     `json:"luck,omitempty"`    // seed of a rehearsal's simulator; 0: the usual one
	// a pilot, and the runs before the study was changed, whose answers stand in for asking again
	ReuseRuns []string `json:"reuse_runs,omitempty"`

	// BaseURLs are where requests go, by provider, for workers that have no key of one and do not know.
	BaseURLs map[string]string `json:"base_urls,omitempty"`
}

func (s Settings) wants(stage string) bool {
	return len(s.Stages) == 0 || slices.Contains(s.Stages, stage)
}

// Beginning is what a run begins with.
type Beginning struct {
	Run      store.NewRun
	Input    *plan.Input
	Plan     *plan.Plan
	Files    fs.FS  // the study's folder
	Prices   []byte // the price file of the command line; nil: none
	Settings Settings
	Claim    *store.Claim // nil: it begins whatever else there is
	Check    func() error // what was copied is what was planned, or why not; nil: it is not looked at
}

// Begin writes a run and the snapshot it works from: the study, its texts, its items and its lanes.
func (p *Library) Begin(ctx context.Context, b Beginning) (store.Run, error) {
	for i := range b.Input.Study.Stages {
		if st := &b.Input.Study.Stages[i]; st.Import != nil {
			b.Settings.Imports = append(b.Settings.Imports, st.Name)
		}
	}
	settings, err := json.Marshal(b.Settings)
	if err != nil {
		return store.Run{}, err
	}
	b.Run.Settings = string(settings)
	run, stop, err := p.create(ctx, b)
	defer stop()
	if err != nil {
		return store.Run{}, fmt.Errorf("begin a run: %w", err)
	}
	if err := p.prepare(ctx, run, b); err != nil {
		stop()
		_ = p.Leases.Release(context.WithoutCancel(ctx), run.Lease) // the claim ends by itself, too
		return store.Run{}, fmt.Errorf("begin run %s: %w", run.ID, err)
	}
	return p.Reader.Run(ctx, run.No)
}

// prepare writes the snapshot of a run, and opens it.
func (p *Library) prepare(ctx context.Context, run store.Run, b Beginning) error {
	for _, name := range append([]string{b.Settings.File}, b.Input.Study.Loaded...) {
		if err := p.keep(ctx, run.No, b.Files, name); err != nil {
			return err
		}
	}
	if b.Prices != nil {
		if err := p.Runs.PutPart(ctx, run.No, pricesPart, bytes.NewReader(b.Prices)); err != nil {
			return err
		}
	}
	if err := p.keepGold(ctx, run.No, b); err != nil {
		return err
	}
	if err := p.keepRates(ctx, run.No, b.Input); err != nil {
		return err
	}
	for _, e := range b.Input.Study.Inputs {
		items := b.Input.FirstItems(ctx, e.Name, b.Settings.Limit)
		if err := p.Runs.PutItems(ctx, run.No, e.Name, items); err != nil {
			return fmt.Errorf("keep input %s: %w", e.Name, err)
		}
	}
	if err := p.Runs.PutLanes(ctx, LanesOf(run.No, b)); err != nil {
		return err
	}
	if err := p.importAll(ctx, run, b); err != nil {
		return err
	}
	if b.Check != nil {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return p.Runs.OpenRun(ctx, run.No)
}

// create writes the run itself, and keeps its claim until stop is called.
func (p *Library) create(ctx context.Context, b Beginning) (run store.Run, stop func(), err error) {
	stop = func() {}
	if b.Claim == nil {
		run, err = p.Runs.CreateRun(ctx, b.Run)
		return run, stop, err
	}
	if run, err = p.Runs.ClaimRun(ctx, b.Run, *b.Claim); err != nil {
		return run, stop, err
	}
	return run, p.Renewing(ctx, run.Lease, b.Claim.TTL), nil
}

// Renewing renews a lease until stop is called. Who holds it finds out at the next write that it was lost.
func (p *Library) Renewing(ctx context.Context, l store.Lease, ttl time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(ttl / 3)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if _, err := p.Leases.Renew(ctx, l, ttl); errors.Is(err, store.ErrLeaseLost) {
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

const (
	filePart   = "file/"
	pricesPart = "prices"
	ratesPart  = "rates"
)

func (p *Library) keep(ctx context.Context, run int64, files fs.FS, name string) error {
	f, err := files.Open(name)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	defer f.Close()
	return p.Runs.PutPart(ctx, run, filePart+name, f)
}

// GoldPart is under which name, before that of the file, gold labels are kept that were there when a run began. Those in the
// folder of the run count more: labels come after answers. Machines without the folder have these.
const GoldPart = "gold-at-start/"

func (p *Library) keepGold(ctx context.Context, run int64, b Beginning) error {
	parts := map[string][]byte{}
	if err := goldParts(parts, b.Input.Study, b.Files); err != nil {
		return err
	}
	for name, text := range parts {
		if err := p.Runs.PutPart(ctx, run, name, bytes.NewReader(text)); err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	return nil
}

// LanesOf returns the lanes of a plan, one for each stage they answer in.
func LanesOf(run int64, b Beginning) []store.Lane {
	var out []store.Lane
	for _, part := range b.Plan.Parts {
		if st, ok := b.Input.Study.Stage(part.Stage); ok && st.SecondTry != nil && *st.SecondTry {
			part.Requests *= 2 // at most; those that are not needed are spared
		}
		i := slices.IndexFunc(out, func(l store.Lane) bool { return l.Stage == part.Stage && l.Name == part.Lane.Name })
		if i >= 0 {
			out[i].Planned += part.Requests
			continue
		}
		params, err := json.Marshal(part.Lane.Params)
		if err != nil {
			params = []byte("{}") // parameters that cannot be written were reported as a problem of the study
		}
		canary := store.CanaryOff
		wanted := b.Input.Study.Canary == nil || *b.Input.Study.Canary || b.Settings.VerifyFirst
		if part.Mode == assay.ModeBatch && wanted && !b.Settings.NoCanary {
			canary = store.CanaryDue
		}
		out = append(out, store.Lane{
			Run: run, Stage: part.Stage, Name: part.Lane.Name, Provider: part.Lane.Provider, Model: part.Lane.Model, Label: part.Lane.Label,
			Params: string(params), Planned: part.Requests, State: store.LaneOpen, Canary: canary,
		})
	}
	for i := range b.Input.Study.Stages {
		out = append(out, standInLanes(run, &b.Input.Study.Stages[i], b.Input.Study, out)...)
	}
	for _, i := range b.Plan.Imports {
		out = append(out, store.Lane{
			Run: run, Stage: i.Stage, Name: i.Lane.Name, Provider: i.Lane.Provider, Model: i.Lane.Model, Label: i.Lane.Label, Params: "{}",
			Planned: i.Expected, State: store.LaneOpen, Canary: store.CanaryOff,
		})
	}
	return out
}

// standInLanes returns the lanes that are asked in the place of a stage's judges. At most they are asked all that those are; what is not
// needed is spared.
func standInLanes(run int64, st *study.Stage, s *study.Study, planned []store.Lane) []store.Lane {
	var out []store.Lane
	if st.Fallback == "" {
		return nil
	}
	for _, l := range s.LanesNamed([]string{st.Fallback}) {
		most := int64(0)
		for _, p := range planned {
			if p.Stage == st.Name {
				most += p.Planned
			}
		}
		params, err := json.Marshal(l.Params)
		if err != nil {
			params = []byte("{}") // as above
		}
		if most > 0 {
			out = append(out, store.Lane{
				Run: run, Stage: st.Name, Name: l.Name, Provider: l.Provider, Model: l.Model, Label: l.Label, Params: string(params),
				Planned: most, State: store.LaneOpen, Canary: store.CanaryOff,
			})
		}
	}
	return out
}

// load reads a run's snapshot.
func (p *Library) load(ctx context.Context, run store.Run) (*Script, error) {
	s := &Script{
		Library: p, run: run, stages: map[string]stage{}, absorbed: map[int64]bool{}, closed: map[string]bool{},
		decided: map[gateKey]fate{}, spared: map[string]bool{},
	}
	if err := json.Unmarshal([]byte(run.Settings), &s.settings); err != nil {
		return nil, fmt.Errorf("its settings: %w", err)
	}
	st, err := p.read(ctx, run.No, s.settings)
	if err != nil {
		return nil, err
	}
	cat, err := p.prices(ctx, run.No)
	if err != nil {
		return nil, err
	}
	cat, more := plan.Prices(cat, st)
	if len(more.Errors()) > 0 {
		return nil, more.Errors()
	}
	if cat, err = p.fixed(ctx, run.No, cat); err != nil {
		return nil, err
	}
	s.input = &plan.Input{Study: st, Rows: ledgerRows{p.Reader, run.No}, Catalog: cat}
	if s.input.Drawn, err = p.drawn(ctx, run.No, st); err != nil {
		return nil, err
	}
	if err := s.recall(ctx); err != nil {
		return nil, err
	}
	if err := s.buildStages(ctx); err != nil {
		return nil, err
	}
	return s, s.recallLooks(ctx)
}

// read reads the study out of a run's snapshot.
func (p *Library) read(ctx context.Context, run int64, s Settings) (*study.Study, error) {
	imported, err := p.importsOf(ctx, run, s.Imports)
	if err != nil {
		return nil, err
	}
	files := partFS{ctx: ctx, ledger: p.Reader, run: run}
	st, problems := study.Read(files, s.File, study.Options{Profile: s.Profile, Set: s.Set, Mode: s.Mode, Imported: imported})
	if st == nil || len(problems.Errors()) > 0 {
		return nil, problems.Errors()
	}
	return st, nil
}

// prices returns the catalogue with the price file that the run began with.
func (p *Library) prices(ctx context.Context, run int64) (*catalog.Catalog, error) {
	text, err := io.ReadAll(p.Reader.Part(ctx, run, pricesPart))
	if errors.Is(err, store.ErrNotFound) {
		return p.Catalog, nil
	}
	if err != nil {
		return nil, err
	}
	over, err := catalog.ReadOverrides(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return p.Catalog.With(over)
}

// chosen returns the lanes within the settings.
func (s *Script) chosen(lanes []*study.Lane) []*study.Lane {
	if len(s.settings.Lanes) == 0 {
		return lanes
	}
	return slices.DeleteFunc(slices.Clone(lanes), func(l *study.Lane) bool {
		return !slices.ContainsFunc(s.settings.Lanes, func(n string) bool { return study.Picks(n, l) })
	})
}

// ledgerRows streams items out of a snapshot.
type ledgerRows struct {
	ledger *read.Reader
	run    int64
}

func (r ledgerRows) Items(ctx context.Context, input string) iter.Seq2[assay.Item, error] {
	return r.ledger.Items(ctx, r.run, input)
}

// partFS is the texts of a snapshot as a file system.
type partFS struct {
	ctx    context.Context
	ledger *read.Reader
	run    int64
}

func (p partFS) Open(name string) (fs.File, error) {
	text, err := io.ReadAll(p.ledger.Part(p.ctx, p.run, filePart+name))
	if errors.Is(err, store.ErrNotFound) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, err
	}
	return &partFile{Reader: bytes.NewReader(text), name: name}, nil
}

// partFile is one text of a snapshot.
type partFile struct {
	*bytes.Reader
	name string
}

func (f *partFile) Close() error               { return nil }
func (f *partFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *partFile) Name() string               { return f.name }
func (f *partFile) Mode() fs.FileMode          { return 0o400 }
func (f *partFile) ModTime() time.Time         { return time.Time{} }
func (f *partFile) IsDir() bool                { return false }
func (f *partFile) Sys() any                   { return nil }
