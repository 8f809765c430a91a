package runs

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// AddComment writes what a person says about an answer.
func (s *Store) AddComment(ctx context.Context, c store.Comment) error {
	return s.db.Tx(ctx, "add comment", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO comments (run_no, key, item, person, text, stale, at_ms) VALUES ($1, $2, $3, $4, $5, 0, $6)`,
			c.Run, c.Key[:], c.Item, db.Clean(c.Person), db.Clean(c.Text), t.Millis())
		return err
	})
}

// WithdrawComment takes a person's own comment back, and reports whether there was one.
func (s *Store) WithdrawComment(ctx context.Context, run, no int64, person string) (bool, error) {
	var n int64
	err := s.db.Tx(ctx, "withdraw comment", db.Relaxed, func(t *db.Txn) (err error) {
		n, err = t.Change(ctx, `UPDATE comments SET stale = 1 WHERE run_no = $1 AND no = $2 AND person = $3 AND stale = 0`, run, no, person)
		return err
	})
	return n > 0, err
}
