package runs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Restore writes the rows of a dump into a ledger that has nothing of that table yet. All constraints hold.
func (s *Store) Restore(ctx context.Context, table string, rows iter.Seq2[store.DumpRow, error]) error {
	if !slices.Contains(store.DumpTables(), table) {
		return fmt.Errorf("restore: no table %q", table)
	}
	known, err := s.columns(ctx, table)
	if err != nil {
		return err
	}
	var columns []string
	var block [][]any
	flush := func() error {
		if len(block) == 0 {
			return nil
		}
		err := s.db.Tx(ctx, "restore "+table, db.Relaxed, func(t *db.Txn) error { return t.Bulk(ctx, table, columns, block) })
		block = block[:0]
		return err
	}
	held := 0
	for row, err := range rows {
		if err != nil {
			return errors.Join(err, flush())
		}
		if columns == nil {
			columns = row.Columns
			for _, c := range columns {
				if !slices.Contains(known, c) {
					return fmt.Errorf("restore %s: no column %q: it was made by a newer version", table, c)
				}
			}
		}
		block = append(block, row.Values)
		if held += size(row.Values); len(block) == blockRows || held > restoreBytes {
			if err := flush(); err != nil {
				return err
			}
			held = 0
		}
	}
	return flush()
}

// restoreBytes is how much text is held before it goes into the ledger.
const restoreBytes = 16 << 20

func size(values []any) int {
	n := 0
	for _, v := range values {
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}

func (s *Store) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := s.db.Query(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return nil, fmt.Errorf("read the columns of %s: %w", table, err)
	}
	defer rows.Close()
	return rows.Columns()
}
