package runs

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// Revise changes the snapshot of a run in place, at once for every process that works on it, and wakes it if it is open. A
// run that has more to ask is opened again; its lease has to be held meanwhile, and one that was lost is ErrLeaseLost.
// It reports whether the study was still as expected: another process may have been first.
func (s *Store) Revise(ctx context.Context, r store.Revision) (bool, error) {
	other := errors.New("the study is another by now")
	err := s.db.Tx(ctx, "revise run", db.Durable, func(t *db.Txn) error {
		// First of all, and so the lock: of two processes the second waits here, and finds another study.
		err := t.One(ctx, other, `UPDATE runs SET digest = $3, settings = $4 WHERE no = $1 AND digest = $2`, r.Run, r.Was, r.Is, r.Settings)
		if err != nil {
			return err
		}
		if err := reviseParts(ctx, t, r); err != nil {
			return err
		}
		if err := grow(ctx, t, r); err != nil {
			return err
		}
		for _, lane := range slices.Sorted(maps.Keys(r.Labels)) {
			if _, err := t.ExecContext(ctx, `UPDATE lanes SET label = $3 WHERE run_no = $1 AND lane = $2`,
				r.Run, lane, r.Labels[lane]); err != nil {
				return err
			}
		}
		if b := r.Budget; b != nil {
			_, err := t.ExecContext(ctx, `UPDATE runs SET budget_nano = $2 WHERE no = $1 AND budget_nano IS NOT DISTINCT
				FROM CAST($3 AS BIGINT)`, r.Run, db.Nanos(b.Is), db.Nanos(b.Was))
			if err != nil {
				return err
			}
		}
		if err := t.Event(ctx, r.Run, 0, "study changed", db.Clean(r.What)); err != nil {
			return err
		}
		if r.More != nil {
			return state.Reopen(ctx, t, r.Run, "the study grew")
		}
		return state.Wake(ctx, t, r.Run)
	})
	if errors.Is(err, other) {
		return false, nil
	}
	return err == nil, err
}

// reviseParts changes the texts of a snapshot.
func reviseParts(ctx context.Context, t *db.Txn, r store.Revision) error {
	for _, name := range r.Gone {
		if err := dropPart(ctx, t, r.Run, name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Parts)) {
		if err := putPart(ctx, t, r.Run, name, bytes.NewReader(r.Parts[name])); err != nil {
			return err
		}
	}
	return nil
}

// grow writes what a run asks besides from now on. Its lease is looked at here: another process that has taken it may find out
// by the old study that nothing is left to ask.
func grow(ctx context.Context, t *db.Txn, r store.Revision) error {
	if r.More == nil {
		return nil
	}
	err := t.One(ctx, store.ErrLeaseLost, `UPDATE runs SET holder = holder WHERE no = $1 AND epoch = $2 AND holder IS NOT NULL`,
		r.Run, r.Lease.Epoch)
	if err != nil {
		return err
	}
	// A process that was asleep while it cut requests of the old study must not send them.
	if _, err := t.ExecContext(ctx, `UPDATE segments SET epoch = epoch + 1 WHERE run_no = $1 AND state = 'planned'`, r.Run); err != nil {
		return err
	}
	for _, more := range r.More.Items {
		err := itemBlocks(r.Run, more, func(block [][]any) error { return putItems(ctx, t, more.Input, block) })
		if err != nil {
			return err
		}
	}
	if err := putLanes(ctx, t, r.More.Lanes); err != nil {
		return err
	}
	_, err = t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, r.Run)
	return err
}
