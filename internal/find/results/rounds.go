package results

import (
	"context"

	"assay/internal/find/analysis"
	"assay/internal/keep/store"
	"assay/internal/send/script"
	"assay/internal/study"
	"assay/internal/study/adaptive"
)

// Look is what all verdicts of a stage so far say, for deciding what its next round buys. It rests on the same rows as the stage's table.
func (r *Reader) Look(ctx context.Context, run store.Run, stage string) (script.Found, error) {
	found, _, err := r.standing(ctx, run, stage, true)
	return found, err
}

// standing is what all comparisons of a stage say, and the standing that its table has, or would have if they had been bought in a round.
func (r *Reader) standing(ctx context.Context, run store.Run, stage string, look bool) (script.Found, *analysis.Standing, error) {
	var out script.Found
	w, err := walkOver(ctx, r, run, Query{Stages: []string{stage}, Methods: []string{string(analysis.BradleyT)}, look: look})
	if err != nil {
		return out, nil, err
	}
	report, err := w.report(ctx)
	if err != nil {
		return out, nil, err
	}
	var stood *analysis.Standing
	for i, s := range report.Standings {
		if s.Stage != stage {
			continue
		}
		stood = &report.Standings[i]
		out.Look, out.Valid = s.Look, s.Coverage.Valid
		out.Again = s.Coverage.Failed + s.Coverage.Malformed + s.Coverage.Abstained + s.Coverage.Missing
		for _, p := range s.Places {
			out.Names = append(out.Names, p.Name)
		}
	}
	return out, stood, nil
}

// Rounds is how far a stage is that buys its pairs in rounds, or that more was bought for than was planned; nil: neither.
func (r *Reader) Rounds(ctx context.Context, run store.Run, st *study.Stage) (*analysis.Rounds, error) {
	out := &analysis.Rounds{Planned: 1, Alpha: adaptive.Alpha, Level: adaptive.Alpha, Next: adaptive.Alpha / adaptive.Rounds}
	rounds := st.Pairs != nil && st.Pairs.Adaptive != nil
	if rounds {
		a := st.Pairs.Adaptive
		out.Planned, out.Width = a.Planned(), a.Goal.Width > 0
		out.Level = adaptive.Alpha / float64(a.Planned())
		out.Next = out.Level
	}
	for l, err := range r.Ledger.Looks(ctx, run.No) {
		if err != nil {
			return nil, err
		}
		if l.Stage != st.Name {
			continue
		}
		claims, beyond, err := script.ClaimsOf(l)
		if err != nil {
			return nil, err
		}
		for _, c := range claims {
			out.Claims = append(out.Claims, analysis.Claim{Better: c.Better, Worse: c.Worse, Look: l.Number, P: c.P, Level: c.Level})
		}
		out.Looks, out.Stopped = l.Number, ""
		if l.Level > 0 { // a look that only buys spends nothing
			out.Level = l.Level
		}
		if beyond {
			out.Beyond += l.Level
		}
		if l.Stop != store.StopNone {
			out.Stopped = l.Stop.Words()
		}
	}
	if !rounds && out.Looks == 0 {
		return nil, nil
	}
	if out.Stopped == "" && run.State == store.RunClosed {
		out.Stopped = "the round after it did not come to its end"
	}
	return out, nil
}
