package batch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// tidies reports whether what the job left at its provider is to be deleted there.
func (w *work) tidies() bool {
	if _, can := w.Access.Batch.(provider.Remover); !can || !w.Seg.Removed.IsZero() {
		return false
	}
	if w.Policy.Cleanup == engine.CleanupUsual {
		return w.Access.Batch.Limits().Tidy
	}
	return w.Policy.Cleanup == engine.CleanupAlways
}

// tidy deletes what a settled job left at its provider, if that is wanted: all of it is here. What cannot be deleted is
// left there in the end.
func (w *work) tidy(ctx context.Context) error {
	if !w.tidies() || w.Access.Fingerprint != w.Seg.Account {
		return w.Ledger.Work.Wake(ctx, w.Lease, time.Time{}, "")
	}
	err := w.remove(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case w.Seg.Failures >= maxBusy:
		return errors.Join(w.Ledger.Work.Wake(ctx, w.Lease, time.Time{}, ""),
			w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "cleanup", "left at the provider: "+err.Error()))
	}
	return w.Ledger.Work.RetryLater(ctx, w.Lease, store.Later{Due: w.Clock.Now().Add(w.Backoff(w.Seg.Failures, 0)),
		Reason: "deleting what the job left at the provider: " + err.Error()})
}

// remove deletes everything that the jobs of the segment left at the provider.
func (w *work) remove(ctx context.Context) error {
	jobs, err := w.Ledger.Reader.SegmentJobs(ctx, w.Seg.No)
	if err != nil {
		return err
	}
	// Everything that is here has to survive the power before the provider forgets it.
	if err := w.Ledger.Work.Secure(ctx, w.Lease); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.Account != w.Access.Fingerprint {
			continue
		}
		job := w.Job()
		job.ID = j.ID
		if err := w.Access.Batch.(provider.Remover).Remove(ctx, job); err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
	}
	return w.Ledger.Work.Removed(ctx, w.Lease)
}

// Clean deletes what one segment left at its provider. The error is why it stays there.
func (s *Jobs) Clean(ctx context.Context, g store.Segment) error {
	if !g.State.Terminal() {
		return fmt.Errorf("it is %s", g.State)
	}
	late, err := s.from.Ledger.Work.LateKeys(ctx, g.No)
	if err != nil {
		return err
	}
	if len(late) > 0 && s.from.Clock.Now().Before(g.CollectBefore) {
		return fmt.Errorf("%s may still come, until %s", assay.Count(len(late), "result"), g.CollectBefore.Format(time.RFC3339))
	}
	return s.at(ctx, g.No, func(ctx context.Context, w *work) error {
		if _, can := w.Access.Batch.(provider.Remover); !can {
			return errors.New("this provider deletes nothing on request")
		}
		if w.Access.Fingerprint != g.Account {
			return fmt.Errorf("made with another key (%s)", g.Account)
		}
		return w.remove(ctx)
	})
}
