package read

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Part reads a named part of a run's snapshot, chunk by chunk. A part that is not there is ErrNotFound at the first read.
func (s *Reader) Part(ctx context.Context, run int64, name string) io.Reader {
	return &partReader{ctx: ctx, db: s.db, run: run, name: name}
}

type partReader struct {
	ctx   context.Context
	db    *db.DB
	run   int64
	name  string
	chunk int64
	rest  []byte
}

func (p *partReader) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		err := p.db.QueryRow(p.ctx, `SELECT bytes FROM snapshot_parts WHERE run_no = $1 AND name = $2 AND chunk = $3`,
			p.run, p.name, p.chunk).Scan(&p.rest)
		err = store.NotFound(err)
		if p.chunk > 0 && errors.Is(err, store.ErrNotFound) {
			return 0, io.EOF
		}
		if err != nil {
			return 0, fmt.Errorf("snapshot part %s: %w", p.name, err)
		}
		p.chunk++
		if len(p.rest) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// Items walks over the items of one input in their order, a page at a time: no query stays open while something is done
// with them.
func (s *Reader) Items(ctx context.Context, run int64, input string) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		for next, more := int64(0), true; more; {
			var page []assay.Item
			var bytes int
			more = false
			for item, err := range s.items(ctx, `WHERE run_no = $1 AND input = $2 AND ord >= $3 ORDER BY ord LIMIT CAST($4 AS BIGINT)`,
				run, input, next, pageRows) {
				if err != nil {
					yield(assay.Item{}, err)
					return
				}
				page = append(page, item.Item)
				next = item.ord + 1
				if bytes += item.bytes; len(page) == pageRows || bytes >= pageBytes {
					more = true
					break
				}
			}
			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// A page of items that are walked over is at most so large.
const (
	pageRows  = 500
	pageBytes = 1 << 20
)

// ItemHeads walks over the items of one input in their order, without their fields.
func (s *Reader) ItemHeads(ctx context.Context, run int64, input string) iter.Seq2[assay.Item, error] {
	scan := func(rows *sql.Rows) (it assay.Item, err error) { return it, rows.Scan(&it.ID, &it.Cluster, &it.Expect) }
	return db.Walk(ctx, s.db, "read items", scan, `SELECT id, cluster, expect FROM items WHERE run_no = $1 AND input = $2 ORDER BY ord`,
		run, input)
}

// Item reads one item of one input by its id.
func (s *Reader) Item(ctx context.Context, run int64, input, id string) (assay.Item, error) {
	for item, err := range s.items(ctx, `WHERE run_no = $1 AND input = $2 AND id = $3`, run, input, id) {
		return item.Item, err
	}
	return assay.Item{}, fmt.Errorf("item %s of %s: %w", id, input, store.ErrNotFound)
}

// ItemsByID reads some items of one input; those that are not there are left out.
func (s *Reader) ItemsByID(ctx context.Context, run int64, input string, ids []string) (map[string]assay.Item, error) {
	all := make(map[string]assay.Item, len(ids))
	for part := range slices.Chunk(ids, 500) {
		args := []any{run, input}
		for _, id := range part {
			args = append(args, id)
		}
		for item, err := range s.items(ctx, `WHERE run_no = $1 AND input = $2 AND id IN (`+db.Placeholders(3, len(args))+`)`, args...) {
			if err != nil {
				return nil, err
			}
			all[item.ID] = item.Item
		}
	}
	return all, nil
}

// File finds the file with a hash that items of a run show.
func File(ctx context.Context, s *Reader, run int64, sum assay.Sum) (assay.File, error) {
	var text string
	err := s.db.QueryRow(ctx, `SELECT files FROM items WHERE run_no = $1 AND files LIKE $2 LIMIT 1`, run, "%"+sum.String()+"%").Scan(&text)
	if err != nil {
		return assay.File{}, fmt.Errorf("file %s of an item: %w", sum, store.NotFound(err))
	}
	files, err := assay.DecodeFiles(text)
	i := slices.IndexFunc(files, func(f assay.File) bool { return f.Sum == sum })
	if i < 0 && err == nil {
		err = store.ErrNotFound
	}
	if err != nil {
		return assay.File{}, fmt.Errorf("file %s of an item: %w", sum, err)
	}
	return files[i], nil
}

// Shown walks over the files that items of runs show. A run that was given up while it was prepared shows none.
func Shown(ctx context.Context, s *Reader) iter.Seq2[[]assay.File, error] {
	scan := func(rows *sql.Rows) ([]assay.File, error) {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		return assay.DecodeFiles(text)
	}
	return db.Walk(ctx, s.db, "read the files of items", scan, `SELECT DISTINCT i.files FROM items i JOIN runs r ON r.no = i.run_no
		WHERE i.files <> '' AND NOT (r.state = 'preparing' AND r.holder IS NULL AND r.epoch > 0)`)
}

// itemRow is an item with its place in the ledger.
type itemRow struct {
	assay.Item
	ord   int64
	bytes int // of its fields
}

func (s *Reader) items(ctx context.Context, where string, args ...any) iter.Seq2[itemRow, error] {
	parser := store.FieldsParser()
	scan := func(rows *sql.Rows) (r itemRow, err error) {
		var fields sql.RawBytes
		var files string
		err = rows.Scan(&r.ord, &r.ID, &r.Cluster, &r.Expect, &fields, &files)
		if err == nil {
			r.Files, err = assay.DecodeFiles(files)
		}
		if err != nil {
			return r, err
		}
		r.bytes = len(fields) + len(files)
		r.Fields, err = store.DecodeFields(parser, fields)
		return r, err
	}
	return db.Walk(ctx, s.db, "read items", scan, `SELECT ord, id, cluster, expect, fields, files FROM items `+where, args...)
}

// ItemCount returns how many items an input of a run has. They are numbered without gaps.
func (s *Pages) ItemCount(ctx context.Context, run int64, input string) (int64, error) {
	var last sql.NullInt64
	if err := s.db.QueryRow(ctx, `SELECT MAX(ord) FROM items WHERE run_no = $1 AND input = $2`, run, input).Scan(&last); err != nil {
		return 0, fmt.Errorf("count items: %w", err)
	}
	if !last.Valid {
		return 0, nil
	}
	return last.Int64 + 1, nil
}

// Named reads the items of a run that have an id, at most one of each input, by the input's name.
func (s *Reader) Named(ctx context.Context, run int64, id string) (map[string]assay.Item, error) {
	all := map[string]assay.Item{}
	for input := ""; ; {
		var next sql.NullString
		err := s.db.QueryRow(ctx, `SELECT MIN(input) FROM items WHERE run_no = $1 AND input > $2`, run, input).Scan(&next)
		if err != nil {
			return nil, fmt.Errorf("read inputs: %w", err)
		}
		if !next.Valid {
			return all, nil
		}
		input = next.String
		item, err := s.Item(ctx, run, input, id)
		if err == nil {
			all[input] = item
		} else if !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
	}
}
