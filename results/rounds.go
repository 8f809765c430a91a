package results

import (
	"context"

	"assay/adaptive"
	"assay/analysis"
	"assay/script"
	"assay/store"
	"assay/study"
)

// Look is what all verdicts of a stage so far say, for deciding what its next round buys. It rests on the same rows as the stage's table.
func (r *Reader) Look(ctx context.Context, run store.Run, stage string) (script.Found, error) {
	st, err := r.Study(ctx, run)
	if err != nil {
		return script.Found{}, err
	}
	d := &rowReader{Reader: r, run: run, study: st, query: Query{Stages: []string{stage}, Methods: []string{string(analysis.BradleyT)}}}
	report, err := d.report(ctx, nil)
	if err != nil {
		return script.Found{}, err
	}
	var out script.Found
	for _, s := range report.Standings {
		if s.Stage != stage {
			continue
		}
		out.Look, out.Valid = s.Look, s.Coverage.Valid
		out.Again = s.Coverage.Failed + s.Coverage.Malformed + s.Coverage.Abstained + s.Coverage.Missing
		for _, p := range s.Places {
			out.Names = append(out.Names, p.Name)
		}
	}
	return out, nil
}

// Rounds is how far a stage is that buys its pairs in rounds; nil: it does not.
func (r *Reader) Rounds(ctx context.Context, run store.Run, st *study.Stage) (*analysis.Rounds, error) {
	if st.Pairs == nil || st.Pairs.Adaptive == nil {
		return nil, nil
	}
	a := st.Pairs.Adaptive
	out := &analysis.Rounds{Planned: a.Planned(), Alpha: adaptive.Alpha, Level: adaptive.Alpha / float64(a.Planned()), Width: a.Goal.Width > 0}
	out.Next = adaptive.Alpha / float64(out.Planned)
	for l, err := range r.Ledger.Looks(ctx, run.No) {
		if err != nil {
			return nil, err
		}
		if l.Stage != st.Name {
			continue
		}
		claims, err := script.ClaimsOf(l)
		if err != nil {
			return nil, err
		}
		for _, c := range claims {
			out.Claims = append(out.Claims, analysis.Claim{Better: c.Better, Worse: c.Worse, Look: l.Number, P: c.P, Level: c.Level})
		}
		out.Looks, out.Level = l.Number, l.Level
		if l.Stop != store.StopNone {
			out.Stopped = l.Stop.Words()
		}
	}
	if out.Stopped == "" && run.State == store.RunClosed {
		out.Stopped = "the round after it did not come to its end"
	}
	return out, nil
}
