package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"assay/internal/assay"
)

// InFlight is a live request that may have been sent, and has no answer here.
type InFlight struct {
	Ord  int64
	High *assay.Money // what it costs at most; nil: not known
}

// Unanswered notes that the reply to a live request did not come back: it may be billed, and asked again it may be billed
// twice.
func (s *Ledger) Unanswered(ctx context.Context, l Lease, f InFlight) error {
	return s.tx(ctx, "unanswered", durable, func(t *txn) error {
		_, err := t.doubt(ctx, l.No, l.Epoch, f, `'reply', $5) ON CONFLICT (segment_no, ord, epoch, cause) DO UPDATE SET times = doubts.times + 1`)
		return err
	})
}

// MarkInFlightLost notes which live requests were in flight when the worker that sent them under an epoch stopped: each may be
// billed twice. Those that have an outcome, and those that are noted already, are left out. It returns how many are new.
func (s *Ledger) MarkInFlightLost(ctx context.Context, l Lease, epoch int64, all []InFlight) (int64, error) {
	if len(all) == 0 {
		return 0, nil
	}
	var n int64
	err := s.tx(ctx, "doubt", durable, func(t *txn) error {
		n = 0
		var run int64
		if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run); err != nil {
			return t.whyNot(ctx, l, err)
		}
		for _, f := range all {
			var settled bool
			if err := t.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM outcomes WHERE segment_no = $1 AND ord = $2)`, l.No, f.Ord).Scan(&settled); err != nil {
				return err
			}
			if settled {
				continue
			}
			fresh, err := t.doubt(ctx, l.No, epoch, f, `'stop', $5) ON CONFLICT DO NOTHING`)
			if err != nil {
				return err
			}
			n += fresh
		}
		if n == 0 {
			return nil
		}
		return t.event(ctx, run, l.No, "doubt", fmt.Sprintf("%s in flight when the worker stopped: what was sent may be billed twice", assay.Count(int(n), "live request")))
	})
	return n, err
}

// doubt writes one doubt, and sets its price aside: it is perhaps spent. It returns 1 where something was written.
func (t *txn) doubt(ctx context.Context, segment, epoch int64, f InFlight, cause string) (int64, error) {
	n, err := t.change(ctx, `INSERT INTO doubts (segment_no, ord, epoch, cost_nano, cause, at_ms) VALUES ($1, $2, $3, $4, `+cause,
		segment, f.Ord, epoch, nanos(f.High), t.s.millis())
	if err != nil || n == 0 || f.High == nil {
		return n, err
	}
	_, err = t.ExecContext(ctx, `UPDATE runs SET perhaps_nano = perhaps_nano + $2 WHERE no = (SELECT run_no FROM segments WHERE no = $1)`, segment, int64(*f.High))
	return n, err
}

// DoubtSum is how many live calls of a run may be billed without their answer being kept, and what they cost at most.
type DoubtSum struct {
	Calls int64
	Cost  assay.Cost
}

// DoubtSum sums the doubts of a run.
func (s *Reader) DoubtSum(ctx context.Context, run int64) (DoubtSum, error) {
	var d DoubtSum
	err := s.read.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(d.times), 0) AS BIGINT), CAST(COALESCE(SUM(d.times * COALESCE(d.cost_nano, 0)), 0) AS BIGINT),
		CAST(COALESCE(SUM(CASE WHEN d.cost_nano IS NULL THEN d.times ELSE 0 END), 0) AS BIGINT)
		FROM doubts d JOIN segments g ON g.no = d.segment_no WHERE g.run_no = $1`, run).Scan(&d.Calls, &d.Cost.Sum, &d.Cost.Unknown)
	if err != nil {
		return d, fmt.Errorf("sum doubts: %w", err)
	}
	d.Cost.Priced = d.Calls - d.Cost.Unknown
	return d, nil
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
	Lost    bool // its reply was lost in flight; otherwise its worker stopped while it was in flight
}

// Doubts walks over the live requests of a run that may be billed twice.
func (s *Reader) Doubts(ctx context.Context, run int64) iter.Seq2[Doubtful, error] {
	scan := func(rows *sql.Rows) (d Doubtful, err error) {
		var key []byte
		var at int64
		var cause string
		err = rows.Scan(&d.Segment, &d.Ord, &key, &d.Item, &d.Lane, &at, &d.Times, &cause)
		copy(d.Key[:], key)
		d.At, d.Lost = time.UnixMilli(at).UTC(), cause == "reply"
		return d, err
	}
	return walk(ctx, s, "read doubts", scan, `SELECT d.segment_no, d.ord, a.key, a.item, g.lane, d.at_ms, d.times, d.cause FROM doubts d
		JOIN attempts a ON a.segment_no = d.segment_no AND a.ord = d.ord JOIN segments g ON g.no = d.segment_no
		WHERE g.run_no = $1 ORDER BY d.segment_no, d.ord, d.epoch, d.cause`, run)
}
