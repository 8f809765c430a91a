package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"assay"
)

// Claim notes, durably and before they are asked, that these live requests may be in flight.
func (s *Store) Claim(ctx context.Context, l Lease, ords []int64) error {
	return s.tx(ctx, "claim", durable, func(t *txn) error {
		n, err := t.change(ctx, `UPDATE segments SET epoch = epoch WHERE no = $1 AND epoch = $2 AND state = 'launched' AND mode = 'live'`, l.No, l.Epoch)
		if err == nil && n == 0 {
			return fmt.Errorf("segment %d: %w", l.No, ErrLeaseLost)
		}
		if err != nil {
			return err
		}
		rows := make([][]any, len(ords))
		for i, ord := range ords {
			rows[i] = []any{l.No, ord, l.Epoch, s.millis()}
		}
		return s.engine.bulk(ctx, t, "claims", []string{"segment_no", "ord", "epoch", "at_ms"}, rows)
	})
}

// Doubt notes which live requests were in flight when an earlier holder died: claimed, without an outcome. They may be
// billed twice. It tells how many are new.
func (s *Store) Doubt(ctx context.Context, l Lease) (int64, error) {
	var n int64
	err := s.tx(ctx, "doubt", durable, func(t *txn) (err error) {
		n, err = t.change(ctx, `INSERT INTO doubts (segment_no, ord, epoch, at_ms)
			SELECT a.segment_no, a.ord, c.epoch, $3 FROM claims c JOIN attempts a ON a.segment_no = c.segment_no AND a.ord = c.ord
			WHERE c.segment_no = $1 AND c.epoch < $2
			AND NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord)
			AND NOT EXISTS (SELECT 1 FROM doubts d WHERE d.segment_no = a.segment_no AND d.ord = a.ord AND d.epoch = c.epoch)`,
			l.No, l.Epoch, s.millis())
		if err != nil || n == 0 {
			return err
		}
		var run int64
		if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1`, l.No).Scan(&run); err != nil {
			return err
		}
		return t.event(ctx, run, l.No, "doubt", fmt.Sprintf("%d live requests were in flight when their process ended: each may be billed twice", n))
	})
	return n, err
}

// Unclaim takes back the claim of a request that surely was not answered, so that asking it again is no doubt.
func (s *Store) Unclaim(ctx context.Context, l Lease, ord int64) error {
	return s.tx(ctx, "unclaim", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `DELETE FROM claims WHERE segment_no = $1 AND epoch = $2 AND ord = $3`, l.No, l.Epoch, ord)
		return err
	})
}

// Doubtful is a live request that may be billed twice.
type Doubtful struct {
	Segment int64
	Ord     int64
	Key     assay.Key
	Item    string
	Lane    string
	At      time.Time
}

// Doubts walks over the live requests of a run that may be billed twice.
func (s *Store) Doubts(ctx context.Context, run int64) iter.Seq2[Doubtful, error] {
	return func(yield func(Doubtful, error) bool) {
		rows, err := s.read.QueryContext(ctx, `SELECT d.segment_no, d.ord, a.key, a.item, g.lane, d.at_ms FROM doubts d
			JOIN attempts a ON a.segment_no = d.segment_no AND a.ord = d.ord JOIN segments g ON g.no = d.segment_no
			WHERE g.run_no = $1 ORDER BY d.segment_no, d.ord, d.epoch`, run)
		if err != nil {
			yield(Doubtful{}, fmt.Errorf("read doubts: %w", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			var d Doubtful
			var key []byte
			var at int64
			if err := rows.Scan(&d.Segment, &d.Ord, &key, &d.Item, &d.Lane, &at); err != nil {
				yield(Doubtful{}, fmt.Errorf("read doubts: %w", err))
				return
			}
			copy(d.Key[:], key)
			d.At = time.UnixMilli(at).UTC()
			if !yield(d, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Doubtful{}, fmt.Errorf("read doubts: %w", err))
		}
	}
}
