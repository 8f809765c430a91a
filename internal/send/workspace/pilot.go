package workspace

import (
	"context"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/learned"
	"assay/internal/send/script/snapshot"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

// Pilot is a few first questions of a study, to be asked live before the whole is priced.
type Pilot struct {
	Wanted
}

// PlanPilot plans the first so many items of every stage that can be asked before any answer is there. Options are those that
// the whole was planned with. The plan of the pilot is nil if there are problems.
func PlanPilot(ctx context.Context, want Wanted, whole *plan.Plan, o plan.Options, items int) (*Pilot, assay.Problems) {
	o.Limit, o.Stages = items, nil
	for _, q := range firstParts(whole) {
		o.Stages = append(o.Stages, q.Stage)
	}
	p, problems := estimate.Make(ctx, want.Input, o)
	if p == nil {
		return nil, problems
	}
	p.Parts = firstParts(p)
	want.Plan = p
	want.Settings = snapshot.Settings{Lanes: o.Lanes, Stages: o.Stages, Limit: o.Limit, NoCanary: true, Pilot: true}
	return &Pilot{Wanted: want}, nil
}

func firstParts(p *plan.Plan) []plan.Part {
	var out []plan.Part
	for _, q := range p.Parts {
		if (q.Verb == study.VerbAsk || q.Verb == study.VerbCompare) && q.Turn == 1 && q.Exact {
			out = append(out, q)
		}
	}
	return out
}

// BeginPilot writes the run of a pilot. The answers are kept: the study's run takes them over at no cost.
func (h *Home) BeginPilot(ctx context.Context, p *Pilot) (store.Run, error) {
	return h.BeginAs(ctx, p.Wanted, p.Input.Study.Study+learned.PilotSuffix, nil)
}

// pilotOf returns the newest pilot of the same study, which asks the same today; empty if there is none.
func (h *Home) pilotOf(ctx context.Context, want Wanted, digest string) (string, error) {
	runs, err := h.Ledger.Reader.Runs(ctx, want.Input.Study.Study+learned.PilotSuffix)
	if err != nil {
		return "", err
	}
	for _, r := range runs {
		if r.Rehearsal != h.Rehearsal {
			continue
		}
		if r.Digest == digest {
			return r.ID, nil
		}
		e, err := h.edited(ctx, want, r, digest, false)
		if err != nil {
			return "", err
		}
		if len(e.Difference.Asks()) == 0 {
			return r.ID, nil
		}
	}
	return "", nil
}

// Learn has a study planned by what answers took in this ledger: in one of its runs, which goes on, and before.
func (h *Home) Learn(ctx context.Context, d *plan.Input, run store.Run) error {
	run.Study, run.Rehearsal = d.Study.Study, h.Rehearsal
	book, err := learned.Open(ctx, h.Ledger.Reader, run, learned.Models(d.Study.Lanes, func(l study.Lane) string { return l.Model }))
	if err == nil {
		d.Learned = book.Before
	}
	return err
}
