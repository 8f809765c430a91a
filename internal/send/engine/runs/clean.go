package runs

import (
	"context"
	"fmt"

	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/send/engine/hold"
)

// Cleaned is the result of Clean.
type Cleaned struct {
	Open          bool  // the run is open: its files are packed when it closes
	Before, After int64 // bytes of its files here
	Removed       int   // jobs whose files were deleted at their providers
	Uploads       int   // files that requests showed, deleted at their providers
	Kept          []string
}

// Remote is whether Clean deletes what jobs left at their providers.
type Remote bool

// Clean packs the files of a closed run and, where asked, deletes what its jobs left at their providers: only of segments
// whose every result is here. No byte that was paid for is deleted here. *store.HeldError: another process is at it.
func (e *Engine) Clean(ctx context.Context, run int64, remote Remote) (c Cleaned, err error) {
	err = e.leases.Run(ctx, run, func(ctx context.Context, _ *hold.LeaseHolder) error {
		r, err := e.Ledger.Reader.Run(ctx, run)
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
	segments, err := e.Ledger.Reader.Segments(ctx, r.No)
	if err != nil {
		return err
	}
	for _, g := range segments {
		if g.Mode != store.Batch || g.Intends == 0 || !g.Removed.IsZero() {
			continue
		}
		if why := e.jobs.Clean(ctx, g); why != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			c.Kept = append(c.Kept, fmt.Sprintf("segment %d at %s: %s", g.No, g.Provider, why))
			continue
		}
		c.Removed++
	}
	return e.cleanUploads(ctx, segments, c)
}

// cleanUploads deletes files that requests showed at the providers of a run, unless a segment that has not ended may name them.
func (e *Engine) cleanUploads(ctx context.Context, segments []store.Segment, c *Cleaned) error {
	seen := map[string]bool{}
	for _, g := range segments {
		if seen[g.Provider] {
			continue
		}
		seen[g.Provider] = true
		access, err := e.Usable(g.Provider)
		if err != nil || access.Files == nil {
			continue // without its key nothing is deleted; of jobs that is reported above
		}
		needed, err := e.Ledger.Uploads.Needed(ctx, g.Provider)
		if err != nil {
			return err
		}
		if needed {
			c.Kept = append(c.Kept, fmt.Sprintf("files that requests show at %s: something is under way there", g.Provider))
			continue
		}
		n, err := hold.Forget(ctx, &e.Config, access)
		if c.Uploads += n; err != nil {
			c.Kept = append(c.Kept, fmt.Sprintf("files that requests show at %s: %s", g.Provider, err))
		}
	}
	return nil
}
