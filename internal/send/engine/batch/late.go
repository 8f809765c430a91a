package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
	"assay/internal/send/provider"
)

// lookLate looks at a settled job again for results that had been given up, as long as the provider keeps them.
func (w *work) lookLate(ctx context.Context) error {
	if w.Seg.Reason == store.AwaitsAudit {
		return w.jobs.auditor.Owed(ctx, w.Work)
	}
	if owesAudit(w.Seg) {
		return w.auditLost(ctx)
	}
	now := w.Clock.Now()
	keys, err := w.Ledger.Work.LateKeys(ctx, w.Seg.No)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return w.tidy(ctx)
	}
	if w.Access.Fingerprint != w.Seg.Account || !now.Before(w.Seg.CollectBefore) {
		return w.Ledger.Work.Wake(ctx, w.Lease, time.Time{}, "")
	}
	st, err := w.Access.Batch.Check(ctx, w.Job())
	if err != nil {
		if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultGone {
			return w.Ledger.Work.Wake(ctx, w.Lease, time.Time{}, "")
		}
		return w.unfetched(ctx, err)
	}
	see := sighting(st)
	see.Due = now.Add(2 * w.Timing.Late)
	// What the provider has done and we have not got shows in its numbers, or in parts that were not there.
	if see.Parts == w.Seg.Parts && see.Counts == w.Seg.JobCounts {
		return w.Ledger.Work.RecordStatus(ctx, w.Lease, see)
	}
	var files []store.Artifact
	for _, part := range st.Parts {
		a, err := w.fetchPart(ctx, part, w.artifactName(part, fmt.Sprintf("late%d", now.Unix())))
		if err != nil {
			return w.unfetched(ctx, err)
		}
		files = append(files, a)
	}
	r := &reading{w: w, late: keys}
	if r.aside, err = hold.Aside(ctx, w.Work, keys); err != nil {
		return err
	}
	if err := errors.Join(r.readAll(ctx, files), r.readRest(ctx, files)); err != nil {
		return err
	}
	return w.Ledger.Work.RecordStatus(ctx, w.Lease, see)
}

// Collect reads what the running job of a segment has ready now, and returns how many outcomes that settled.
func (s *Jobs) Collect(ctx context.Context, no int64) (n int64, err error) {
	err = s.at(ctx, no, func(ctx context.Context, w *work) error {
		st, err := w.Access.Batch.Check(ctx, w.Job())
		if err != nil || st.State.Terminal() {
			return w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now(), "") // the usual way
		}
		r := &reading{w: w}
		if r.places, err = w.Ledger.Work.AttemptPlaces(ctx, no, w.Seg.Requests); err != nil {
			return err
		}
		for _, part := range st.Parts {
			a, err := w.fetchPart(ctx, part, w.artifactName(part, fmt.Sprintf("early%d", w.Clock.Now().UnixMilli())))
			if provider.FaultOf(err) != nil {
				continue
			}
			if err != nil {
				return err
			}
			if err := r.read(ctx, a); err != nil {
				return err
			}
		}
		n = r.got
		return nil
	})
	return n, err
}

// Poll asks the provider about the job of a segment and keeps what it reports; nothing is decided.
func (s *Jobs) Poll(ctx context.Context, segment int64) error {
	return s.at(ctx, segment, func(ctx context.Context, w *work) error {
		if w.Seg.State != store.Launched {
			return nil
		}
		if w.Access.Fingerprint != w.Seg.Account {
			return fmt.Errorf("made with another key (%s)", w.Seg.Account)
		}
		st, err := w.Access.Batch.Check(ctx, w.Job())
		if err != nil {
			return err
		}
		see := sighting(st)
		if see.Due = w.Seg.Due; st.State.Terminal() || see.Due.IsZero() {
			see.Due = w.Clock.Now()
		}
		return w.Ledger.Work.Checked(ctx, w.Lease, see)
	})
}
