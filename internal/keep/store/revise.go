package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay/internal/assay"
)

// Revision is a study that was changed after its run began: in what its requests do not depend on, by what it adds to them, or in
// what they ask.
type Revision struct {
	Run      int64
	Was, Is  string            // digests of the study, before and now
	Settings string            // JSON, as in NewRun
	Parts    map[string][]byte // of the snapshot, by name: those that are new or others
	Gone     []string          // names of parts that are no longer
	Labels   map[string]string // of lanes, by their names
	Budget   *NewBudget        // nil leaves it as it is
	What     string            // changed, in words
	More     *More             // what the run asks besides from now on; nil: nothing
	Lease    Lease             // of the run, where it asks more
}

// NewBudget is what a run may spend from now on, where it might spend so much before; nil: anything. One that was changed meanwhile
// stays as it is.
type NewBudget struct{ Was, Is *assay.Money }

// More is what a run asks besides, or in the place of what it asked before.
type More struct {
	Lanes []Lane // all of the plan, with what they are planned to ask now
	Items []MoreItems

	Edited     []EditedItem // items that are others by now
	Supersedes *Superseding // what is asked and read anew; nil: nothing
}

// EditedItem is an item of an input that keeps its id and its place.
type EditedItem struct {
	Input string
	Item  assay.Item
}

// Revise changes the snapshot of a run in place, at once for every process that works on it, and wakes it where it is open. A
// run that has more to ask is opened again; its lease has to be held meanwhile, and one that was lost is ErrLeaseLost.
// It reports whether the study was still as expected: another process may have been first.
func (s *Ledger) Revise(ctx context.Context, r Revision) (bool, error) {
	other := errors.New("the study is another by now")
	err := s.tx(ctx, "revise run", durable, func(t *txn) error {
		// First of all, and so the lock: of two processes the second waits here, and finds another study.
		err := t.one(ctx, other, `UPDATE runs SET digest = $3, settings = $4 WHERE no = $1 AND digest = $2`, r.Run, r.Was, r.Is, r.Settings)
		if err != nil {
			return err
		}
		if err := t.reviseParts(ctx, r); err != nil {
			return err
		}
		if err := t.grow(ctx, r); err != nil {
			return err
		}
		for _, lane := range slices.Sorted(maps.Keys(r.Labels)) {
			if _, err := t.ExecContext(ctx, `UPDATE lanes SET label = $3 WHERE run_no = $1 AND lane = $2`, r.Run, lane, r.Labels[lane]); err != nil {
				return err
			}
		}
		if b := r.Budget; b != nil {
			_, err := t.ExecContext(ctx, `UPDATE runs SET budget_nano = $2 WHERE no = $1 AND budget_nano IS NOT DISTINCT FROM CAST($3 AS BIGINT)`, r.Run, nanos(b.Is), nanos(b.Was))
			if err != nil {
				return err
			}
		}
		if err := t.event(ctx, r.Run, 0, "study changed", clean(r.What)); err != nil {
			return err
		}
		if r.More != nil {
			return t.reopen(ctx, r.Run, "the study grew")
		}
		return t.wakeRun(ctx, r.Run)
	})
	if errors.Is(err, other) {
		return false, nil
	}
	return err == nil, err
}

// reviseParts changes the texts of a snapshot.
func (t *txn) reviseParts(ctx context.Context, r Revision) error {
	for _, name := range r.Gone {
		if err := t.dropPart(ctx, r.Run, name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Parts)) {
		if err := t.putPart(ctx, r.Run, name, bytes.NewReader(r.Parts[name])); err != nil {
			return err
		}
	}
	return nil
}

// grow writes what a run asks besides from now on. Its lease is looked at here: another process that has taken it may find out
// by the old study that nothing is left to ask.
func (t *txn) grow(ctx context.Context, r Revision) error {
	if r.More == nil {
		return nil
	}
	err := t.one(ctx, ErrLeaseLost, `UPDATE runs SET holder = holder WHERE no = $1 AND epoch = $2 AND holder IS NOT NULL`, r.Run, r.Lease.Epoch)
	if err != nil {
		return err
	}
	// A process that was asleep while it cut requests of the old study must not send them.
	if _, err := t.ExecContext(ctx, `UPDATE segments SET epoch = epoch + 1 WHERE run_no = $1 AND state = 'planned'`, r.Run); err != nil {
		return err
	}
	for _, more := range r.More.Items {
		err := itemBlocks(r.Run, more, func(block [][]any) error { return t.putItems(ctx, more.Input, block) })
		if err != nil {
			return err
		}
	}
	if err := t.editItems(ctx, r.Run, r.More.Edited); err != nil {
		return err
	}
	if by := r.More.Supersedes; by != nil {
		if err := t.supersede(ctx, r.Run, *by, r.What); err != nil {
			return err
		}
	}
	if err := t.freshLanes(ctx, r.More.Lanes); err != nil {
		return err
	}
	if err := t.putLanes(ctx, r.More.Lanes); err != nil {
		return err
	}
	_, err = t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, r.Run)
	return err
}

func (t *txn) editItems(ctx context.Context, run int64, items []EditedItem) error {
	for _, e := range items {
		fields, err := encodeFields(e.Item.Fields)
		if err != nil {
			return fmt.Errorf("item %s: %w", e.Item.ID, err)
		}
		err = t.one(ctx, fmt.Errorf("item %s of %s: %w", e.Item.ID, e.Input, ErrNotFound), `UPDATE items SET cluster = $4, expect = $5, fields = $6
			WHERE run_no = $1 AND input = $2 AND id = $3`, run, e.Input, e.Item.ID, e.Item.Cluster, e.Item.Expect, fields)
		if err != nil {
			return err
		}
	}
	return nil
}

// freshLanes gives lanes whose model or parameters changed a new beginning: what stopped them before may be mended, and their first
// batch has a canary again. One that a person stopped stays so.
func (t *txn) freshLanes(ctx context.Context, lanes []Lane) error {
	for _, l := range lanes {
		_, err := t.ExecContext(ctx, `UPDATE lanes SET canary = CASE WHEN canary = 'off' THEN canary ELSE $7 END,
			state = CASE WHEN state IN ('stopped', 'held') THEN 'open' ELSE state END,
			cause = CASE WHEN state IN ('stopped', 'held') THEN '' ELSE cause END, reason = CASE WHEN state IN ('stopped', 'held') THEN '' ELSE reason END
			WHERE run_no = $1 AND stage = $2 AND lane = $3 AND cause <> 'user' AND (provider <> $4 OR model <> $5 OR params <> $6)`,
			l.Run, l.Stage, l.Name, l.Provider, l.Model, l.Params, string(cmp.Or(l.Canary, CanaryOff)))
		if err != nil {
			return fmt.Errorf("lane %s: %w", l.Name, err)
		}
	}
	return nil
}
