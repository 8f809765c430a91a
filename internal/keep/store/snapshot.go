package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"assay/internal/assay"
)

const chunkSize = 256 << 10

// PutPart writes a named part of a run's snapshot, replacing what an interrupted preparation left.
func (s *Ledger) PutPart(ctx context.Context, run int64, name string, r io.Reader) error {
	again, err := rereader(r)
	if err != nil {
		return fmt.Errorf("read part %s: %w", name, err)
	}
	return s.tx(ctx, "put snapshot part", relaxed, func(t *txn) error {
		r, err := again()
		if err != nil {
			return fmt.Errorf("read part %s: %w", name, err)
		}
		return t.putPart(ctx, run, name, r)
	})
}

// rereader gives what a reader has from its beginning, as often as a transaction is tried.
func rereader(r io.Reader) (func() (io.Reader, error), error) {
	if f, ok := r.(io.ReadSeeker); ok {
		start, err := f.Seek(0, io.SeekCurrent)
		return func() (io.Reader, error) { _, err := f.Seek(start, io.SeekStart); return f, err }, err
	}
	all, err := io.ReadAll(r)
	return func() (io.Reader, error) { return bytes.NewReader(all), nil }, err
}

func (t *txn) putPart(ctx context.Context, run int64, name string, r io.Reader) error {
	if err := t.dropPart(ctx, run, name); err != nil {
		return err
	}
	buf := make([]byte, chunkSize)
	for chunk := 0; ; chunk++ {
		n, err := io.ReadFull(r, buf)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return fmt.Errorf("read part %s: %w", name, err)
		}
		if n > 0 || chunk == 0 {
			_, err := t.ExecContext(ctx, `INSERT INTO snapshot_parts (run_no, name, chunk, bytes) VALUES ($1, $2, $3, $4)`,
				run, name, chunk, buf[:n])
			if err != nil {
				return err
			}
		}
		if last {
			return nil
		}
	}
}

func (t *txn) dropPart(ctx context.Context, run int64, name string) error {
	_, err := t.ExecContext(ctx, `DELETE FROM snapshot_parts WHERE run_no = $1 AND name = $2`, run, name)
	return err
}

// Part reads a named part of a run's snapshot, chunk by chunk. A part that is not there is ErrNotFound at the first read.
func (s *Reader) Part(ctx context.Context, run int64, name string) io.Reader {
	return &partReader{ctx: ctx, s: s, run: run, name: name}
}

type partReader struct {
	ctx   context.Context
	s     *Reader
	run   int64
	name  string
	chunk int64
	rest  []byte
}

func (p *partReader) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		err := p.s.read.QueryRowContext(p.ctx, `SELECT bytes FROM snapshot_parts WHERE run_no = $1 AND name = $2 AND chunk = $3`,
			p.run, p.name, p.chunk).Scan(&p.rest)
		err = notFound(err)
		if p.chunk > 0 && errors.Is(err, ErrNotFound) {
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

// PutItems writes the items of one input into a run's snapshot, replacing what an interrupted preparation left. It goes
// block by block: no writer waits for the reading of a file.
func (s *Ledger) PutItems(ctx context.Context, run int64, input string, items iter.Seq2[assay.Item, error]) error {
	err := s.tx(ctx, "put items", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `DELETE FROM items WHERE run_no = $1 AND input = $2`, run, input)
		return err
	})
	if err != nil {
		return err
	}
	return itemBlocks(run, MoreItems{Input: input, Items: items}, func(block [][]any) error {
		return s.tx(ctx, "put items", relaxed, func(t *txn) error { return t.putItems(ctx, input, block) })
	})
}

// MoreItems are items of one input, from a place on.
type MoreItems struct {
	Input string
	From  int64 // the place of the first, from 0
	Items iter.Seq2[assay.Item, error]
}

// itemBlocks makes rows of items, so many at a time.
func itemBlocks(run int64, more MoreItems, put func(block [][]any) error) error {
	block := make([][]any, 0, blockRows)
	ord := more.From
	for item, err := range more.Items {
		if err != nil {
			return err
		}
		fields, err := encodeFields(item.Fields)
		if err != nil {
			return fmt.Errorf("item %s: %w", item.ID, err)
		}
		block = append(block, []any{run, more.Input, ord, item.ID, item.Cluster, item.Expect, fields})
		ord++
		if len(block) == blockRows {
			if err := put(block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	if len(block) == 0 {
		return nil
	}
	return put(block)
}

func (t *txn) putItems(ctx context.Context, input string, block [][]any) error {
	err := t.s.engine.bulk(ctx, t, "items", []string{"run_no", "input", "ord", "id", "cluster", "expect", "fields"}, block)
	if t.s.engine.unique(err) {
		err = fmt.Errorf("input %s has two items with one id: %w", input, ErrDuplicate)
	}
	return err
}

// blockRows is how many rows are held in memory before they go into the database.
const blockRows = 1000

// Items walks over the items of one input in their order, a page at a time: no query stays open while something is done
// with them.
func (s *Reader) Items(ctx context.Context, run int64, input string) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		for next, more := int64(0), true; more; {
			var page []assay.Item
			var bytes int
			more = false
			for item, err := range s.items(ctx, `WHERE run_no = $1 AND input = $2 AND ord >= $3 ORDER BY ord LIMIT CAST($4 AS BIGINT)`, run, input, next, pageRows) {
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
	return walk(ctx, s, "read items", scan, `SELECT id, cluster, expect FROM items WHERE run_no = $1 AND input = $2 ORDER BY ord`, run, input)
}

// Item reads one item of one input by its id.
func (s *Reader) Item(ctx context.Context, run int64, input, id string) (assay.Item, error) {
	for item, err := range s.items(ctx, `WHERE run_no = $1 AND input = $2 AND id = $3`, run, input, id) {
		return item.Item, err
	}
	return assay.Item{}, fmt.Errorf("item %s of %s: %w", id, input, ErrNotFound)
}

// ItemsByID reads some items of one input; those that are not there are left out.
func (s *Reader) ItemsByID(ctx context.Context, run int64, input string, ids []string) (map[string]assay.Item, error) {
	all := make(map[string]assay.Item, len(ids))
	for part := range slices.Chunk(ids, 500) {
		args := []any{run, input}
		for _, id := range part {
			args = append(args, id)
		}
		for item, err := range s.items(ctx, `WHERE run_no = $1 AND input = $2 AND id IN (`+placeholders(3, len(args))+`)`, args...) {
			if err != nil {
				return nil, err
			}
			all[item.ID] = item.Item
		}
	}
	return all, nil
}

// itemRow is an item with its place in the ledger.
type itemRow struct {
	assay.Item
	ord   int64
	bytes int // of its fields
}

func (s *Reader) items(ctx context.Context, where string, args ...any) iter.Seq2[itemRow, error] {
	scan := func(rows *sql.Rows) (r itemRow, err error) {
		var fields []byte
		if err := rows.Scan(&r.ord, &r.ID, &r.Cluster, &r.Expect, &fields); err != nil {
			return r, err
		}
		r.bytes = len(fields)
		return r, decodeFields(fields, &r.Fields)
	}
	return walk(ctx, s, "read items", scan, `SELECT ord, id, cluster, expect, fields FROM items `+where, args...)
}

// Named reads the items of a run that have an id, at most one of each input, by the input's name.
func (s *Reader) Named(ctx context.Context, run int64, id string) (map[string]assay.Item, error) {
	all := map[string]assay.Item{}
	for input := ""; ; {
		var next sql.NullString
		err := s.read.QueryRowContext(ctx, `SELECT MIN(input) FROM items WHERE run_no = $1 AND input > $2`, run, input).Scan(&next)
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
		} else if !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
}
