package sending

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// SettleLate writes results that a provider returned for attempts that had been given up. An answer becomes current if
// the request has none; otherwise it is surplus. It is idempotent, as Settle is. A closed run is opened again: more may
// be possible now.
func (s *Store) SettleLate(ctx context.Context, l store.Lease, block []store.Settlement) (store.Tally, error) {
	var tally store.Tally
	err := s.db.Tx(ctx, "settle late", db.Relaxed, func(t *db.Txn) error {
		tally = store.Tally{}
		// First of all, and so the lock: the writers of a run take turns.
		if err := lockRunOf(ctx, t, l); err != nil {
			return err
		}
		var g lateSegment
		err := t.QueryRowContext(ctx, `SELECT run_no, stage, lane FROM segments WHERE no = $1 AND epoch = $2`+
			db.InStates([]store.State{store.Settled, store.Failed, store.Cancelled}), l.No, l.Epoch).Scan(&g.run, &g.stage, &g.lane)
		if err != nil {
			return whyNot(ctx, t, l, err)
		}
		g.no = l.No
		for i := range block {
			if err := settleLate(ctx, t, g, &block[i], &tally); err != nil {
				return fmt.Errorf("attempt %d: %w", block[i].Ord, err)
			}
		}
		if tally.Written == 0 {
			return nil
		}
		// What they bring may be asked about in turn.
		if _, err := t.ExecContext(ctx, `UPDATE groups SET complete = 0 WHERE run_no = $1`, g.run); err != nil {
			return err
		}
		return state.Reopen(ctx, t, g.run, "answers came late")
	})
	return tally, err
}

// lockRunOf locks the run of a segment.
func lockRunOf(ctx context.Context, t *db.Txn, l store.Lease) error {
	var run int64
	if err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1`, l.No).Scan(&run); err != nil {
		return fmt.Errorf("segment %d: %w", l.No, store.NotFound(err))
	}
	return state.Lock(ctx, t, run)
}

type lateSegment struct {
	no, run     int64
	stage, lane string
}

func settleLate(ctx context.Context, t *db.Txn, g lateSegment, o *store.Settlement, tally *store.Tally) error {
	var was assay.Ending
	var answered bool
	err := t.QueryRowContext(ctx, `SELECT o.ending, `+db.Answered("a")+`
		FROM outcomes o JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord WHERE o.segment_no = $1 AND o.ord = $2 AND o.late = 0
		AND o.ending IN ('lost', 'expired', 'cancelled')
		AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = $1 AND v.ord = $2 AND v.late = 1)`, g.no, o.Ord).Scan(&was, &answered)
	if err == sql.ErrNoRows {
		return nil
	}
	if err != nil {
		return err
	}
	lane, err := lateLane(ctx, t, g, o, answered)
	if err != nil {
		return err
	}
	row := outcomeRow(entry{segment: g.no, run: g.run, late: 1, retried: 1, at: t.Millis()}, o, answered)
	if err := t.Bulk(ctx, "outcomes", outcomeColumns, [][]any{row}); err != nil {
		return err
	}
	if err := countLate(ctx, t, g, o, was, lane.Surplus); err != nil {
		return err
	}
	if err := state.AddToLane(ctx, t, lane); err != nil {
		return err
	}
	tally.Written++
	tally.Surplus += lane.Surplus
	return spendLate(ctx, t, g, o, was)
}

// lateLane returns how a late outcome moves its request among the lane's counters.
func lateLane(ctx context.Context, t *db.Txn, g lateSegment, o *store.Settlement, answered bool) (state.LaneDelta, error) {
	d := state.LaneDelta{Run: g.run, Stage: g.stage, Lane: g.lane}
	stands := o.Outcome.Ending.Stands()
	if answered {
		d.Surplus = db.Flag(stands)
		return d, nil
	}
	// The request counts by its latest attempt, which may be a later one than this.
	var segment int64
	var now sql.NullString
	err := t.QueryRowContext(ctx, `SELECT a.segment_no, (SELECT v.ending FROM outcomes v
		WHERE v.segment_no = a.segment_no AND v.ord = a.ord ORDER BY v.late DESC LIMIT 1)
		FROM attempts late JOIN attempts a ON `+db.SameRequest("a", "late")+` JOIN segments h ON h.no = a.segment_no
		WHERE late.segment_no = $1 AND late.ord = $2 AND h.state <> 'planned'
		ORDER BY a.try DESC LIMIT 1`, g.no, o.Ord).Scan(&segment, &now)
	if err != nil {
		return d, err
	}
	if segment != g.no && !stands {
		return d, nil
	}
	if now.Valid {
		d.Add(assay.Ending(now.String), -1)
	} else {
		d.Open--
	}
	d.Add(o.Outcome.Ending, 1)
	d.Hits[slices.Index(assay.Endings(), o.Outcome.Ending)] += db.Flag(o.Outcome.Usage.Cached > 0)
	d.Unread = db.Flag(o.Unread)
	if stands {
		_, err = t.ExecContext(ctx, `DELETE FROM resends WHERE run_no = $1 AND key = $2`, g.run, o.Key[:])
	}
	return d, err
}

// countLate moves the counters of the segment.
func countLate(ctx context.Context, t *db.Txn, g lateSegment, o *store.Settlement, was assay.Ending, surplus int64) error {
	var d delta
	d.count(o, true)
	from, to := "n_"+string(was), "n_"+string(o.Outcome.Ending) // endings are constants
	_, err := t.ExecContext(ctx, `UPDATE segments SET `+from+` = `+from+` - 1, `+to+` = `+to+` + 1, n_late = n_late + 1,
		n_surplus = n_surplus + $2, cost_nano = cost_nano + $3, cost_priced = cost_priced - 1 + $4, cost_unknown = cost_unknown + $5,
		cache_hits = cache_hits + $6,
		input_tokens = input_tokens + $7, cached_tokens = cached_tokens + $8, output_tokens = output_tokens + $9,
		reasoning_tokens = reasoning_tokens + $10,
		usage_unknown = usage_unknown + $11, written_tokens = written_tokens + $12
		WHERE no = $1`, g.no, surplus, int64(d.cost.Sum), d.cost.Priced, d.cost.Unknown, d.hits,
		d.usage.Input, d.usage.Cached, d.usage.Output, d.usage.Reasoning, d.mute, d.usage.Written())
	return err
}

// spendLate adds what a late outcome cost to the run. What was set aside for it is free again.
func spendLate(ctx context.Context, t *db.Txn, g lateSegment, o *store.Settlement, was assay.Ending) error {
	var d delta
	d.count(o, true)
	free := int64(0)
	if was == assay.Lost && o.Cost != nil {
		err := t.QueryRowContext(ctx, `SELECT CASE WHEN aside_nano < $2 OR n_lost = 0 AND cost_unknown = 0 THEN aside_nano ELSE $2 END
			FROM segments WHERE no = $1`, g.no, int64(o.Aside)).Scan(&free)
		if err != nil {
			return err
		}
	}
	_, err := t.ExecContext(ctx, `UPDATE segments SET aside_nano = aside_nano - $2 WHERE no = $1`, g.no, free)
	if err != nil {
		return err
	}
	_, err = t.ExecContext(ctx, `UPDATE runs SET spent_nano = spent_nano + $2, spent_unknown = spent_unknown + $3,
		perhaps_nano = perhaps_nano - $4 WHERE no = $1`, g.run, int64(d.cost.Sum), d.cost.Unknown, free)
	return err
}
