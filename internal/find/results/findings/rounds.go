package findings

import (
	"context"

	"assay/internal/find/analysis"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/script/rounds"
	"assay/internal/study"
	"assay/internal/study/adaptive"
)

// Look returns what all verdicts of a stage so far show, for deciding what its next round buys. It rests on the same rows as the stage's
// table, and takes pairs that were all planned at once for one round.
func Look(ctx context.Context, r *results.Reader, run store.Run, stage string) (rounds.Found, error) {
	var out rounds.Found
	s, err := leaderboard(ctx, r, run, Query{Stages: []string{stage}, look: true})
	if err != nil || s == nil {
		return out, err
	}
	out.Look, out.Valid = s.Look, s.Coverage.Valid
	out.Again = s.Coverage.Failed + s.Coverage.Malformed + s.Coverage.Abstained + s.Coverage.Missing
	for _, p := range s.Places {
		out.Names = append(out.Names, p.Name)
	}
	return out, nil
}

// Leaderboard returns the leaderboard that the table of a stage has; nil: there is none.
func Leaderboard(ctx context.Context, r *results.Reader, run store.Run, stage string) (*analysis.Leaderboard, error) {
	return leaderboard(ctx, r, run, Query{Stages: []string{stage}})
}

// leaderboard fits all comparisons of the one stage that a query names.
func leaderboard(ctx context.Context, r *results.Reader, run store.Run, q Query) (*analysis.Leaderboard, error) {
	q.Methods = []string{string(analysis.BradleyT)}
	w, err := walkOver(ctx, r, run, q)
	if err != nil {
		return nil, err
	}
	report, err := w.report(ctx)
	if err != nil {
		return nil, err
	}
	for i := range report.Leaderboards {
		if report.Leaderboards[i].Stage == q.Stages[0] {
			return &report.Leaderboards[i], nil
		}
	}
	return nil, nil
}

// Rounds returns how far a stage is that buys its pairs in rounds, or that more was bought for than was planned; nil: neither.
func Rounds(ctx context.Context, r *results.Reader, run store.Run, st *study.Stage) (*analysis.Rounds, error) {
	out := &analysis.Rounds{Planned: 1, Alpha: adaptive.Alpha, Level: adaptive.Alpha, Next: adaptive.Alpha / adaptive.Rounds}
	adapts := st.Pairs != nil && st.Pairs.Adaptive != nil
	if adapts {
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
		claims, beyond, err := rounds.ClaimsOf(l)
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
	if !adapts && out.Looks == 0 {
		return nil, nil
	}
	if out.Stopped == "" && run.State == store.RunClosed {
		out.Stopped = "the round after it did not come to its end"
	}
	return out, nil
}
