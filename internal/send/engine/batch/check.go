package batch

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// check polls a job, and cancels it when a person or its deadline asks for it.
func (w *work) check(ctx context.Context) error {
	if same, err := sameAccount(ctx, w.Work); err != nil {
		return err
	} else if !same {
		return w.keyElsewhere(ctx, fmt.Sprintf("the job was made with another key (%s, here is %s): collect it with that one",
			w.Seg.Account, w.Access.Fingerprint))
	}
	st, err := w.Access.Batch.Check(ctx, w.Job())
	if job := w.Seg.Job; err == nil && !strings.HasSuffix(st.Job, job) && !strings.HasSuffix(job, st.Job) { // one may have a path before it
		err = &assay.Fault{Class: assay.FaultUnknown, Code: "another_job", Message: "the reply is about job " + st.Job}
	}
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
	see.Due = now.Add(max(w.pollNext(now.Sub(w.Seg.Launched)), w.Timing.Own(st.LookAfter)))
	if end := w.deadline(); end.After(now) && end.Before(see.Due) {
		see.Due = end
	}
	return w.Ledger.Work.Checked(ctx, w.Lease, see)
}

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
			return w.ended(ctx, provider.Status{State: provider.StateEnded, Word: "gone at the provider, and its results are here",
				Parts: parts})
		}
	}
	// A new job may be missing from a lagging replica; one that stays away is for a person.
	if f.Class == assay.FaultGone && now.Sub(w.Seg.Launched) > w.Timing.Gone && w.Seg.Failures >= 3 {
		return w.vanished(ctx, "the provider does not know job "+w.Seg.Job+" under this key ("+w.Access.Fingerprint+")")
	}
	if f.Class == assay.FaultDenied && w.Seg.Failures >= maxDenied {
		return w.keyless(ctx, f)
	}
	return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: now.Add(max(w.pollNext(now.Sub(w.Seg.Launched)), f.RetryAfter)),
		Asked: f.RetryAfter > 0, Reason: "looking at the job: " + f.Error()})
}

// vanished decides about a job that is not there any more: a person does. A rehearsal's was in a process that was killed, and
// asking the next simulator costs nothing.
func (w *work) vanished(ctx context.Context, why string) error {
	if w.Run.Rehearsal {
		return w.Ledger.Work.GoBack(ctx, w.Lease, store.Back{To: store.Staged, Reason: "the job ended with the process that simulated it",
			Due: w.Clock.Now()})
	}
	return w.Ledger.Work.Hold(ctx, w.Lease, why)
}

// maxDenied is how often in a row a key may be refused before a person has to look.
const maxDenied = 3

// keyless holds a job whose key does not work any more: it is paid for, and stays where it is.
func (w *work) keyless(ctx context.Context, f *assay.Fault) error {
	return w.Ledger.Work.Hold(ctx, w.Lease, "the provider refuses the key ("+f.Error()+")")
}

// deadline returns when the job has taken as long as the study lets it; zero: never. The study may have been changed since it went.
func (w *work) deadline() time.Time {
	if w.Policy.Deadline <= 0 {
		return time.Time{}
	}
	return w.Seg.Launched.Add(w.Policy.Deadline)
}

// cancelIfDue asks the provider to stop a job. The wish is in the ledger before the call, and the call is repeated until
// the job has ended.
func (w *work) cancelIfDue(ctx context.Context) error {
	now := w.Clock.Now()
	lane, err := w.Lane(ctx)
	if err != nil {
		return err
	}
	cause := store.CancelCause("")
	switch {
	case engine.CancelledByUser(lane):
		cause = store.ByUser
	case lane.Cause == store.CauseNothingGood: // its jobs would bring more of the same, and are paid for
		cause = store.ByRule
	case !w.deadline().IsZero() && !now.Before(w.deadline()):
		cause = store.ByDeadline
	}
	if w.Seg.CancelCause == "" && cause != "" {
		if err := w.Ledger.Work.AskCancel(ctx, w.Lease, cause, now); err != nil {
			return err
		}
		w.Seg.CancelCause = cause
	}
	if w.Seg.CancelCause == "" {
		return nil
	}
	c, ok := w.Access.Batch.(provider.Canceler)
	if !ok {
		return nil // it ends when it ends
	}
	if err := c.Cancel(ctx, w.Job()); err != nil && ctx.Err() == nil {
		return w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "cancel", "the provider did not take it: "+err.Error())
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
	return w.Ledger.Work.Ended(ctx, w.Lease, see)
}

func sighting(st provider.Status) store.Sighting {
	counts, _ := json.Marshal(st.Counts) // plain numbers
	parts, _ := json.Marshal(st.Parts)   // plain strings and numbers
	if st.Parts == nil {
		parts = []byte("[]")
	}
	return store.Sighting{State: string(st.State), Word: st.Word, Counts: string(counts), Parts: string(parts),
		CollectBefore: st.CollectBefore}
}
