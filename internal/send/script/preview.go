package script

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/stages"
	"assay/internal/study"
	"assay/internal/study/plan"
)

// Preview is a study made executable before any run of it has begun: what would be asked, with stand-ins for answers that are
// not there yet. It is safe for concurrent use.
type Preview struct {
	input *plan.Input

	mu    sync.Mutex
	built map[int]*stages.Stages // by the limit on items
}

// NewPreview previews a study. Nothing is read yet.
func NewPreview(in *plan.Input) *Preview {
	return &Preview{input: in, built: map[int]*stages.Stages{}}
}

// Previewed is a request as it would go out.
type Previewed struct {
	plan.First
	StandIn bool // it holds answers that are made up
}

// Known walks over the requests of a lane in a stage whose prompts need no answer, in the order in which they go out. Of a
// stage that needs answers there are none.
func (p *Preview) Known(ctx context.Context, st *study.Stage, l *study.Lane, o plan.Options) iter.Seq2[plan.First, error] {
	return func(yield func(plan.First, error) bool) {
		for r, err := range p.Requests(ctx, st.Name, l.Name, 1, o) {
			if err == nil && r.StandIn {
				return
			}
			if !yield(r.First, err) || err != nil {
				return
			}
		}
	}
}

// Requests walks over what a lane would be asked in a turn of a stage. Conditions on answers and verdicts are taken to hold.
func (p *Preview) Requests(ctx context.Context, stage, lane string, turn int, o plan.Options) iter.Seq2[Previewed, error] {
	return func(yield func(Previewed, error) bool) {
		all, err := p.stages(ctx, o.Limit)
		if err != nil {
			yield(Previewed{}, err)
			return
		}
		rec, ok := all.Of(stage)
		l, found := p.input.Study.Lane(lane)
		st, _ := p.input.Study.Stage(stage)
		if !ok || !found {
			yield(Previewed{}, fmt.Errorf("the study has no stage %q with a lane %q", stage, lane))
			return
		}
		mode := store.Batch
		if p.input.Mode(st, l) == assay.ModeLive {
			mode = store.Live
		}
		route := routeOf(all, st, l, mode)
		for row, err := range all.Rows(ctx, rec) {
			if err != nil {
				yield(Previewed{}, err)
				return
			}
			for _, at := range turnsOf(rec, row, lane, turn) {
				r, ok, err := preview(rec, row.Item, at, route)
				if err != nil || ok {
					if !yield(r, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// turnsOf returns the requests about an item in a turn. A judge is asked in one turn about the answers of all.
func turnsOf(rec stages.Stage, r stages.Row, lane string, turn int) []assay.Coordinates {
	if _, judges := rec.(stages.Judging); !judges {
		return rec.At(r.Item, r.Ord, lane, turn)
	}
	var out []assay.Coordinates
	for t := 1; t <= rec.Turns(); t++ {
		out = append(out, rec.At(r.Item, r.Ord, lane, t)...)
	}
	return out
}

// preview makes one request, with stand-ins for the answers it needs; false where the stage would not ask it.
func preview(rec stages.Stage, it assay.Item, at assay.Coordinates, route plan.Route) (Previewed, bool, error) {
	needs, err := rec.Needs(it, at)
	if err != nil {
		return Previewed{}, false, err
	}
	made := stages.Answers{}
	for _, n := range needs {
		made[n.Key()] = stages.Answer{Text: standIn(n), Ending: assay.Answered}
	}
	prompt, ok, err := rec.Prompt(it, at, made)
	if err != nil {
		return Previewed{}, false, fmt.Errorf("item %q in stage %s: %w", it.ID, at.Stage, err)
	}
	r := Previewed{StandIn: len(needs) > 0, First: plan.First{
		Coordinates: at, Request: assay.Request{Key: at.Key(), Lane: &route.Lane, Wire: &route.Wire, Prompt: &prompt},
	}}
	return r, ok, nil
}

// standIn returns a text in the place of an answer that is not there yet. No two are the same, so that none are taken for ties.
func standIn(at assay.Coordinates) string {
	text := fmt.Sprintf("(STAND-IN for the answer of lane %s to item %s in stage %s, turn %d", at.Lane, at.Item, at.Stage, at.Turn)
	if at.Branch != "" {
		text += ", branch " + at.Branch
	}
	return text + fmt.Sprintf(", draw %d: it is not known yet)", at.Draw)
}

// stages builds the stages of the study, once for every limit.
func (p *Preview) stages(ctx context.Context, limit int) (*stages.Stages, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.built[limit]; ok {
		return s, nil
	}
	in := *p.input
	in.Rows = limitedRows{p.input, limit}
	s, err := stages.Build(ctx, &in, nil)
	if err == nil {
		p.built[limit] = s
	}
	return s, err
}

// limitedRows are the items of a study that a limit leaves.
type limitedRows struct {
	input *plan.Input
	limit int
}

// Items streams them.
func (r limitedRows) Items(ctx context.Context, input string) iter.Seq2[assay.Item, error] {
	return r.input.FirstItems(ctx, input, r.limit)
}
