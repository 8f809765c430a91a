package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// DumpTables lists the tables that hold what is known of one run's results, in the order in which they can be written into
// an empty ledger. How it was sent, and by whom, is not among them.
func DumpTables() []string {
	return []string{"runs", "snapshot_parts", "items", "lanes", "groups", "segments", "orders", "edits", "redos", "decisions", "looks", "attempts", "outcomes", "verdicts"}
}

// DumpRow is one row of a table: a value of type nil, int64, float64, string or []byte for every column.
type DumpRow struct {
	Columns []string // the same for all rows of a table
	Values  []any
}

// Dump walks over the rows of one table that belong to a run. Machines, accounts and files of this place are left out.
func (s *Reader) Dump(ctx context.Context, run int64, table string) iter.Seq2[DumpRow, error] {
	if !slices.Contains(DumpTables(), table) {
		return func(yield func(DumpRow, error) bool) { yield(DumpRow{}, fmt.Errorf("dump: no table %q", table)) }
	}
	of, order := "run_no", " ORDER BY no"
	switch table {
	case "runs":
		of = "no"
	case "snapshot_parts":
		order = " ORDER BY name, chunk"
	case "items":
		order = " ORDER BY input, ord"
	case "lanes", "groups", "decisions":
		order = " ORDER BY stage, lane"
	case "edits":
		order = " ORDER BY number"
	case "looks":
		order = " ORDER BY stage, number"
	case "redos":
		order = " ORDER BY order_no"
	case "attempts", "outcomes":
		order = " ORDER BY segment_no, ord"
	}
	var columns []string
	scan := func(rows *sql.Rows) (DumpRow, error) {
		if columns == nil {
			var err error
			if columns, err = rows.Columns(); err != nil {
				return DumpRow{}, err
			}
		}
		row := DumpRow{columns, make([]any, len(columns))}
		into := make([]any, len(columns))
		for i := range into {
			into[i] = &row.Values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return row, err
		}
		row.depersonalise(table)
		return row, nil
	}
	return walk(ctx, s, "dump "+table, scan, `SELECT * FROM `+table+` WHERE `+of+` = $1`+order, run)
}

// elsewhere is what stands in a dump for what belongs to one machine or one account.
const elsewhere = "elsewhere"

// depersonalise takes out what belongs to this machine or to an account.
func (r *DumpRow) depersonalise(table string) {
	gone := map[string]any{"holder": nil, "lease_until_ms": nil, "due_ms": nil}
	switch table {
	case "runs":
		gone["folder"], gone["started_by"], gone["epoch"] = "", "", int64(0)
	case "segments":
		for _, c := range []string{"input", "handle", "fence", "cursor_mark", "imported"} {
			gone[c] = elsewhere
		}
		gone["account"] = fmt.Sprintf("%s %v", elsewhere, r.Values[slices.Index(r.Columns, "no")]) // no two alike
		gone["epoch"], gone["reserved_nano"], gone["parts"] = int64(0), int64(0), "[]"
	case "orders":
		gone["given_by"] = ""
	case "outcomes":
		gone["artifact_no"], gone["line_offset"], gone["line_length"], gone["line_sum"] = nil, nil, nil, nil
	}
	for i, c := range r.Columns {
		if v, ok := gone[c]; ok && r.Values[i] != nil && r.Values[i] != "" {
			r.Values[i] = v
		}
	}
}

// Restore writes the rows of a dump into a ledger that has nothing of that table yet. All constraints hold.
func (s *Ledger) Restore(ctx context.Context, table string, rows iter.Seq2[DumpRow, error]) error {
	if !slices.Contains(DumpTables(), table) {
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
		err := s.tx(ctx, "restore "+table, relaxed, func(t *txn) error { return s.engine.bulk(ctx, t, table, columns, block) })
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

func (s *Reader) columns(ctx context.Context, table string) ([]string, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT * FROM `+table+` LIMIT 0`)
	if err != nil {
		return nil, fmt.Errorf("read the columns of %s: %w", table, err)
	}
	defer rows.Close()
	return rows.Columns()
}
