package read

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Comments reads what people wrote about the answers to some items, oldest first. What was taken back is left out.
func (s *Pages) Comments(ctx context.Context, run int64, items []string) ([]store.Comment, error) {
	scan := func(rows *sql.Rows) (c store.Comment, err error) {
		var key []byte
		var at int64
		err = rows.Scan(&c.No, &c.Run, &key, &c.Item, &c.Person, &c.Text, &at)
		copy(c.Key[:], key)
		c.At = time.UnixMilli(at).UTC()
		return c, err
	}
	var out []store.Comment
	for part := range slices.Chunk(items, 500) {
		args := []any{run}
		for _, id := range part {
			args = append(args, id)
		}
		for c, err := range db.Walk(ctx, s.db, "read comments", scan, `SELECT no, run_no, key, item, person, text, at_ms FROM comments
			WHERE run_no = $1 AND stale = 0 AND item IN (`+db.Placeholders(2, len(args))+`) ORDER BY no`, args...) {
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}
