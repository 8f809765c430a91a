package sending

import (
	"context"
	"fmt"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Unanswered notes that the reply to a live request did not come back: it may be billed, and asked again it may be billed
// twice.
func (s *Store) Unanswered(ctx context.Context, l store.Lease, f store.InFlight) error {
	return s.db.Tx(ctx, "unanswered", db.Durable, func(t *db.Txn) error {
		_, err := doubt(ctx, t, l.No, l.Epoch, f, `'reply', $5)
			ON CONFLICT (segment_no, ord, epoch, cause) DO UPDATE SET times = doubts.times + 1`)
		return err
	})
}

// MarkInFlightLost notes which live requests were in flight when the worker that sent them under an epoch stopped: each may be
// billed twice. Those that have an outcome, and those that are noted already, are left out. It returns how many are new.
func (s *Store) MarkInFlightLost(ctx context.Context, l store.Lease, epoch int64, all []store.InFlight) (int64, error) {
	if len(all) == 0 {
		return 0, nil
	}
	var n int64
	err := s.db.Tx(ctx, "doubt", db.Durable, func(t *db.Txn) error {
		n = 0
		var run int64
		if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run); err != nil {
			return whyNot(ctx, t, l, err)
		}
		for _, f := range all {
			var settled bool
			if err := t.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM outcomes WHERE segment_no = $1 AND ord = $2)`,
				l.No, f.Ord).Scan(&settled); err != nil {
				return err
			}
			if settled {
				continue
			}
			fresh, err := doubt(ctx, t, l.No, epoch, f, `'stop', $5) ON CONFLICT DO NOTHING`)
			if err != nil {
				return err
			}
			n += fresh
		}
		if n == 0 {
			return nil
		}
		return t.Event(ctx, run, l.No, "doubt",
			fmt.Sprintf("%s in flight when the worker stopped: what was sent may be billed twice", assay.Count(int(n), "live request")))
	})
	return n, err
}

// MarkAskedTwice notes which live requests a worker sent under an epoch that were answered under another: each is perhaps paid for twice.
// The log is that of the epoch: what the ledger has from it, and what is noted already, is left out, and so is what has no outcome
// yet. It asks for no lease: the worker that had it knows best. It returns how many are new.
func (s *Store) MarkAskedTwice(ctx context.Context, segment, epoch, log int64, all []store.InFlight) (int64, error) {
	if len(all) == 0 {
		return 0, nil
	}
	var n int64
	err := s.db.Tx(ctx, "asked twice", db.Durable, func(t *db.Txn) error {
		n = 0
		for _, f := range all {
			var other bool
			if err := t.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM outcomes WHERE segment_no = $1 AND ord = $2
				AND COALESCE(artifact_no, 0) <> $3)`, segment, f.Ord, log).Scan(&other); err != nil {
				return err
			}
			if !other {
				continue
			}
			fresh, err := doubt(ctx, t, segment, epoch, f, `'stop', $5) ON CONFLICT DO NOTHING`)
			if err != nil {
				return err
			}
			n += fresh
		}
		if n == 0 {
			return nil
		}
		var run int64
		if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1`, segment).Scan(&run); err != nil {
			return err
		}
		return t.Event(ctx, run, segment, "doubt",
			fmt.Sprintf("%s sent by a worker after another had taken over: they may be billed twice", assay.Count(int(n), "live request")))
	})
	return n, err
}

// doubt writes one doubt, and sets its price aside: it is perhaps spent. It returns 1 where something was written.
func doubt(ctx context.Context, t *db.Txn, segment, epoch int64, f store.InFlight, cause string) (int64, error) {
	n, err := t.Change(ctx, `INSERT INTO doubts (segment_no, ord, epoch, cost_nano, cause, at_ms) VALUES ($1, $2, $3, $4, `+cause,
		segment, f.Ord, epoch, db.Nanos(f.High), t.Millis())
	if err != nil || n == 0 || f.High == nil {
		return n, err
	}
	_, err = t.ExecContext(ctx, `UPDATE runs SET perhaps_nano = perhaps_nano + $2 WHERE no = (SELECT run_no FROM segments WHERE no = $1)`,
		segment, int64(*f.High))
	return n, err
}
