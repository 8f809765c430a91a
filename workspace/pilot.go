package workspace

import (
	"context"

	"assay"
	"assay/plan"
	"assay/script"
	"assay/store"
	"assay/study"
)

// pilotSuffix marks the runs of pilots, so that they are not taken for runs of the study.
const pilotSuffix = ".pilot"

// Pilot is a few first questions of a study, to be asked live before the whole is priced.
type Pilot struct {
	Wanted
	options plan.Options
}

// PlanPilot plans the first so many items of every stage that can be asked before any answer is there. Options are those that
// the whole was planned with. The plan of the pilot is nil where there are problems.
func PlanPilot(ctx context.Context, want Wanted, whole *plan.Plan, o plan.Options, items int) (*Pilot, assay.Problems) {
	o.Limit, o.Stages = items, nil
	for _, q := range firstParts(whole) {
		o.Stages = append(o.Stages, q.Stage)
	}
	p, problems := want.Input.Make(ctx, o)
	if p == nil {
		return nil, problems
	}
	p.Parts = firstParts(p)
	want.Plan = p
	want.Settings = script.Settings{Lanes: o.Lanes, Stages: o.Stages, Limit: o.Limit, NoCanary: true, Pilot: true}
	return &Pilot{Wanted: want, options: o}, nil
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

// BeginPilot writes the run of a pilot. The answers are kept: the study's run takes them over at no cost.
func (h *Home) BeginPilot(ctx context.Context, p *Pilot) (store.Run, error) {
	return h.BeginAs(ctx, p.Wanted, p.Input.Study.Study+pilotSuffix, nil)
}

// pilotOf is the newest pilot of the same study, which asks the same today; empty where there is none.
func (h *Home) pilotOf(ctx context.Context, want Wanted, digest string) (string, error) {
	runs, err := h.Ledger.Runs(ctx, want.Input.Study.Study+pilotSuffix)
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
		if e, err := h.edited(ctx, want, r, digest, false); err == nil && len(e.Difference.Asks()) == 0 {
			return r.ID, nil
		}
	}
	return "", nil
}

// Observe puts into the input of a plan what the answers of a pilot took, by lane, and counts them.
func (h *Home) Observe(ctx context.Context, run store.Run, p *Pilot) (answers int64, err error) {
	if p.Input.Observed, err = h.observed(ctx, run, p.Input, p.options); err != nil {
		return 0, err
	}
	for _, o := range p.Input.Observed {
		answers += o.N
	}
	return answers, nil
}

func (h *Home) observed(ctx context.Context, run store.Run, d *plan.Input, o plan.Options) (map[string]plan.Observed, error) {
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
				bytes[r.Key] = r.Prompt.Bytes()
			}
		}
	}
	out := map[string]plan.Observed{}
	sums := map[string]struct{ bytes, input, output int64 }{}
	for a, err := range h.Ledger.Answers(ctx, run.No, "", "") {
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
