package read

import (
	"context"
	"database/sql"
	"iter"
	"maps"
	"slices"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

var (
	// attemptAt are the coordinates that each attempt has for itself.
	attemptAt = assay.AllCoordinates().But(store.OfSegment()...)
	// atColumns are all coordinates of an attempt a in its segment g; scanAt takes them in.
	atColumns = `g.stage, g.turn, ` + attemptAt.Columns("a") + `, g.second_try, CASE WHEN a.judge <> '' AND g.lane <> a.judge THEN g.lane
		ELSE '' END`
)

func scanAt(c *assay.Coordinates, before ...any) []any {
	into := append(slices.Grow(before, len(attemptAt)+4), &c.Stage, &c.Turn)
	return append(attemptAt.Into(into, c), &c.Again, &c.By)
}

// Attempts walks over the attempts of a segment in their order.
func (s *Reader) Attempts(ctx context.Context, segment int64) iter.Seq2[store.Attempt, error] {
	return s.attempts(ctx, `WHERE a.segment_no = $1 ORDER BY a.ord`, segment)
}

// OpenAttempts walks over those of a segment's attempts, from an ordinal on, that have no outcome yet.
func (s *Reader) OpenAttempts(ctx context.Context, segment, from int64) iter.Seq2[store.Attempt, error] {
	return s.attempts(ctx, `WHERE a.segment_no = $1 AND a.ord >= $2 AND NOT EXISTS
		(SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord) ORDER BY a.ord`, segment, from)
}

// UnpricedAttempts walks over those of a segment's attempts whose cost is not known: of a job's, also those whose results the provider
// never handed out, unless its numbers show that they were not done.
func (s *Reader) UnpricedAttempts(ctx context.Context, segment int64) iter.Seq2[store.Attempt, error] {
	return s.attempts(ctx, `WHERE a.segment_no = $1 AND EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord
		AND o.late = 0 AND (o.cost_nano IS NULL OR o.ending = 'lost' AND g.mode = 'batch' AND NOT EXISTS
		(SELECT 1 FROM resends s WHERE s.segment_no = o.segment_no AND s.ord = o.ord))) ORDER BY a.ord`, segment)
}

func (s *Reader) attempts(ctx context.Context, where string, args ...any) iter.Seq2[store.Attempt, error] {
	return db.Walk(ctx, s.db, "read attempts", scanAttempt, `SELECT a.ord, a.key, a.try, a.digest, `+atColumns+`
		FROM attempts a JOIN segments g ON g.no = a.segment_no `+where, args...)
}

func scanAttempt(rows *sql.Rows) (store.Attempt, error) {
	var a store.Attempt
	var key []byte
	err := rows.Scan(scanAt(&a.At, &a.Ord, &key, &a.Try, &a.Digest)...)
	copy(a.Key[:], key)
	return a, err
}

// Asked returns which of these requests of a run have an attempt, and how many.
func (s *Reader) Asked(ctx context.Context, run int64, refs []assay.Ref) (map[assay.Key]int64, error) {
	all := make(map[assay.Key]int64, len(refs))
	for part := range slices.Chunk(refs, db.KeyBlock) {
		these, args := s.db.Asked("a", run, part)
		some, err := s.db.Keys(ctx, `SELECT a.key, MAX(a.try) FROM attempts a WHERE `+these+` GROUP BY a.key`, args...)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	return all, nil
}

// Resends walks over what a run has to send again, group by group and mode by mode. It reads those of one segment at a time:
// no query stays open while something is done with them.
func (s *Reader) Resends(ctx context.Context, run int64) iter.Seq2[store.Resend, error] {
	return func(yield func(store.Resend, error) bool) {
		from, err := s.resendSources(ctx, run)
		if err != nil {
			yield(store.Resend{}, err)
			return
		}
		for _, src := range from {
			block, err := db.Collect(db.Walk(ctx, s.db, "read resends", scanResend, `SELECT r.key, r.try, r.segment_no, r.mode,
				r.not_before_ms, r.cause, g.lane,
				g.recuts, r.ord * 2 >= g.requests, a.digest, `+atColumns+`
				FROM resends r JOIN attempts a ON a.segment_no = r.segment_no AND a.ord = r.ord JOIN segments g ON g.no = r.segment_no
				WHERE r.segment_no = $1 AND r.mode = $2 ORDER BY r.ord`, src.segment, string(src.mode)))
			if err != nil {
				yield(store.Resend{}, err)
				return
			}
			for _, r := range block {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// resendSource is a segment of which requests are to be sent again in one way.
type resendSource struct {
	segment int64
	mode    store.SegmentMode
}

// resendSources lists them, group by group and mode by mode.
func (s *Reader) resendSources(ctx context.Context, run int64) ([]resendSource, error) {
	scan := func(rows *sql.Rows) (r resendSource, err error) { return r, rows.Scan(&r.segment, &r.mode) }
	return db.Collect(db.Walk(ctx, s.db, "read resends", scan, `SELECT g.no, r.mode FROM segments g JOIN resends r ON r.segment_no = g.no
		WHERE r.run_no = $1
		GROUP BY g.stage, g.lane, g.turn, g.second_try, r.mode, g.no ORDER BY g.stage, g.lane, g.turn, g.second_try, r.mode, g.no`, run))
}

func scanResend(rows *sql.Rows) (store.Resend, error) {
	var r store.Resend
	var key []byte
	var after int64
	err := rows.Scan(scanAt(&r.At, &key, &r.Try, &r.Segment, &r.Mode, &after, &r.Cause, &r.Lane, &r.Recuts, &r.Second, &r.Digest)...)
	copy(r.Key[:], key)
	r.After = time.UnixMilli(after).UTC()
	return r, err
}

// Sent returns which of these requests of a run were sent and count, each with 1 where it is in flight.
func (s *Reader) Sent(ctx context.Context, run int64, refs []assay.Ref) (map[assay.Key]int64, error) {
	all := make(map[assay.Key]int64, len(refs))
	for part := range slices.Chunk(refs, db.KeyBlock) {
		these, args := s.db.Asked("a", run, part)
		some, err := s.db.Keys(ctx, `SELECT a.key, MAX(CASE WHEN EXISTS (SELECT 1 FROM outcomes o
			WHERE o.segment_no = a.segment_no AND o.ord = a.ord) THEN 0 ELSE 1 END)
			FROM attempts a JOIN segments g ON g.no = a.segment_no
			WHERE g.state <> 'planned' AND `+these+` GROUP BY a.key`, args...)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	return all, nil
}

// SentByGroup counts the requests of a run that were sent and count.
func (s *Reader) SentByGroup(ctx context.Context, run int64) (map[store.GroupKey]int64, error) {
	type counted struct {
		store.GroupKey
		n int64
	}
	scan := func(rows *sql.Rows) (c counted, err error) {
		return c, rows.Scan(&c.Stage, &c.Lane, &c.Turn, &c.Again, &c.n)
	}
	out := map[store.GroupKey]int64{}
	for c, err := range db.Walk(ctx, s.db, "count requests", scan, `SELECT g.stage, g.lane, g.turn, g.second_try, COUNT(DISTINCT a.key)
		FROM segments g
		JOIN attempts a ON a.segment_no = g.no WHERE g.run_no = $1 AND g.state <> 'planned' AND g.imported = ''
		GROUP BY g.stage, g.lane, g.turn, g.second_try`, run) {
		if err != nil {
			return nil, err
		}
		out[c.GroupKey] = c.n
	}
	return out, nil
}
