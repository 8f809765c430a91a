package rows

import (
	"context"

	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/show/report"
)

// FirstAnswer is a lane's first answer that waits for a person's yes, with what it was asked.
type FirstAnswer struct {
	Lane   store.Lane
	Answer store.Answer
	Turns  []report.Turn // the question, and the answer last
}

// FirstAnswers returns the first answers of a run that wait for a yes, in the order of stage and lane.
func FirstAnswers(ctx context.Context, r *results.Reader, run store.Run) ([]FirstAnswer, error) {
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return nil, err
	}
	canaries, err := r.Ledger.Canaries(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var out []FirstAnswer
	for _, l := range lanes {
		if l.Canary != store.CanaryShown || l.State != store.LaneOpen {
			continue
		}
		for _, g := range canaries {
			if g.Stage != l.Stage || g.Lane != l.Name {
				continue
			}
			one, err := firstAnswer(ctx, r, run, l, g.No)
			if err != nil {
				return nil, err
			}
			if one != nil {
				out = append(out, *one)
			}
		}
	}
	return out, nil
}

func firstAnswer(ctx context.Context, r *results.Reader, run store.Run, l store.Lane, segment int64) (*FirstAnswer, error) {
	var first *store.Answer
	for a, err := range r.Ledger.SegmentAnswers(ctx, segment) {
		if err != nil {
			return nil, err
		}
		if a.Ended {
			first = &a
			break
		}
	}
	if first == nil {
		return nil, nil
	}
	turns, err := Conversation(ctx, r, run, *first)
	if err != nil {
		return nil, err
	}
	return &FirstAnswer{Lane: l, Answer: *first, Turns: turns}, nil
}
