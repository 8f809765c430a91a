// Package script is the study of a run made executable: what can be asked now, which requests that are, and what people and programs
// are told about them.
//
// A script works from the snapshot of the study and from what is answered; it knows no engine. Everything is made again
// from coordinates: no request is kept anywhere but as the bytes that went out. A stage is walked in the order of the items,
// a block at a time, so that memory does not grow with the number of requests.
package script

import (
	"context"
	"fmt"
	"io"
	"sync"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/judge/program"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/learned"
	"assay/internal/send/script/answers"
	"assay/internal/send/script/conditions"
	"assay/internal/send/script/people"
	"assay/internal/send/script/snapshot"
	"assay/internal/send/script/stages"
	"assay/internal/send/script/verdicts"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Library opens the scripts of a ledger's runs, each once. It is safe for concurrent use.
type Library struct {
	snapshot.Store
	Files artifacts.Place

	// Programs runs the programs of rubrics. Nil: programs cannot judge here.
	Programs *program.Runner

	mu   sync.Mutex
	runs map[int64]*Script
}

// Script is a run's study, ready to make requests. It is safe for concurrent use.
type Script struct {
	Conditions *conditions.Conditions // which requests are asked
	Verdicts   *verdicts.Verdicts     // what is answered so far

	lib      *Library
	run      store.Run
	settings snapshot.Settings
	input    *plan.Input
	stages   *stages.Stages // how requests are made
	answers  *answers.Reader
	learned  *learned.Book
	planned  map[store.Share]int64 // requests by stage and lane, when it was loaded
}

// Open loads a run's snapshot, and again where its study was changed since.
func (p *Library) Open(ctx context.Context, run store.Run) (*Script, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, loaded := p.runs[run.No]
	if loaded && s.of(run) {
		return s, nil
	}
	for {
		now, err := p.Reader.Run(ctx, run.No) // the one we were given may be older than the snapshot, or than the script
		if err != nil {
			return nil, fmt.Errorf("load the study of run %s: %w", run.ID, err)
		}
		if loaded && s.of(now) {
			return s, nil
		}
		if s, err = p.load(ctx, now); err != nil {
			return nil, fmt.Errorf("load the study of run %s: %w", run.ID, err)
		}
		if p.runs == nil {
			p.runs = map[int64]*Script{}
		}
		p.runs[run.No], loaded = s, true
	}
}

// load makes the script of a run from its snapshot.
func (p *Library) load(ctx context.Context, run store.Run) (*Script, error) {
	in, settings, err := p.Store.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	in.Open = func(sum assay.Sum) (io.ReadCloser, error) { return p.OpenShown(context.Background(), run, sum) }
	s := &Script{lib: p, run: run, settings: settings, input: in}
	if s.stages, err = stages.Build(ctx, in, settings.Lanes); err != nil {
		return nil, err
	}
	if s.Conditions, err = conditions.New(ctx, run.No, s.stages, p.Reader, p.Runs); err != nil {
		return nil, err
	}
	if s.planned, err = plannedOf(ctx, p, run.No); err != nil {
		return nil, err
	}
	lanes := learned.Models(in.Study.Lanes, func(l study.Lane) string { return l.Model })
	if s.learned, err = learned.Open(ctx, p.Reader, run, lanes); err != nil {
		return nil, err
	}
	s.answers = &answers.Reader{Run: run, Input: in, Ledger: p.Reader, Files: p.Files}
	s.Verdicts = verdicts.New(verdicts.Parts{Run: run, Settings: settings, Stages: s.stages, Conditions: s.Conditions, Answers: s.answers,
		Snapshots: &p.Store, Programs: p.Programs})
	return s, nil
}

func plannedOf(ctx context.Context, p *Library, run int64) (map[store.Share]int64, error) {
	lanes, err := p.Reader.Lanes(ctx, run)
	out := map[store.Share]int64{}
	for _, l := range lanes {
		out[store.Share{Stage: l.Stage, Lane: l.Name}] = l.Planned
	}
	return out, err
}

// of reports whether a script is that of a run as it is. Items that were bought are in the settings.
func (s *Script) of(run store.Run) bool {
	return s.run.Digest == run.Digest && s.run.Settings == run.Settings
}

// refresh takes in what was ordered and bought since the last time.
func (s *Script) refresh(ctx context.Context) error {
	return conditions.Refresh(ctx, s.lib.Reader, s.run.No, s.stages)
}

// Study returns the study that the run works from.
func (s *Script) Study() *study.Study { return s.input.Study }

// Settings returns what the run began with beside its study.
func (s *Script) Settings() snapshot.Settings { return s.settings }

// BatchOf returns how the batches of a stage are cut.
func (s *Script) BatchOf(stage string) study.Batch {
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return study.Batch{}
	}
	return s.input.BatchOf(st)
}

// Study returns the study that a run works from.
func (p *Library) Study(ctx context.Context, run store.Run) (*study.Study, error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.input.Study, nil
}

// Route returns a lane's way in a stage.
func (s *Script) Route(stage, lane string, mode store.SegmentMode) (plan.Route, error) {
	l, ok := s.input.Study.Lane(lane)
	if !ok {
		return plan.Route{}, fmt.Errorf("run %s has no lane %q", s.run.ID, lane)
	}
	st, ok := s.input.Study.Stage(stage)
	if !ok {
		return plan.Route{}, fmt.Errorf("run %s has no stage %q", s.run.ID, stage)
	}
	r := routeOf(s.stages, st, l, mode)
	if mode == store.Batch &&
		s.input.Primes(st, l, s.planned[store.Share{Stage: stage, Lane: lane}]) {
		return r.Primed(), nil
	}
	return r, nil
}

func routeOf(all *stages.Stages, st *study.Stage, l *study.Lane, mode store.SegmentMode) plan.Route {
	travel := assay.ModeBatch
	if mode == store.Live {
		travel = assay.ModeLive
	}
	if j, ok := all.Judging(st.Name); ok {
		return all.Input.JudgeRoute(st, l, travel, j.By().Rubric)
	}
	return all.Input.Route(st, l, travel)
}

// Reads returns how replies of a stage's judges are read; nil: it has none.
func (s *Script) Reads(stage string) func(assay.Outcome) assay.Verdict {
	j, ok := s.stages.Judging(stage)
	if !ok {
		return nil
	}
	return func(o assay.Outcome) assay.Verdict { return judge.Read(j.By().Rubric, o) }
}

// Whole returns an answer with all of its text; one too long for a row is read from the bytes that came.
func (p *Library) Whole(ctx context.Context, run store.Run, a store.Answer) (store.Answer, error) {
	if !a.Over {
		return a, nil
	}
	s, err := p.Open(ctx, run)
	if err != nil {
		return a, err
	}
	return s.answers.Whole(ctx, a)
}

// People opens a judge or compare stage of a run for people.
func (p *Library) People(ctx context.Context, run store.Run, stage string) (*people.Stage, error) {
	s, err := p.Open(ctx, run)
	if err != nil {
		return nil, err
	}
	if err := conditions.TakeLooks(ctx, p.Reader, run.No, s.stages); err != nil {
		return nil, err
	}
	j, ok := s.stages.Judging(stage)
	if !ok {
		return nil, fmt.Errorf("stage %q of run %s neither judges nor compares", stage, run.ID)
	}
	return &people.Stage{Run: s.run, Name: stage, Asked: s.settings.Wants(stage), Judging: j, Stages: s.stages, Conditions: s.Conditions,
		Answers: s.answers, Reader: p.Reader, Runs: p.Runs}, nil
}
