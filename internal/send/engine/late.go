package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// lookLate looks at a settled job again for results that had been given up, as long as the provider keeps them.
func (w *work) lookLate(ctx context.Context) error {
	if w.g.Reason == awaitsAudit {
		return w.audit(ctx)
	}
	if w.owesAudit() {
		return w.auditLost(ctx)
	}
	now := w.Clock.Now()
	keys, err := w.Ledger.LateKeys(ctx, w.g.No)
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return w.tidy(ctx)
	}
	if w.access.Fingerprint != w.g.Account || !now.Before(w.g.CollectBefore) {
		return w.Ledger.Wake(ctx, w.l, time.Time{}, "")
	}
	st, err := w.access.Batch.Check(ctx, w.job())
	if err != nil {
		if f := provider.FaultOf(err); f != nil && f.Class == assay.FaultGone {
			return w.Ledger.Wake(ctx, w.l, time.Time{}, "")
		}
		return w.unfetched(ctx, err)
	}
	see := sighting(st)
	see.Due = now.Add(2 * w.Timing.Late)
	// What the provider has done and we have not got shows in its numbers, or in parts that were not there.
	if see.Parts == w.g.Parts && see.Counts == w.g.JobCounts {
		return w.Ledger.RecordStatus(ctx, w.l, see)
	}
	var files []store.Artifact
	for _, part := range st.Parts {
		a, err := w.fetchPart(ctx, part, w.artifactName(part, fmt.Sprintf("late%d", now.Unix())))
		if err != nil {
			return w.unfetched(ctx, err)
		}
		files = append(files, a)
	}
	r := &reading{work: w, late: keys}
	if err := errors.Join(r.readAll(ctx, files), r.readRest(ctx, files)); err != nil {
		return err
	}
	return w.Ledger.RecordStatus(ctx, w.l, see)
}
