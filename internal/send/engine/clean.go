package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/provider"
)

// tidies reports whether what the job left at its provider is to be deleted there.
func (w *work) tidies() bool {
	if _, can := w.access.Batch.(provider.Remover); !can || !w.g.Removed.IsZero() {
		return false
	}
	if w.policy.Cleanup == CleanupUsual {
		return w.access.Batch.Limits().Tidy
	}
	return w.policy.Cleanup == CleanupAlways
}

// tidy deletes what a settled job left at its provider, where that is wanted: all of it is here. What cannot be deleted is
// left there in the end.
func (w *work) tidy(ctx context.Context) error {
	if !w.tidies() || w.access.Fingerprint != w.g.Account {
		return w.Ledger.Wake(ctx, w.l, time.Time{}, "")
	}
	err := w.remove(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case w.g.Failures >= maxBusy:
		return errors.Join(w.Ledger.Wake(ctx, w.l, time.Time{}, ""), w.Ledger.Note(ctx, w.run.No, w.g.No, "cleanup", "left at the provider: "+err.Error()))
	}
	return w.Ledger.RetryLater(ctx, w.l, w.Clock.Now().Add(w.backoff(w.g.Failures, 0)), "deleting what the job left at the provider: "+err.Error())
}

// remove deletes everything that the jobs of the segment left at the provider.
func (w *work) remove(ctx context.Context) error {
	jobs, err := w.Ledger.SegmentJobs(ctx, w.g.No)
	if err != nil {
		return err
	}
	// Everything that is here has to survive the power before the provider forgets it.
	if err := w.Ledger.Secure(ctx, w.l); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.Account != w.access.Fingerprint {
			continue
		}
		job := w.job()
		job.ID = j.ID
		if err := w.access.Batch.(provider.Remover).Remove(ctx, job); err != nil {
			return fmt.Errorf("job %s: %w", j.ID, err)
		}
	}
	return w.Ledger.Removed(ctx, w.l)
}

// Cleaned is what Clean did.
type Cleaned struct {
	Open          bool  // the run is open: its files are packed when it closes
	Before, After int64 // bytes of its files here
	Removed       int   // jobs whose files were deleted at their providers
	Kept          []string
}

// Remote says whether Clean deletes what jobs left at their providers.
type Remote bool

// Clean packs the files of a closed run and, where asked, deletes what its jobs left at their providers: only of segments
// whose every result is here. No byte that was paid for is deleted here. *store.HeldError: another process is at it.
func (e *Engine) Clean(ctx context.Context, run int64, remote Remote) (c Cleaned, err error) {
	err = e.holdRun(ctx, run, func(ctx context.Context, _ *tenure) error {
		r, err := e.Ledger.Run(ctx, run)
		if err != nil {
			return err
		}
		if remote {
			if err := e.cleanRemote(ctx, r, &c); err != nil {
				return err
			}
		}
		if c.Before, err = artifacts.Bytes(ctx, e.Files, r.ID); err != nil {
			return err
		}
		if c.Open = r.State != store.RunClosed; !c.Open {
			if err := e.Files.Pack(ctx, r.ID); err != nil {
				return err
			}
		}
		c.After, err = artifacts.Bytes(ctx, e.Files, r.ID)
		return err
	})
	if err != nil {
		return c, fmt.Errorf("clean run %d: %w", run, err)
	}
	return c, nil
}

func (e *Engine) cleanRemote(ctx context.Context, r store.Run, c *Cleaned) error {
	segments, err := e.Ledger.Segments(ctx, r.No)
	if err != nil {
		return err
	}
	for _, g := range segments {
		if g.Mode != store.Batch || g.Intends == 0 || !g.Removed.IsZero() {
			continue
		}
		if why := e.cleanSegment(ctx, g); why != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.Kept = append(c.Kept, fmt.Sprintf("segment %d at %s: %s", g.No, g.Provider, why))
			continue
		}
		c.Removed++
	}
	return nil
}

// cleanSegment deletes what one segment left at its provider. The error says why it stays there.
func (e *Engine) cleanSegment(ctx context.Context, g store.Segment) error {
	if !g.State.Terminal() {
		return fmt.Errorf("it is %s", g.State)
	}
	late, err := e.Ledger.LateKeys(ctx, g.No)
	if err != nil {
		return err
	}
	if len(late) > 0 && e.Clock.Now().Before(g.CollectBefore) {
		return fmt.Errorf("%s may still come, until %s", assay.Count(len(late), "result"), g.CollectBefore.Format(time.RFC3339))
	}
	return e.at(ctx, g.No, func(ctx context.Context, w *work) error {
		if _, can := w.access.Batch.(provider.Remover); !can {
			return errors.New("this provider deletes nothing on request")
		}
		if w.access.Fingerprint != g.Account {
			return fmt.Errorf("made with another key (%s)", g.Account)
		}
		return w.remove(ctx)
	})
}
