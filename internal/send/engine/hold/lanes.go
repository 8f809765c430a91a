package hold

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// Lane reads the segment's lane.
func (w *Work) Lane(ctx context.Context) (store.Lane, error) {
	l, err := w.Ledger.Reader.Lane(ctx, w.Run.No, w.Seg.Stage, w.Seg.Lane)
	if errors.Is(err, store.ErrNotFound) {
		err = errors.New("lane " + w.Seg.Lane + " is not in the plan of stage " + w.Seg.Stage)
	}
	return l, err
}

// StopLane stops or holds the lane in its stage; the segment waits with it.
func (w *Work) StopLane(ctx context.Context, to store.LaneStop) error {
	if err := w.Ledger.Work.SetLane(ctx, w.Run.No, w.Seg.Stage, w.Seg.Lane, to); err != nil {
		return err
	}
	return Rest(ctx, w, store.Reason(to.Reason))
}

// LaneHeld returns the state of a lane that a person has to look at.
func LaneHeld(why string) store.LaneStop { return store.LaneStop{State: store.LaneHeld, Reason: why} }

// StoppedBy returns the state of a lane that is stopped because of a fault that every further request would meet.
func StoppedBy(f *assay.Fault) store.LaneStop {
	to := store.LaneStop{State: store.LaneStopped, Reason: f.Error()}
	if f.Class == assay.FaultDenied || f.Class == assay.FaultQuota {
		to.Cause = store.CauseAccount
	}
	return to
}

// LeastEnded is how many requests of a lane have to end before its share of errors counts.
const LeastEnded = 20

// StopForErrors stops a lane when too many of its requests end without an answer, or, of a judge, without a verdict that can be read.
// It reports whether it did.
func StopForErrors(ctx context.Context, ledger engine.Ledger, l store.Lane, above float64) (bool, error) {
	if l.State != store.LaneOpen {
		return false, nil
	}
	if above <= 0 {
		return stopForNothing(ctx, ledger, l)
	}
	var ended, errors int64
	for ending, n := range l.Endings {
		switch {
		case ending == assay.Cancelled:
		case ending.Stands():
			ended += n
		default:
			ended, errors = ended+n, errors+n
		}
	}
	errors += l.Unread
	if ended < LeastEnded || float64(errors) <= above*float64(ended) {
		return false, nil
	}
	without := "an answer"
	if l.Unread > 0 {
		without = "a verdict that can be read"
	}
	why := fmt.Sprintf("stop_if: %d of %d requests ended without %s, more than %g", errors, ended, without, above)
	return true, ledger.Work.SetLane(ctx, l.Run, l.Stage, l.Name, store.LaneStop{State: store.LaneStopped, Reason: why})
}

// stopForNothing stops a lane whose study sets no share, when not one of its first answers is good: all are empty, cut,
// refused or rejected, or no verdict can be read from them. What a person sent again all the same goes on.
func stopForNothing(ctx context.Context, ledger engine.Ledger, l store.Lane) (bool, error) {
	ended := l.Ended() - l.Endings[assay.Cancelled]
	short := l.Endings[assay.Cut] + l.Endings[assay.Refused] // of which some may be unread as well
	bad := l.Endings[assay.Empty] + l.Endings[assay.Rejected] + max(short, l.Unread)
	if ended < LeastEnded || bad < ended || ended >= l.Planned-l.Spared {
		return false, nil
	}
	again, err := ledger.Reader.Ordered(ctx, l.Run, store.OrderRetry)
	if err != nil || again {
		return false, err
	}
	why := fmt.Sprintf("all of the first %d answers are empty, cut, refused or rejected (`assay retry` sends the rest anyway)", ended)
	if l.Unread > short {
		why = fmt.Sprintf("no verdict can be read from the first %d replies (`assay results --stage %s` shows them, `assay retry` sends "+
			"the rest anyway)", ended, l.Stage)
	}
	stop := store.LaneStop{State: store.LaneStopped, Cause: store.CauseNothingGood, Reason: why}
	if err := ledger.Work.SetLane(ctx, l.Run, l.Stage, l.Name, stop); err != nil {
		return true, err
	}
	return true, ledger.Work.HurryLane(ctx, l.Run, l.Stage, l.Name)
}

// JudgeCanary decides by a canary's outcome whether the lane's batches may go.
func JudgeCanary(ctx context.Context, ledger engine.Ledger, g store.Segment, p engine.Policy, r engine.Route) error {
	if g.Purpose != store.ForCanary {
		return nil
	}
	var outcome *assay.Outcome
	unread := false
	for a, err := range ledger.Reader.SegmentAnswers(ctx, g.No) {
		if err != nil {
			return err
		}
		outcome, unread = &a.Outcome, !a.Over && r.Unread(a.Outcome) // what is too long for a row is read with the others
		break
	}
	if outcome == nil {
		return nil
	}
	to, why := store.CanaryPassed, ""
	switch {
	case p.NoCanary:
	case outcome.Ending == assay.Rejected:
		why = "the canary was rejected"
		if outcome.Fault != nil {
			why += ": " + outcome.Fault.Error()
		}
	case outcome.Ending == assay.Empty || outcome.Ending == assay.Cut:
		why = shortCanary(outcome.Ending)
	case unread:
		why = "no verdict can be read from the canary's reply: " + r.Verdict(*outcome).Why + " (`assay retry` sends the rest all the same)"
	case p.VerifyFirst:
		to = store.CanaryShown
	}
	if why != "" {
		to = store.CanaryFailed
		stop := store.LaneStop{State: store.LaneStopped, Reason: why}
		if err := ledger.Work.SetLane(ctx, g.Run, g.Stage, g.Lane, stop); err != nil {
			return err
		}
	}
	_, err := ledger.Work.SetCanary(ctx, g.Run, g.Stage, g.Lane, store.CanaryAsked, to)
	return err
}

// shortCanary returns why a lane waits whose first answer is empty or cut: a whole batch of such answers would be paid for.
func shortCanary(e assay.Ending) string {
	what := "the canary's answer is empty"
	if e == assay.Cut {
		what = "the canary's answer is cut off by the output limit"
	}
	return what + " (raise max_tokens, or turn thinking off; `assay retry` sends the rest as it is)"
}

// NoteServed notes, once for each name, that answers of a segment come from another model than was asked.
func NoteServed(ctx context.Context, w *Work, seen map[string]bool, block []store.Settlement) error {
	var failed error
	for i := range block {
		served := block[i].Outcome.Model
		if seen[served] || assay.SameModel(w.Seg.Model, served) {
			continue
		}
		seen[served] = true
		note := fmt.Sprintf("Lane %s asks %s, and answers come from %s", w.Seg.Lane, w.Seg.Model, assay.Clean(served, 100))
		failed = errors.Join(failed, w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, store.ServedEvent, note))
	}
	return failed
}
