package store

import (
	"context"
	"database/sql"
	"iter"
	"time"

	"assay/internal/assay"
)

// Span is a segment as a stretch of time: when it was made, sent, ended and settled, and what it cost.
type Span struct {
	No          int64
	Stage, Lane string
	Mode        SegmentMode
	State       State
	Requests    int64
	Created     time.Time
	Launched    time.Time // zero: not sent
	Ended       time.Time // zero: not ended; live: when it settled
	Settled     time.Time // zero: not settled
	Cost        assay.Cost
}

// Spans reads the newest segments of a run, oldest first, at most limit.
func (s *Reader) Spans(ctx context.Context, run int64, limit int) ([]Span, error) {
	return collect(walk(ctx, s, "read spans", scanSpan, `SELECT no, stage, lane, mode, state, requests, created_ms, launched_ms,
		COALESCE(ended_ms, CASE WHEN mode <> 'batch' THEN settled_ms END), settled_ms, cost_nano, cost_priced, cost_unknown
		FROM (SELECT * FROM segments WHERE run_no = $1 AND state <> 'planned' ORDER BY no DESC LIMIT CAST($2 AS BIGINT)) AS g ORDER BY no`, run, limit))
}

func scanSpan(rows *sql.Rows) (Span, error) {
	var g Span
	var created, launched, ended, settled sql.NullInt64
	err := rows.Scan(&g.No, &g.Stage, &g.Lane, &g.Mode, &g.State, &g.Requests, &created, &launched, &ended, &settled, &g.Cost.Sum, &g.Cost.Priced, &g.Cost.Unknown)
	g.Created, g.Launched, g.Ended, g.Settled = fromMillis(created), fromMillis(launched), fromMillis(ended), fromMillis(settled)
	return g, err
}

// Cause is requests of a lane that ended without an answer for the same reason.
type Cause struct {
	Stage, Lane string
	Ending      assay.Ending
	Class       assay.FaultClass // empty: the provider gave no reason
	Status      int
	Code        string
	Message     string // one of their messages
	Count       int64
	Item        string // one of their items
}

// Causes reads why requests of a run have no answer, the most frequent first.
func (s *Reader) Causes(ctx context.Context, run int64, limit int) ([]Cause, error) {
	return collect(walk(ctx, s, "read causes", scanCause, `SELECT g.stage, g.lane, o.ending, COALESCE(o.fault_class, ''), COALESCE(o.fault_status, 0),
		COALESCE(o.fault_code, ''), COALESCE(MIN(o.fault_message), MIN(o.finish), ''), COUNT(*), MIN(a.item)
		FROM outcomes o JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord JOIN segments g ON g.no = o.segment_no
		WHERE o.run_no = $1 AND o.stands = 0 AND o.surplus = 0 AND o.superseded = 0
		AND NOT EXISTS (SELECT 1 FROM outcomes t WHERE t.run_no = o.run_no AND t.key = o.key AND t.stands = 1)
		AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = o.run_no AND b.key = o.key AND b.superseded = 0 AND b.try > a.try)
		AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.segment_no = o.segment_no AND u.ord = o.ord AND u.late > o.late)
		GROUP BY g.stage, g.lane, o.ending, o.fault_class, o.fault_status, o.fault_code ORDER BY 8 DESC, 1, 2, 3, 6 LIMIT CAST($2 AS BIGINT)`, run, limit))
}

func scanCause(rows *sql.Rows) (Cause, error) {
	var c Cause
	err := rows.Scan(&c.Stage, &c.Lane, &c.Ending, &c.Class, &c.Status, &c.Code, &c.Message, &c.Count, &c.Item)
	return c, err
}

// collect reads a short walk to its end.
func collect[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
