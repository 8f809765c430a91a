package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// check looks where a job stands, and cancels it when a person or its deadline says so.
func (w *work) check(ctx context.Context) error {
	if w.access.Fingerprint != w.g.Account {
		return w.Ledger.Wake(ctx, w.l, w.otherKey(),
			fmt.Sprintf("the job was made with another key (%s, here is %s): collect it with that one", w.g.Account, w.access.Fingerprint))
	}
	st, err := w.access.Batch.Check(ctx, w.job())
	if err != nil {
		return w.unchecked(ctx, err)
	}
	if st.State.Terminal() {
		return w.ended(ctx, st)
	}
	if err := w.cancelIfDue(ctx); err != nil {
		return err
	}
	now := w.Clock.Now()
	see := sighting(st)
	see.Due = now.Add(max(w.pollJob(now.Sub(w.g.Launched)), w.Timing.scaled(st.LookAfter)))
	if end := w.deadline(); end.After(now) && end.Before(see.Due) {
		see.Due = end
	}
	return w.Ledger.Checked(ctx, w.l, see)
}

// otherKey is when a job of another key is looked at again: soon, because the process that has its key may be the next to look.
func (w *work) otherKey() time.Time { return w.Clock.Now().Add(w.Timing.PollMax / 5) }

// unchecked decides about a check that failed. The job is paid for: it is looked at again, never called failed for that.
func (w *work) unchecked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	now := w.Clock.Now()
	f := provider.FaultOf(err)
	if f == nil {
		f = &assay.Fault{Class: assay.FaultUnknown, Message: err.Error()}
	}
	if f.Class == assay.FaultGone { // perhaps the ledger forgot, with the power, that its results are here
		parts, err := w.partsHere(ctx)
		if err != nil {
			return err
		}
		if len(parts) > 0 {
			return w.ended(ctx, provider.Status{State: provider.StateEnded, Word: "gone at the provider, and its results are here", Parts: parts})
		}
	}
	// A new job may be missing from a lagging replica; one that stays away is for a person.
	if f.Class == assay.FaultGone && now.Sub(w.g.Launched) > w.Timing.Gone && w.g.Failures >= 3 {
		return w.vanished(ctx, "the provider does not know job "+w.g.Job+" under this key ("+w.access.Fingerprint+")")
	}
	if f.Class == assay.FaultDenied && w.g.Failures >= maxDenied {
		return w.Ledger.Hold(ctx, w.l, w.keyless(f))
	}
	return w.Ledger.RetryLater(ctx, w.l, now.Add(max(w.pollJob(now.Sub(w.g.Launched)), f.RetryAfter)), "looking at the job: "+f.Error())
}

// vanished decides about a job that is not there any more: a person does. A rehearsal's was in a process that was killed, and
// asking the next simulator costs nothing.
func (w *work) vanished(ctx context.Context, why string) error {
	if w.run.Rehearsal {
		return w.Ledger.GoBack(ctx, w.l, store.Back{To: store.Staged, Reason: "the job ended with the process that simulated it", Due: w.Clock.Now()})
	}
	return w.Ledger.Hold(ctx, w.l, why)
}

// maxDenied is how often in a row a key may be refused before a person has to look.
const maxDenied = 3

// keyless says what to do about a job whose key does not work any more. The job is paid for, and stays where it is.
func (w *work) keyless(f *assay.Fault) string {
	return fmt.Sprintf("the provider refuses the key (%s); when it works again: assay resolve %s %d --adopt %s", f.Error(), w.run.ID, w.g.No, w.g.Job)
}

// deadline is when the job has taken as long as the study lets it; zero: never. The study may have been changed since it went.
func (w *work) deadline() time.Time {
	if w.policy.Deadline <= 0 {
		return time.Time{}
	}
	return w.g.Launched.Add(w.policy.Deadline)
}

// cancelIfDue asks the provider to stop a job. The wish is in the ledger before the call, and the call is repeated until
// the job has ended.
func (w *work) cancelIfDue(ctx context.Context) error {
	now := w.Clock.Now()
	lane, err := w.lane(ctx, w.run.No, w.g.Stage, w.g.Lane)
	if err != nil {
		return err
	}
	cause := store.CancelCause("")
	switch {
	case CancelledByUser(lane):
		cause = store.ByUser
	case gaveNothing(lane):
		cause = store.ByRule
	case !w.deadline().IsZero() && !now.Before(w.deadline()):
		cause = store.ByDeadline
	}
	if w.g.CancelCause == "" && cause != "" {
		if err := w.Ledger.AskCancel(ctx, w.l, cause, now); err != nil {
			return err
		}
		w.g.CancelCause = cause
	}
	if w.g.CancelCause == "" {
		return nil
	}
	c, ok := w.access.Batch.(provider.Canceler)
	if !ok {
		return nil // it ends when it ends
	}
	if err := c.Cancel(ctx, w.job()); err != nil && ctx.Err() == nil {
		return w.Ledger.Note(ctx, w.run.No, w.g.No, "cancel", "the provider did not take it: "+err.Error())
	}
	return ctx.Err()
}

// ended decides about a job that will not change any more.
func (w *work) ended(ctx context.Context, st provider.Status) error {
	nothing := len(st.Parts) == 0 && st.Counts.Succeeded == 0
	if st.State == provider.StateFailed && nothing {
		return w.failed(ctx, st)
	}
	see := sighting(st)
	see.Due = w.Clock.Now()
	return w.Ledger.Ended(ctx, w.l, see)
}

func sighting(st provider.Status) store.Sighting {
	counts, _ := json.Marshal(st.Counts) // plain numbers
	parts, _ := json.Marshal(st.Parts)   // plain strings and numbers
	if st.Parts == nil {
		parts = []byte("[]")
	}
	return store.Sighting{State: string(st.State), Word: st.Word, Counts: string(counts), Parts: string(parts), CollectBefore: st.CollectBefore}
}

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
	if len(st.Problems) > 0 && w.g.Recuts < maxRecuts && f.Class != assay.FaultGone {
		return w.recut(ctx, st)
	}
	if f.Class == assay.FaultInvalid && w.access.Batch.Limits().AllOrNothing {
		return w.bisect(ctx, f)
	}
	failed, err := w.failedJobs(ctx)
	if err != nil {
		return err
	}
	if (f.Class == assay.FaultUnknown || f.Class == assay.FaultGone) && failed < maxFailed {
		return w.Ledger.GoBack(ctx, w.l, store.Back{To: store.Staged, Reason: f.Error(), Due: w.Clock.Now().Add(w.backoff(failed+2, f.RetryAfter))})
	}
	to := held(f.Error())
	if f.Class == assay.FaultQuota || f.Class == assay.FaultDenied {
		to = stoppedBy(f)
	}
	return errors.Join(w.Ledger.GoBack(ctx, w.l, store.Back{To: store.Staged, Reason: f.Error()}), w.stopLane(ctx, to))
}

// maxRecuts is how often lines at fault are cut out of what is left of a job: some providers name one line at a time.
const maxRecuts = 10

// maxFailed is how many jobs of a segment may fail without a word before a person has to look.
const maxFailed = 3

// failedJobs counts the jobs of the segment that failed before this one.
func (w *work) failedJobs(ctx context.Context) (int64, error) {
	jobs, err := w.Ledger.SegmentJobs(ctx, w.g.No)
	n := int64(0)
	for _, j := range jobs {
		if j.Role == "failed" {
			n++
		}
	}
	return n, err
}

// full learns from a job that was refused because too many tokens wait at the account: by our own sums less fits than was
// there. It goes again as soon as one of ours has ended. Where none was there, others fill the account, or the job is larger
// than what it takes at a time.
func (w *work) full(ctx context.Context, f *assay.Fault) error {
	out, err := w.Ledger.Enqueued(ctx, w.g.Account, w.g.Model, w.g.No)
	if err != nil {
		return err
	}
	if out == 0 {
		if f.Limit > 0 && w.g.Tokens > f.Limit/3 && w.g.Requests > 1 { // our sums are estimates
			return w.halve(ctx, "it is larger than the provider takes at a time")
		}
		return w.gate(ctx, f)
	}
	limit := out + w.g.Tokens - 1
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	now := w.Clock.Now()
	return errors.Join(w.Ledger.LearnLimit(ctx, w.g.Account, w.g.Model, limit, now.Add(w.Timing.Room)),
		w.Ledger.GoBack(ctx, w.l, store.Back{To: store.Staged, Reason: f.Error(), Due: now}))
}

// gate closes the model for a while: the account has too much under way.
func (w *work) gate(ctx context.Context, f *assay.Fault) error {
	g, err := w.Ledger.GateOf(ctx, w.g.Account, w.g.Model)
	if err != nil {
		return err
	}
	rest := min(w.Timing.GateMin<<min(g.Failures, 10), w.Timing.GateMax)
	until := w.Clock.Now().Add(max(rest, f.RetryAfter))
	err = w.Ledger.ShutGate(ctx, store.Gate{Account: w.g.Account, Model: w.g.Model, Until: until, Reason: f.Error()})
	if err != nil {
		return err
	}
	return w.Ledger.GoBack(ctx, w.l, store.Back{To: store.Staged, Reason: f.Error(), Due: until.Add(w.jitter(w.Timing.PollMin))})
}

// counts are the provider's numbers as the ledger keeps them.
func (w *work) counts() provider.Counts {
	var c provider.Counts
	_ = json.Unmarshal([]byte(w.g.JobCounts), &c) // our own writing; nothing there means unknown
	return c
}

// parts are what can be fetched, as the ledger keeps them.
func (w *work) parts() ([]provider.Part, error) {
	var parts []provider.Part
	if err := json.Unmarshal([]byte(w.g.Parts), &parts); err != nil {
		return nil, fmt.Errorf("parts of job %s: %w", w.g.Job, err)
	}
	return parts, nil
}

// noCap lets a request go again whatever happened before: it was never sent.
const noCap = int64(1) << 30

// soon is a due time for what can go on at once.
func (w *work) soon() time.Time { return w.Clock.Now() }
