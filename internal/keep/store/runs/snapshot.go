package runs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// PutLanes writes the lanes of a plan. What is already there keeps its state and its counters.
func (s *Store) PutLanes(ctx context.Context, lanes []store.Lane) error {
	return s.db.Tx(ctx, "put lanes", db.Relaxed, func(t *db.Txn) error { return putLanes(ctx, t, lanes) })
}

func putLanes(ctx context.Context, t *db.Txn, lanes []store.Lane) error {
	for _, l := range lanes {
		if l.Canary == "" {
			l.Canary = store.CanaryOff
		}
		_, err := t.ExecContext(ctx, `INSERT INTO lanes (run_no, stage, lane, provider, model, label, params, planned, state, reason,
			canary)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', '', $9)
			ON CONFLICT (run_no, stage, lane) DO UPDATE SET provider = excluded.provider, model = excluded.model,
			label = excluded.label, params = excluded.params, planned = excluded.planned`,
			l.Run, l.Stage, l.Name, l.Provider, l.Model, l.Label, l.Params, l.Planned, string(l.Canary))
		if err != nil {
			return fmt.Errorf("lane %s: %w", l.Name, err)
		}
	}
	return nil
}

const chunkSize = 256 << 10

// PutPart writes a named part of a run's snapshot, replacing what an interrupted preparation left.
func (s *Store) PutPart(ctx context.Context, run int64, name string, r io.Reader) error {
	again, err := rereader(r)
	if err != nil {
		return fmt.Errorf("read part %s: %w", name, err)
	}
	return s.db.Tx(ctx, "put snapshot part", db.Relaxed, func(t *db.Txn) error {
		r, err := again()
		if err != nil {
			return fmt.Errorf("read part %s: %w", name, err)
		}
		return putPart(ctx, t, run, name, r)
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

func putPart(ctx context.Context, t *db.Txn, run int64, name string, r io.Reader) error {
	if err := dropPart(ctx, t, run, name); err != nil {
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

func dropPart(ctx context.Context, t *db.Txn, run int64, name string) error {
	_, err := t.ExecContext(ctx, `DELETE FROM snapshot_parts WHERE run_no = $1 AND name = $2`, run, name)
	return err
}

// PutItems writes the items of one input into a run's snapshot, replacing what an interrupted preparation left. It goes
// block by block: no writer waits for the reading of a file.
func (s *Store) PutItems(ctx context.Context, run int64, input string, items iter.Seq2[assay.Item, error]) error {
	err := s.db.Tx(ctx, "put items", db.Relaxed, func(t *db.Txn) error {
		_, err := t.ExecContext(ctx, `DELETE FROM items WHERE run_no = $1 AND input = $2`, run, input)
		return err
	})
	if err != nil {
		return err
	}
	return itemBlocks(run, store.MoreItems{Input: input, Items: items}, func(block [][]any) error {
		return s.db.Tx(ctx, "put items", db.Relaxed, func(t *db.Txn) error { return putItems(ctx, t, input, block) })
	})
}

// itemBlocks makes rows of items, so many at a time.
func itemBlocks(run int64, more store.MoreItems, put func(block [][]any) error) error {
	block := make([][]any, 0, blockRows)
	ord := more.From
	for item, err := range more.Items {
		if err != nil {
			return err
		}
		fields, err := store.EncodeFields(item.Fields)
		if err != nil {
			return fmt.Errorf("item %s: %w", item.ID, err)
		}
		files, err := assay.EncodeFiles(item.Files)
		if err != nil {
			return fmt.Errorf("item %s: %w", item.ID, err)
		}
		block = append(block, []any{run, more.Input, ord, item.ID, item.Cluster, item.Expect, fields, files})
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

func putItems(ctx context.Context, t *db.Txn, input string, block [][]any) error {
	err := t.Bulk(ctx, "items", []string{"run_no", "input", "ord", "id", "cluster", "expect", "fields", "files"}, block)
	if t.Unique(err) {
		err = fmt.Errorf("input %s has two items with one id: %w", input, store.ErrDuplicate)
	}
	return err
}

// blockRows is how many rows are held in memory before they go into the database.
const blockRows = 1000
