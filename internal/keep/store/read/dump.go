package read

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Dump walks over the rows of one table that belong to a run. Machines, accounts and files of this place are left out.
func (s *Reader) Dump(ctx context.Context, run int64, table string) iter.Seq2[store.DumpRow, error] {
	if !slices.Contains(store.DumpTables(), table) {
		return func(yield func(store.DumpRow, error) bool) {
			yield(store.DumpRow{}, fmt.Errorf("dump: no table %q", table))
		}
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
	case "looks":
		order = " ORDER BY stage, number"
	case "redos":
		order = " ORDER BY order_no"
	case "attempts", "outcomes":
		order = " ORDER BY segment_no, ord"
	}
	var columns []string
	scan := func(rows *sql.Rows) (store.DumpRow, error) {
		if columns == nil {
			var err error
			if columns, err = rows.Columns(); err != nil {
				return store.DumpRow{}, err
			}
		}
		row := store.DumpRow{Columns: columns, Values: make([]any, len(columns))}
		into := make([]any, len(columns))
		for i := range into {
			into[i] = &row.Values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return row, err
		}
		depersonalise(&row, table)
		return row, nil
	}
	return db.Walk(ctx, s.db, "dump "+table, scan, `SELECT * FROM `+table+` WHERE `+of+` = $1`+order, run)
}

// elsewhere replaces, in a dump, values that belong to one machine or one account.
const elsewhere = "elsewhere"

// depersonalise takes out what belongs to this machine or to an account.
func depersonalise(r *store.DumpRow, table string) {
	gone := map[string]any{"holder": nil, "lease_until_ms": nil, "due_ms": nil}
	switch table {
	case "runs":
		gone["folder"], gone["started_by"], gone["epoch"] = "", "", int64(0)
	case "segments":
		for _, c := range []string{"input", "handle", "fence", "lost_handles", "cursor_mark", "imported"} {
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
