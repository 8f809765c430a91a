package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"assay"
)

// Claim notes, durably and before they are asked, that these live requests may be in flight.
func (s *Ledger) Claim(ctx context.Context, l Lease, ords []int64) error {
	return s.tx(ctx, "claim", durable, func(t *txn) error { return t.claim(ctx, l, Round{Claim: ords}) })
}

// Round is what a live segment writes at once: what came home, and what may leave next.
type Round struct {
	Settle  []Settlement
	Claim   []int64 // may be in flight from now on
	Unclaim []int64 // surely never left: asking them later is no doubt
}

// LiveRound writes a round in one durable transaction.
func (s *Ledger) LiveRound(ctx context.Context, l Lease, r Round) (Tally, error) {
	if len(r.Settle) == 0 {
		op := "claim"
		if len(r.Claim) == 0 {
			op = "unclaim"
		}
		return Tally{}, s.tx(ctx, op, durable, func(t *txn) error { return t.claim(ctx, l, r) })
	}
	return s.settle(ctx, l, r.Settle, durable, func(t *txn) error { return t.claim(ctx, l, r) })
}

// claim enters and takes back claims.
func (t *txn) claim(ctx context.Context, l Lease, r Round) error {
	for _, b := range stretches(r.Unclaim) {
		if err := t.unclaim(ctx, l, b); err != nil {
			return err
		}
	}
	if len(r.Claim) == 0 {
		return nil
	}
	err := t.one(ctx, fmt.Errorf("segment %d: %w", l.No, ErrLeaseLost),
		`UPDATE segments SET epoch = epoch WHERE no = $1 AND epoch = $2 AND state = 'launched' AND mode = 'live'`, l.No, l.Epoch)
	if err != nil {
		return err
	}
	return t.enterClaims(ctx, l, stretches(r.Claim))
}

// unclaim takes a block out of the claims it is part of.
func (t *txn) unclaim(ctx context.Context, l Lease, b stretch) error {
	const part = ` FROM claims WHERE segment_no = $1 AND epoch = $2 AND ord < $4 AND ord + n > $3`
	rows, err := t.QueryContext(ctx, `SELECT ord, n`+part, l.No, l.Epoch, b.first, b.first+b.n)
	if err != nil {
		return err
	}
	defer rows.Close()
	var rest []stretch
	for rows.Next() {
		var c stretch
		if err := rows.Scan(&c.first, &c.n); err != nil {
			return err
		}
		rest = append(rest, stretch{c.first, b.first - c.first}, stretch{b.first + b.n, c.first + c.n - b.first - b.n})
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, `DELETE`+part, l.No, l.Epoch, b.first, b.first+b.n); err != nil {
		return err
	}
	return t.enterClaims(ctx, l, slices.DeleteFunc(rest, func(c stretch) bool { return c.n <= 0 }))
}

func (t *txn) enterClaims(ctx context.Context, l Lease, all []stretch) error {
	rows := make([][]any, len(all))
	for i, b := range all {
		rows[i] = []any{l.No, b.first, b.n, l.Epoch, t.s.millis()}
	}
	return t.s.engine.bulk(ctx, t, "claims", []string{"segment_no", "ord", "n", "epoch", "at_ms"}, rows)
}

// stretch is a row of ordinals without a gap.
type stretch struct{ first, n int64 }

// stretches are ordinals, taken together.
func stretches(ords []int64) []stretch {
	var all []stretch
	for _, ord := range slices.Sorted(slices.Values(ords)) {
		if k := len(all) - 1; k >= 0 && all[k].first+all[k].n == ord {
			all[k].n++
		} else {
			all = append(all, stretch{ord, 1})
		}
	}
	return all
}

// Unanswered notes, durably, that the reply to a live request did not come home: it may be billed, and asked again it may
// be billed twice.
func (s *Ledger) Unanswered(ctx context.Context, l Lease, ord int64) error {
	return s.tx(ctx, "unanswered", durable, func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO doubts (segment_no, ord, epoch, at_ms, cause) VALUES ($1, $2, $3, $4, 'reply')
			ON CONFLICT (segment_no, ord, epoch) DO UPDATE SET times = doubts.times + 1`, l.No, ord, l.Epoch, s.millis())
		return err
	})
}

// MarkInFlightLost notes which live requests were in flight when an earlier holder died: claimed, without an outcome. They may be
// billed twice. It returns how many are new.
func (s *Ledger) MarkInFlightLost(ctx context.Context, l Lease) (int64, error) {
	var n int64
	err := s.tx(ctx, "doubt", durable, func(t *txn) (err error) {
		n, err = t.change(ctx, `INSERT INTO doubts (segment_no, ord, epoch, at_ms)
			SELECT a.segment_no, a.ord, c.epoch, $3 FROM claims c JOIN attempts a ON a.segment_no = c.segment_no AND a.ord >= c.ord AND a.ord < c.ord + c.n
			WHERE c.segment_no = $1 AND c.epoch < $2
			AND NOT EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord)
			ON CONFLICT (segment_no, ord, epoch) DO UPDATE SET times = doubts.times + 1, cause = 'stop'`, l.No, l.Epoch, s.millis())
		if err != nil || n == 0 {
			return err
		}
		// Once noted, a claim of the dead is not counted again.
		_, err = t.ExecContext(ctx, `DELETE FROM claims WHERE segment_no = $1 AND epoch < $2`, l.No, l.Epoch)
		if err != nil {
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

// Doubtful is a live request that may be billed without its answer being kept: once for each of its Times.
type Doubtful struct {
	Segment int64
	Ord     int64
	Key     assay.Key
	Item    string
	Lane    string
	At      time.Time
	Times   int64
	Lost    bool // its reply was lost in flight; otherwise its process ended while it was in flight
}

// Doubts walks over the live requests of a run that may be billed twice.
func (s *Reader) Doubts(ctx context.Context, run int64) iter.Seq2[Doubtful, error] {
	return func(yield func(Doubtful, error) bool) {
		rows, err := s.stream.QueryContext(ctx, `SELECT d.segment_no, d.ord, a.key, a.item, g.lane, d.at_ms, d.times, d.cause FROM doubts d
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
			var cause string
			if err := rows.Scan(&d.Segment, &d.Ord, &key, &d.Item, &d.Lane, &at, &d.Times, &cause); err != nil {
				yield(Doubtful{}, fmt.Errorf("read doubts: %w", err))
				return
			}
			copy(d.Key[:], key)
			d.At, d.Lost = time.UnixMilli(at).UTC(), cause == "reply"
			if !yield(d, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Doubtful{}, fmt.Errorf("read doubts: %w", err))
		}
	}
}
