package workspace

import (
	"context"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/study"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

// pilotSuffix marks the runs of pilots, so that they are not taken for runs of the study.
const pilotSuffix = ".pilot"

// Pilot is a few first questions of a study, to be asked live before the whole is priced.
type Pilot struct {
	Wanted
	options plan.Options
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
	return &Pilot{Wanted: want, options: o}, nil
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
	return h.BeginAs(ctx, p.Wanted, p.Input.Study.Study+pilotSuffix, nil)
}

// pilotOf returns the newest pilot of the same study, which asks the same today; empty if there is none.
func (h *Home) pilotOf(ctx context.Context, want Wanted, digest string) (string, error) {
	runs, err := h.Ledger.Reader.Runs(ctx, want.Input.Study.Study+pilotSuffix)
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

// Observe puts into the input of a plan what the answers of a pilot took, by lane, and counts them.
func (h *Home) Observe(ctx context.Context, run store.Run, p *Pilot) (answers int64, err error) {
	bytes, judged, err := promptBytes(ctx, p.Input, p.options)
	if err != nil {
		return 0, err
	}
	p.Input.Observed, p.Input.Judged = map[string]plan.Observed{}, map[string]plan.Observed{}
	asked, verdicts := tally{seen: p.Input.Observed}, tally{seen: p.Input.Judged}
	for a, err := range h.Ledger.Reader.Answers(ctx, run.No, "", "") {
		if err != nil {
			return 0, err
		}
		if !a.Outcome.Usage.Known || !a.Outcome.Ending.Stands() {
			continue
		}
		into := &asked
		if judged[a.At.Stage] {
			into = &verdicts
		}
		into.add(a, bytes[a.Key])
		answers++
	}
	return answers, nil
}

// promptBytes returns how long the prompts of a pilot are, and which of its stages judge.
func promptBytes(ctx context.Context, d *plan.Input, o plan.Options) (bytes map[assay.Key]int, judged map[string]bool, err error) {
	bytes, judged = map[assay.Key]int{}, map[string]bool{}
	for _, name := range o.Stages {
		st, ok := d.Study.Stage(name)
		if !ok {
			continue
		}
		lanes := d.Study.Contestants(st)
		if judged[name] = st.Verb() == study.VerbCompare; judged[name] {
			lanes = d.Study.LanesNamed(st.Judges.List)
		}
		for _, l := range lanes {
			for r, err := range d.First(ctx, st, l, o) {
				if err != nil {
					return nil, nil, err
				}
				bytes[r.Key] = r.Prompt.Bytes()
			}
		}
	}
	return bytes, judged, nil
}

// tally adds up what answers took, by lane.
type tally struct {
	seen map[string]plan.Observed
	sums map[string]struct{ bytes, input, output int64 }
}

// add counts an answer to a prompt of so many bytes.
func (t *tally) add(a store.Answer, bytes int) {
	if t.sums == nil {
		t.sums = map[string]struct{ bytes, input, output int64 }{}
	}
	seen, sum, u := t.seen[a.Lane], t.sums[a.Lane], a.Outcome.Usage
	tokens := float64(u.Output)
	if seen.N == 0 || tokens < seen.Low {
		seen.Low = tokens
	}
	seen.High = max(seen.High, tokens)
	seen.N++
	sum.bytes, sum.input, sum.output = sum.bytes+int64(bytes), sum.input+u.Input, sum.output+u.Output
	seen.Mean = float64(sum.output) / float64(seen.N)
	if sum.bytes > 0 {
		seen.PerByte = float64(sum.input) / float64(sum.bytes)
	}
	t.seen[a.Lane], t.sums[a.Lane] = seen, sum
}
