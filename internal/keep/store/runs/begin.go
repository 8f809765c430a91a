package runs

import (
	"context"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// SetMeta sets a named value if it is not set, and returns the value that holds.
func (s *Store) SetMeta(ctx context.Context, name, value string) (string, error) {
	err := s.db.Tx(ctx, "set meta", db.Durable, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, value)
		return err
	})
	if err != nil {
		return "", err
	}
	return s.reader.Meta(ctx, name)
}

// Put replaces a named value of the ledger as a whole, and returns the one before; empty: there was none.
func (s *Store) Put(ctx context.Context, name, value string) (before string, err error) {
	if before, err = s.reader.Meta(ctx, name); err != nil || before == value {
		return before, err
	}
	return before, s.db.Tx(ctx, "put meta", db.Durable, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx,
			`INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, name, value)
		return err
	})
}

// CreateRun begins a run in state preparing.
func (s *Store) CreateRun(ctx context.Context, n store.NewRun) (store.Run, error) {
	return s.createRun(ctx, n, func(int64) []any { return []any{nil, nil, int64(0), nil} })
}

// ClaimRun begins a run in state preparing, held by its maker, unless another process has begun one after the same run:
// ErrDuplicate.
func (s *Store) ClaimRun(ctx context.Context, n store.NewRun, c store.Claim) (store.Run, error) {
	return s.createRun(ctx, n, func(now int64) []any { return []any{c.After, c.Holder, now, now + c.TTL.Milliseconds()} })
}

func (s *Store) createRun(ctx context.Context, n store.NewRun, claim func(now int64) []any) (store.Run, error) {
	var no int64
	err := s.db.Tx(ctx, "create run", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		if err := t.DropKeys(ctx); err != nil {
			return err
		}
		args := append([]any{n.ID, n.Study, n.Folder, n.Digest, n.Settings, n.Note, n.By, db.Flag(n.Rehearsal), db.Nanos(n.Budget),
			s.db.Millis()}, claim(now)...)
		err = t.QueryRowContext(ctx, `INSERT INTO runs
			(id, study, folder, digest, settings, note, started_by, rehearsal, state, budget_nano, created_ms, follows, holder, epoch,
			lease_until_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'preparing', $9, $10, $11, $12, $13, $14) RETURNING no`, args...).Scan(&no)
		if s.db.Unique(err) {
			return fmt.Errorf("run %s: %w", n.ID, store.ErrDuplicate)
		}
		return err
	})
	if err != nil {
		return store.Run{}, err
	}
	return s.reader.Run(ctx, no)
}

// AbandonRun takes a run in preparation for dead whose holder has not renewed its lease: it can never be opened. It reports
// whether it is dead.
func (s *Store) AbandonRun(ctx context.Context, no int64) (bool, error) {
	dead := false
	err := s.db.Tx(ctx, "bury run", db.Relaxed, func(t *db.Txn) error {
		now, err := t.Clock(ctx)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `UPDATE runs SET holder = NULL, lease_until_ms = NULL, epoch = epoch + 1
			WHERE no = $1 AND state = 'preparing' AND (holder IS NULL OR lease_until_ms <= $2)`, no, now)
		if err != nil {
			return err
		}
		return t.QueryRowContext(ctx, `SELECT COUNT(*) > 0 FROM runs WHERE no = $1 AND state = 'preparing' AND holder IS NULL`,
			no).Scan(&dead)
	})
	return dead, err
}

// OpenRun ends the preparation: the snapshot is whole, and the run is due now. Its maker's lease is given back.
func (s *Store) OpenRun(ctx context.Context, no int64) error {
	return s.db.Tx(ctx, "open run", db.Durable, func(t *db.Txn) error { return state.Open(ctx, t, no) })
}
