// Package state changes the rows that several faces of a ledger write: the state of a run, and what its lanes count.
package state

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// wakeRun makes an open run due now.
func Wake(ctx context.Context, t *db.Txn, run int64) error {
	// One that is due is moved too, so that SleepRun can see that it was woken again.
	_, err := t.ExecContext(ctx, `UPDATE runs SET due_ms = CASE WHEN due_ms <= $2 THEN due_ms - 1 ELSE $2 END
		WHERE no = $1 AND state = 'open'`, run, t.Millis())
	return err
}

// lockRun has the writers of a run take turns: its row is the first that each of them changes.
func Lock(ctx context.Context, t *db.Txn, run int64) error {
	return t.One(ctx, fmt.Errorf("run %d: %w", run, store.ErrNotFound), `UPDATE runs SET digest = digest WHERE no = $1`, run)
}

func Open(ctx context.Context, t *db.Txn, no int64) error {
	err := t.One(ctx, fmt.Errorf("run %d is not in preparation", no),
		`UPDATE runs SET state = 'open', due_ms = $2, holder = NULL, lease_until_ms = NULL
		WHERE no = $1 AND state = 'preparing' AND (holder IS NOT NULL OR epoch = 0)`, no, t.Millis())
	if err != nil {
		return err
	}
	return t.Event(ctx, no, 0, "opened", "")
}

// reopen opens a closed run, and makes an open one due.
func Reopen(ctx context.Context, t *db.Txn, run int64, why string) error {
	n, err := t.Change(ctx, `UPDATE runs SET state = 'open', result = '', closed_ms = NULL, due_ms = $2
		WHERE no = $1 AND state = 'closed'`, run, t.Millis())
	if err != nil || n == 0 {
		return errors.Join(err, Wake(ctx, t, run))
	}
	return t.Event(ctx, run, 0, "reopened", why)
}
