package batch

import (
	"encoding/json"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// again returns how a request that ended like this goes out again by itself; nil: it does not. Billed non-answers are data.
func (r *reading) again(o assay.Outcome) *store.Again {
	a := store.Again{Mode: r.w.Seg.Mode, After: r.w.Clock.Now().Add(r.w.Backoff(r.w.Seg.MaxTry, 0)), Cause: string(o.Ending)}
	switch o.Ending {
	case assay.Errored:
		a.Cap = 3
		if f := o.Fault; f != nil {
			switch f.Class {
			case assay.FaultInvalid, assay.FaultLarge, assay.FaultDenied, assay.FaultQuota:
				return nil
			case assay.FaultBusy:
				a.Cap = 8
			}
		}
	case assay.Expired:
		a.Cap = 2
	case assay.Cancelled:
		return r.cancelledAgain(a)
	default:
		return nil
	}
	return &a
}

// cancelledAgain decides about a request that a cancelled job did not get to: by its cause.
func (r *reading) cancelledAgain(a store.Again) *store.Again {
	switch r.w.Seg.CancelCause {
	case store.ByUser, store.ByRule:
		return nil
	case store.ByDeadline:
		if r.w.Policy.Then != engine.ThenLive || r.w.Access.Live == nil {
			return nil
		}
		a.Mode, a.Cause, a.Cap, a.After = store.Live, "deadline", hold.NoCap, r.w.Clock.Now()
		return &a
	}
	a.Cap = 2 // cancelled by another party
	return &a
}

// mayCome reports whether results that are missing may be there at the next fetch: the provider counts more than there are,
// or counts nothing, and they would be asked again.
func (r *reading) mayCome(missing int64, end store.EndOpen) bool {
	counts := countsOf(r.w.Seg)
	have := r.w.Seg.Requests - missing
	short := have < counts.Succeeded+counts.Failed || provider.State(r.w.Seg.JobState) == provider.StateEnded ||
		!counts.Known && end.Again != nil
	return short && int(r.w.Seg.Refetches) < len(r.w.Timing.Refetch)
}

// endMissing returns the outcome of attempts without a line: they are given up in the way the job ended.
func (r *reading) endMissing(missing int64) store.EndOpen {
	counts, have := countsOf(r.w.Seg), r.w.Seg.Requests-missing
	switch provider.State(r.w.Seg.JobState) {
	case provider.StateExpired:
		return store.EndOpen{Ending: assay.Expired, Message: "the job ran out of time before it",
			Again: r.again(assay.Outcome{Ending: assay.Expired})}
	case provider.StateCancelled:
		return store.EndOpen{Ending: assay.Cancelled, Message: "the job was cancelled before it",
			Again: r.again(assay.Outcome{Ending: assay.Cancelled})}
	}
	end := store.EndOpen{Ending: assay.Lost, Message: "the provider never said what became of it"}
	// Sent again by itself only if the provider's own numbers show that it was not done.
	if counts.Known && counts.Succeeded <= have && counts.Done() < r.w.Seg.Requests {
		end.Again = &store.Again{Mode: store.Batch, After: r.w.Clock.Now(), Cause: "lost", Cap: 1}
	}
	return end
}

// countsOf returns the provider's numbers as the ledger keeps them.
func countsOf(g store.Segment) provider.Counts {
	var c provider.Counts
	_ = json.Unmarshal([]byte(g.JobCounts), &c) // our own writing; nothing there means unknown
	return c
}

// partsOf returns what can be fetched, as the ledger keeps it.
func partsOf(g store.Segment) ([]provider.Part, error) {
	var parts []provider.Part
	if err := json.Unmarshal([]byte(g.Parts), &parts); err != nil {
		return nil, fmt.Errorf("parts of job %s: %w", g.Job, err)
	}
	return parts, nil
}
