// Package waves makes the requests of a run, wave by wave, from the snapshot of its study and from what is answered.
//
// It is the engine's Planner. Everything is made again from coordinates: no request is kept anywhere but as the bytes
// that went out. A wave is walked in the order of the items, a block at a time, so that memory does not grow with the
// number of requests.
package waves

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"time"

	"assay"
	"assay/artifacts"
	"assay/catalog"
	"assay/engine"
	"assay/expr"
	"assay/judge"
	"assay/plan"
	"assay/program"
	"assay/ratelimit"
	"assay/store"
	"assay/study"
)

// Planner makes the requests of all runs of a ledger. It is safe for concurrent use.
type Planner struct {
	Ledger  *store.Store
	Files   *artifacts.Folder
	Catalog *catalog.Catalog

	// Findings answers the gates of a run from its verdicts on these stages. Nil: gates cannot be decided here.
	Findings func(ctx context.Context, run store.Run, stages []string) (expr.Source, error)
	// Programs runs the programs of rubrics. Nil: programs cannot judge here.
	Programs *program.Runner

	mu   sync.Mutex
	runs map[int64]*script
}

// script is a run's study, ready to make requests.
type script struct {
	*Planner
	run      store.Run
	desk     *plan.Input
	settings Settings
	recipes  map[string]stage // by stage
	absorbed map[int64]bool   // segments whose answers were read
	closedAt int              // how many redos there were when stages were closed
	redone   redone
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
	// tries is how often a judge may be asked the same: 2 where a malformed verdict gets a second try.
	tries() int
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
	// conditional tells whether trials may drop requests.
	conditional() bool
	// trials are the conditions that one request has to pass.
	trials(it assay.Item, at assay.Coordinates) ([]trial, error)
}

// reader is the recipe of a stage that gives verdicts.
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

// script loads a run's snapshot once.
func (p *Planner) script(ctx context.Context, run store.Run) (*script, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.runs[run.No]; ok {
		return s, nil
	}
	s, err := p.load(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("load the study of run %s: %w", run.ID, err)
	}
	if p.runs == nil {
		p.runs = map[int64]*script{}
	}
	p.runs[run.No] = s
	return s, nil
}

var _ engine.Planner = (*Planner)(nil)

// Study is the study that a run works from.
func (p *Planner) Study(ctx context.Context, run store.Run) (*study.Study, error) {
	s, err := p.script(ctx, run)
	if err != nil {
		return nil, err
	}
	return s.desk.Study, nil
}

// Policy is how the run is to be driven.
func (p *Planner) Policy(ctx context.Context, run store.Run) (engine.Policy, error) {
	s, err := p.script(ctx, run)
	if err != nil {
		return engine.Policy{}, err
	}
	st := s.desk.Study
	policy := engine.Policy{LiveBelow: 20, ReserveHigh: st.Reserve == "high", VerifyFirst: s.settings.VerifyFirst}
	if st.LiveBelow != nil {
		policy.LiveBelow = *st.LiveBelow
	}
	if d := st.Deadline; d != nil {
		policy.Deadline = time.Duration(d.After)
		if d.Then == "live" {
			policy.Then = engine.ThenLive
		}
	}
	if st.Cleanup != nil {
		policy.Cleanup = engine.CleanupNever
		if *st.Cleanup {
			policy.Cleanup = engine.CleanupAlways
		}
	}
	for i := range st.Lanes {
		if share := cmp.Or(st.Lanes[i].StopIf, st.StopIf); share > 0 {
			if policy.StopAbove == nil {
				policy.StopAbove = map[string]float64{}
			}
			policy.StopAbove[st.Lanes[i].Name] = float64(share)
		}
	}
	if policy.Reuse, err = s.reuse(ctx); err != nil {
		return policy, err
	}
	return policy, nil
}

func (s *script) reuse(ctx context.Context) (*store.ReuseFrom, error) {
	r := s.desk.Study.Reuse
	if s.settings.ReuseRun != "" {
		r = &study.Reuse{Run: s.settings.ReuseRun}
	}
	if r == nil || s.run.Rehearsal {
		return nil, nil
	}
	from := &store.ReuseFrom{Run: s.run.No, Study: r.Study, Whole: s.settings.ReuseRun != ""}
	if r.For > 0 {
		from.Since = s.run.Created.Add(-time.Duration(r.For))
	}
	if r.Run != "" {
		earlier, err := s.Ledger.FindRun(ctx, r.Run, "")
		if err != nil {
			return nil, fmt.Errorf("reuse answers of run %q: %w", r.Run, err)
		}
		from.From = earlier.No
	}
	return from, nil
}

// Route is how a lane's requests of a stage travel in a mode.
func (p *Planner) Route(ctx context.Context, run store.Run, stage, lane string, mode store.SegmentMode) (engine.Route, error) {
	s, err := p.script(ctx, run)
	if err != nil {
		return engine.Route{}, err
	}
	r, err := s.route(stage, lane, mode)
	if err != nil {
		return engine.Route{}, err
	}
	route := engine.Route{Lane: r.Lane, Wire: r.Wire, Price: r.Price, Live: s.live(lane)}
	route.BaseURL = s.settings.BaseURLs[r.Lane.Provider]
	if st, ok := s.desk.Study.Stage(stage); ok {
		batch := s.desk.BatchOf(st)
		route.Size, route.Segments = batch.Size, batch.Segments
	}
	return route, nil
}

// live are the caps on live requests of a lane and of its provider.
func (s *script) live(lane string) engine.Live {
	l, ok := s.desk.Study.Lane(lane)
	if !ok {
		return engine.Live{}
	}
	p, _ := s.desk.Study.Providers.Find(l.Provider)
	return engine.Live{Lane: caps(l.Live), Account: caps(p.Live), Retries: p.Live.Retries}
}

func caps(l study.Live) ratelimit.Caps {
	return ratelimit.Caps{Rate: float64(l.Rate), Tokens: float64(l.Tokens), Concurrency: l.Concurrency, Pause: time.Duration(l.Pause)}
}

// route is a lane's way in a stage. A judge is asked for the form its rubric reads, where its model can promise one.
func (s *script) route(stage, lane string, mode store.SegmentMode) (plan.Route, error) {
	l, ok := s.desk.Study.Lane(lane)
	if !ok {
		return plan.Route{}, fmt.Errorf("run %s has no lane %q", s.run.ID, lane)
	}
	travel := assay.ModeBatch
	if mode == store.Live {
		travel = assay.ModeLive
	}
	if j, ok := s.recipes[stage].(interface{ form() json.RawMessage }); ok && l.Params.Schema == nil {
		if schema := j.form(); schema != nil && s.desk.Structured(l, schema) {
			own := *l
			own.Params.Schema = schema
			l = &own
		}
	}
	return s.desk.Route(l, travel), nil
}

// Requests walks over the requests of a group whose answers are there, in the order of the items.
func (p *Planner) Requests(ctx context.Context, run store.Run, g engine.Group) iter.Seq2[engine.Planned, error] {
	return func(yield func(engine.Planned, error) bool) {
		s, err := p.script(ctx, run)
		if err != nil {
			yield(engine.Planned{}, err)
			return
		}
		rec, ok := s.recipes[g.Stage]
		if !ok {
			yield(engine.Planned{}, fmt.Errorf("run %s has no stage %q", run.ID, g.Stage))
			return
		}
		maker, err := s.maker(g.Stage, g.Lane, g.Mode)
		if err == nil {
			err = s.rereads(ctx)
		}
		if err != nil {
			yield(engine.Planned{}, err)
			return
		}
		var block []wanted
		ord := int64(-1)
		for it, err := range s.desk.Rows.Items(ctx, rec.items()) {
			if err != nil {
				yield(engine.Planned{}, err)
				return
			}
			ord++
			for _, at := range requests(rec, it, ord, g.GroupKey) {
				block = append(block, wanted{it, at})
			}
			if len(block) < blockSize {
				continue
			}
			if !maker.yield(ctx, rec, block, yield) {
				return
			}
			block = block[:0]
		}
		maker.yield(ctx, rec, block, yield)
	}
}

// blockSize is how many requests are made at a time.
const blockSize = 256

// wanted is a request that is to be made.
type wanted struct {
	item assay.Item
	at   assay.Coordinates
}

// Build makes requests again from their coordinates, in the same order.
func (p *Planner) Build(ctx context.Context, run store.Run, mode store.SegmentMode, at []assay.Coordinates) ([]engine.Planned, error) {
	s, err := p.script(ctx, run)
	if err != nil {
		return nil, err
	}
	out := make([]engine.Planned, 0, len(at))
	for len(at) > 0 {
		n := 1 // requests of one lane in one stage follow each other: they are made together
		for n < len(at) && at[n].Stage == at[0].Stage && at[n].Answering() == at[0].Answering() {
			n++
		}
		if out, err = s.build(ctx, mode, at[:n], out); err != nil {
			return nil, err
		}
		at = at[n:]
	}
	return out, nil
}

// build makes requests of one lane in one stage again.
func (s *script) build(ctx context.Context, mode store.SegmentMode, at []assay.Coordinates, out []engine.Planned) ([]engine.Planned, error) {
	rec, ok := s.recipes[at[0].Stage]
	if !ok {
		return nil, fmt.Errorf("run %s has no stage %q", s.run.ID, at[0].Stage)
	}
	maker, err := s.maker(at[0].Stage, at[0].Answering(), mode)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(at))
	for i, c := range at {
		ids[i] = c.Item
	}
	items, err := s.Ledger.ItemsByID(ctx, s.run.No, rec.items(), ids)
	if err != nil {
		return nil, fmt.Errorf("items of run %s: %w", s.run.ID, err)
	}
	block := make([]wanted, len(at))
	for i, c := range at {
		it, ok := items[c.Item]
		if !ok {
			return nil, fmt.Errorf("item %q of run %s: %w", c.Item, s.run.ID, store.ErrNotFound)
		}
		block[i] = wanted{it, c}
	}
	made := len(out)
	maker.yield(ctx, rec, block, func(p engine.Planned, e error) bool {
		if err = e; e == nil {
			out = append(out, p)
		}
		return e == nil
	})
	for i, c := range at {
		if err == nil && (made+i >= len(out) || out[made+i].At != c) {
			err = fmt.Errorf("request %s cannot be made any more: an answer it needs is gone", c.Key())
		}
	}
	return out, err
}
