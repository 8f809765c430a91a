// Package script is the study of a run made executable: what each stage asks, of which lane, with which prompt, and what
// its judges' replies mean.
//
// A script works from the snapshot of the study and from what is answered; it knows no engine. Everything is made again
// from coordinates: no request is kept anywhere but as the bytes that went out. A stage is walked in the order of the items,
// a block at a time, so that memory does not grow with the number of requests.
package script

import (
	"context"
	"fmt"
	"sync"

	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/judge/program"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
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
	*Library
	run      store.Run
	input    *plan.Input
	settings snapshot.Settings
	stages   map[string]stage // by name
	absorbed map[int64]bool   // segments whose answers were read
	closedAt int              // how many redos there were when stages were closed
	redone   redone
	donors   []*donor // earlier runs that it takes over from, once they are read
	mu       sync.Mutex

	gateMu  sync.Mutex
	closed  map[string]bool  // stages whose verdicts are all there
	decided map[gateKey]fate // by gates
	spared  map[string]bool  // stages that ask, whose conditions are all decided
}

// stage makes the requests of one stage.
type stage interface {
	// lanes are those that answer, in the order of the study.
	lanes() []*study.Lane
	// turns is how many turns of answers the stage has, or is about.
	turns() int
	// tries lists the ways in which the same may be asked, in the order they are taken: one, where no judge is asked.
	tries() []int
	// items names the input whose items the stage walks over.
	items() string
	// at lists the requests about one item, the ord-th of its input from 0, that a lane is asked in a turn, first tries alone.
	at(it assay.Item, ord int64, lane string, turn int) []assay.Coordinates
	// extra lists the requests about that item in a turn that one redo adds.
	extra(it assay.Item, ord int64, r store.Redo, turn int) []assay.Coordinates
	// needs lists the requests whose answers one request is made from.
	needs(it assay.Item, at assay.Coordinates) ([]assay.Coordinates, error)
	// prompt makes one request's prompt; false where an answer it needs is missing.
	prompt(it assay.Item, at assay.Coordinates, answered answers) (assay.Prompt, bool, error)
	// after lists the groups that have to be settled before nothing more can join the first tries of a turn.
	after(lane string, turn int) []store.GroupKey
	// conditional reports whether trials may drop requests.
	conditional() bool
	// trials are the conditions that one request has to pass.
	trials(it assay.Item, at assay.Coordinates) ([]trial, error)
}

// reader is a stage that gives verdicts.
type reader interface {
	stage
	// voices are who judges: lanes, or the one rule or program.
	voices() []string
	// by is the rubric, and how answers that are none count.
	by() (*rubric, judge.Counting)
	// frame is a verdict without what is said: where it stands and which answers it is about.
	frame(at assay.Coordinates) (store.Verdict, error)
	// known is the verdict that needs no judge; false: one has to be asked, or there is no answer.
	known(at assay.Coordinates, answered answers) (assay.Verdict, bool, error)
	// line appends what a program reads; false where an answer is missing.
	line(dst []byte, it assay.Item, at assay.Coordinates, answered answers) ([]byte, bool, error)
}

// answers are what stands for some requests.
type answers map[assay.Key]answer

type answer struct {
	text   string
	ending assay.Ending
}

func (a answer) outcome() assay.Outcome { return assay.Outcome{Ending: a.ending, Text: a.text} }

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
	s := p.newScript(run, settings, in)
	if err := s.recall(ctx); err != nil {
		return nil, err
	}
	if err := s.buildStages(ctx); err != nil {
		return nil, err
	}
	return s, s.recallLooks(ctx)
}

func (p *Library) newScript(run store.Run, settings snapshot.Settings, in *plan.Input) *Script {
	return &Script{
		Library: p, run: run, settings: settings, input: in, stages: map[string]stage{}, absorbed: map[int64]bool{},
		closed: map[string]bool{}, decided: map[gateKey]fate{}, spared: map[string]bool{},
	}
}

// of reports whether a script is that of a run as it is. Items that were bought are in the settings.
func (s *Script) of(run store.Run) bool {
	return s.run.Digest == run.Digest && s.run.Settings == run.Settings
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
	travel := assay.ModeBatch
	if mode == store.Live {
		travel = assay.ModeLive
	}
	if j, ok := s.stages[stage].(reader); ok {
		r, _ := j.by()
		return s.input.JudgeRoute(l, travel, r.Rubric), nil
	}
	return s.input.Route(l, travel), nil
}
