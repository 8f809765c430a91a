package ledger

import (
	"context"

	"assay/internal/keep/store/db"
)

// Insert writes rows into a table and does nothing else: the floor of what the faces do.
func (l *Ledger) Insert(ctx context.Context, table string, columns []string, rows [][]any) error {
	return l.db.Tx(ctx, "insert", db.Relaxed, func(t *db.Txn) error { return t.Bulk(ctx, table, columns, rows) })
}
