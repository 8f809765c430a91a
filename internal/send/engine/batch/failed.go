package batch

import (
	"context"
	"errors"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// failed decides about a job that failed as a whole and did nothing: later behind a gate, without the lines at fault, or
// not before a person has looked.
func (w *work) failed(ctx context.Context, st provider.Status) error {
	f := st.Fault
	if f == nil {
		f = &assay.Fault{Class: assay.FaultUnknown, Message: "the job failed and says nothing more (" + st.Word + ")"}
	}
	if f.Limit != 0 {
		return w.full(ctx, f)
	}
	if f.Class == assay.FaultBusy {
		return w.gate(ctx, f)
	}
	if len(st.Problems) > 0 && w.Seg.Recuts < maxRecuts && f.Class != assay.FaultGone {
		return w.recut(ctx, st)
	}
	if f.Class == assay.FaultInvalid && w.Access.Batch.Limits().AllOrNothing {
		return w.bisect(ctx, f)
	}
	failed, err := w.failedJobs(ctx)
	if err != nil {
		return err
	}
	if (f.Class == assay.FaultUnknown || f.Class == assay.FaultGone) && failed < maxFailed {
		return w.Ledger.Work.GoBack(ctx, w.Lease, store.Back{To: store.Staged, Reason: f.Error(),
			Due: w.Clock.Now().Add(w.Backoff(failed+2, f.RetryAfter)), Asked: f.RetryAfter > 0})
	}
	to := hold.LaneHeld(f.Error())
	if f.Class == assay.FaultQuota || f.Class == assay.FaultDenied {
		to = hold.StoppedBy(f)
	}
	return errors.Join(w.Ledger.Work.GoBack(ctx, w.Lease, store.Back{To: store.Staged, Reason: f.Error()}), w.StopLane(ctx, to))
}

// maxRecuts is how often lines at fault are cut out of what is left of a job: some providers name one line at a time.
const maxRecuts = 10

// maxFailed is how many jobs of a segment may fail without a word before a person has to look.
const maxFailed = 3

// failedJobs counts the jobs of the segment that failed before this one.
func (w *work) failedJobs(ctx context.Context) (int64, error) {
	jobs, err := w.Ledger.Reader.SegmentJobs(ctx, w.Seg.No)
	n := int64(0)
	for _, j := range jobs {
		if j.Role == store.JobFailed {
			n++
		}
	}
	return n, err
}

// full learns from a job that was refused because too many tokens wait at the account: by our own sums less fits than was
// there. It goes again as soon as one of ours has ended. If none was there, others fill the account, or the job is larger
// than what it takes at a time.
func (w *work) full(ctx context.Context, f *assay.Fault) error {
	out, err := w.Ledger.Limits.Enqueued(ctx, w.Seg.Account, w.Seg.Model, w.Seg.No)
	if err != nil {
		return err
	}
	if out == 0 {
		if f.Limit > 0 && w.Seg.Tokens > f.Limit/3 && w.Seg.Requests > 1 { // our sums are estimates
			return w.halve(ctx, "it is larger than the provider takes at a time")
		}
		return w.gate(ctx, f)
	}
	limit := out + w.Seg.Tokens - 1
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	now := w.Clock.Now()
	return errors.Join(w.Ledger.Limits.LearnLimit(ctx, w.Seg.Account, w.Seg.Model, limit, now.Add(w.Timing.Room)),
		w.Ledger.Work.GoBack(ctx, w.Lease, store.Back{To: store.Staged, Reason: f.Error(), Due: now}))
}

// gate closes the model for a while: the account has too much under way.
func (w *work) gate(ctx context.Context, f *assay.Fault) error {
	g, err := w.Ledger.Limits.GateOf(ctx, w.Seg.Account, w.Seg.Model)
	if err != nil {
		return err
	}
	rest := min(w.Timing.GateMin<<min(g.Failures, 10), w.Timing.GateMax)
	until := w.Clock.Now().Add(max(rest, f.RetryAfter))
	err = w.Ledger.Limits.ShutGate(ctx, store.Gate{Account: w.Seg.Account, Model: w.Seg.Model, Until: until, Reason: f.Error()})
	if err != nil {
		return err
	}
	return w.Ledger.Work.GoBack(ctx, w.Lease, store.Back{To: store.Staged, Reason: f.Error(), Due: until.Add(w.Jitter(w.Timing.PollMin))})
}
