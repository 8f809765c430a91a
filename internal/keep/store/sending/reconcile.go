package sending

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// OweReconcile notes why nothing of a run may be sent before its providers' lists were compared with the ledger. The first reason
// stays. The run is due.
func (s *Store) OweReconcile(ctx context.Context, run int64, why string) error {
	return s.db.Tx(ctx, "owe reconcile", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `UPDATE runs SET reconcile = $2, due_ms = CASE WHEN state = 'open' THEN CAST($3 AS BIGINT) ELSE due_ms END
			WHERE no = $1 AND reconcile = ''`, run, why, s.db.Millis())
		if err != nil || n == 0 {
			return err
		}
		return t.Event(ctx, run, 0, "reconcile", why)
	})
}

// Reconciled notes that the lists of a run's providers were compared with the ledger, and by whom or with what result.
func (s *Store) Reconciled(ctx context.Context, run int64, what string) error {
	return s.db.Tx(ctx, "reconciled", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `UPDATE runs SET reconcile = '' WHERE no = $1 AND reconcile <> ''`, run)
		if err != nil || n == 0 {
			return err
		}
		return t.Event(ctx, run, 0, "reconciled", what)
	})
}

// TakeJob notes a job whose answers were taken over. What of it was paid twice is spent, and stands at a segment of the provider: at the
// next one that ends where none has.
func (s *Store) TakeJob(ctx context.Context, run int64, j store.TakenJob) error {
	return s.db.Tx(ctx, "take job", db.Durable, func(t *db.Txn) error {
		n, err := t.Change(ctx, `INSERT INTO taken_jobs (provider, job, run_no, answers, joined, cost_nano, at_ms, segment_no)
			VALUES ($1, $2, $3, $4, $5, $6, $7, COALESCE(NULLIF(CAST($8 AS BIGINT), 0),
			(SELECT MIN(no) FROM segments WHERE run_no = $3 AND provider = $1 AND state = 'settled')))
			ON CONFLICT (provider, job, run_no) DO NOTHING`,
			j.Provider, j.Job, run, j.Answers, j.Joined, int64(j.Twice), s.db.Millis(), j.Segment)
		if err != nil || n == 0 {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE runs SET spent_nano = spent_nano + $2 WHERE no = $1`, run, int64(j.Twice)); err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `UPDATE segments SET cost_nano = cost_nano + $3 WHERE no = (SELECT segment_no FROM taken_jobs
			WHERE run_no = $1 AND provider = $2 AND job = $4)`, run, j.Provider, int64(j.Twice), j.Job); err != nil {
			return err
		}
		if j.Answers == 0 {
			return nil
		}
		kind, text := "taken over", fmt.Sprintf("job %s at %s was made by another copy of this ledger: %d of its %s taken over", j.Job,
			j.Provider, j.Joined, assay.Count(j.Answers, "answer"))
		if j.Answers > j.Joined {
			kind = store.DoubleEvent
			text += fmt.Sprintf("; %s here already, or answered what is not asked yet, and %s billed twice",
				assay.Count(j.Answers-j.Joined, "answer")+assay.Verb(j.Answers-j.Joined, " was", " were"),
				assay.Verb(j.Answers-j.Joined, "is", "are"))
		}
		return t.Event(ctx, run, 0, kind, text)
	})
}
