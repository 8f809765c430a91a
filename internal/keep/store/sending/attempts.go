package sending

import (
	"context"
	"fmt"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

var (
	attemptAt      = assay.AllCoordinates().But(store.OfSegment()...)
	attemptColumns = append([]string{"segment_no", "ord", "run_no", "key", "try", "digest"}, attemptAt.Names()...)
)

// attemptRow returns an attempt as a row of attemptColumns.
func attemptRow(segment, run int64, a *store.Attempt) []any {
	row := append(make([]any, 0, len(attemptColumns)), segment, a.Ord, run, a.Key[:], a.Try, db.NullBytes(a.Digest))
	return attemptAt.Values(row, &a.At)
}

// AddAttempts appends attempts to a planned segment, ordinals following each other. A request that is already on its
// way is ErrDuplicate, and none of the block is written.
func (s *Store) AddAttempts(ctx context.Context, l store.Lease, attempts []store.Attempt) error {
	if len(attempts) == 0 {
		return nil
	}
	most := int64(1)
	for _, a := range attempts {
		most = max(most, a.Try)
	}
	return s.db.Tx(ctx, "add attempts", db.Relaxed, func(t *db.Txn) error {
		var run, requests int64
		err := t.QueryRowContext(ctx, `UPDATE segments SET requests = requests + $3, max_try = CASE WHEN max_try < $4 THEN $4
			ELSE max_try END
			WHERE no = $1 AND epoch = $2 AND state = 'planned' RETURNING run_no, requests`,
			l.No, l.Epoch, len(attempts), most).Scan(&run, &requests)
		if err != nil {
			return whyNot(ctx, t, l, err)
		}
		first := requests - int64(len(attempts))
		rows := make([][]any, len(attempts))
		for i, a := range attempts {
			if a.Ord != first+int64(i) {
				return fmt.Errorf("attempt %d of segment %d stands at place %d", a.Ord, l.No, first+int64(i))
			}
			rows[i] = attemptRow(l.No, run, &a)
		}
		err = t.Bulk(ctx, "attempts", attemptColumns, rows)
		if s.db.Unique(err) {
			return fmt.Errorf("segment %d: a request is already in flight: %w", l.No, store.ErrDuplicate)
		}
		return err
	})
}

// AttemptPlaces reads the keys of a segment with their places: what settling needs to place each result. It is as large as one
// segment, whose size the caller passes. Mostly nothing of it is settled: then no attempt is asked for its outcome.
func (s *Store) AttemptPlaces(ctx context.Context, segment, size int64) (map[assay.Key]store.AttemptPlace, error) {
	rows, err := s.db.Query(ctx, `SELECT a.key, a.ord, CASE WHEN EXISTS (SELECT 1 FROM outcomes WHERE segment_no = $1)
		THEN EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord) ELSE FALSE END
		FROM attempts a WHERE a.segment_no = $1`, segment)
	if err != nil {
		return nil, fmt.Errorf("read places: %w", err)
	}
	defer rows.Close()
	all := make(map[assay.Key]store.AttemptPlace, size)
	var key []byte
	for rows.Next() {
		var place store.AttemptPlace
		if err := rows.Scan(&key, &place.Ord, &place.Done); err != nil {
			return nil, fmt.Errorf("read places: %w", err)
		}
		all[assay.Key(key)] = place
	}
	return all, rows.Err()
}

// LateKeys reads the keys of a segment's attempts that were given up and whose requests have no answer: a result for them
// would be late, and welcome. It begins with what was given up, whatever PostgreSQL believes of a segment that its statistics do not
// know: a join may look through all that failed for each attempt.
func (s *Store) LateKeys(ctx context.Context, segment int64) (map[assay.Key]int64, error) {
	return s.db.Keys(ctx, `SELECT o.key, o.ord FROM outcomes o
		WHERE o.segment_no = $1 AND o.late = 0 AND o.ending <> 'answered' AND o.ending IN ('lost', 'expired', 'cancelled')
		AND 0 = (SELECT COUNT(*) FROM outcomes u WHERE u.segment_no = o.segment_no AND u.ord = o.ord AND u.late = 1)
		AND 0 = (SELECT COUNT(*) FROM attempts a WHERE a.segment_no = o.segment_no AND a.ord = o.ord AND `+db.Answered("a")+`)`, segment)
}

// AskedOf is Asked for all requests of a group, if it has at most so many attempts; false: it has more.
func (s *Store) AskedOf(ctx context.Context, g store.Group, most int64) (map[assay.Key]int64, bool, error) {
	const group = `WHERE g.run_no = $1 AND g.stage = $2 AND g.lane = $3 AND g.turn = $4 AND g.second_try = $5`
	args := []any{g.Run, g.Stage, g.Lane, g.Turn, g.Again}
	var n int64
	err := s.db.QueryRow(ctx, `SELECT CAST(COALESCE(SUM(g.requests), 0) AS BIGINT) FROM segments g `+group, args...).Scan(&n)
	if err != nil {
		return nil, false, fmt.Errorf("count attempts: %w", err)
	}
	if n == 0 || n > most {
		return nil, n == 0, nil
	}
	all, err := s.db.Keys(ctx, `SELECT a.key, MAX(a.try) FROM segments g
		JOIN attempts a ON a.segment_no = g.no `+group+` GROUP BY a.key`, args...)
	return all, err == nil, err
}

// Queues sums up what a run has to send again.
func (s *Store) Queues(ctx context.Context, run int64) ([]store.Queue, error) {
	rows, err := s.db.Query(ctx, `SELECT g.stage, g.lane, g.turn, g.second_try, r.mode, COUNT(*), MIN(r.not_before_ms), MAX(r.not_before_ms)
		FROM resends r JOIN segments g ON g.no = r.segment_no WHERE r.run_no = $1 GROUP BY g.stage, g.lane, g.turn, g.second_try, r.mode
		ORDER BY g.stage, g.lane, g.turn, g.second_try, r.mode`, run)
	if err != nil {
		return nil, fmt.Errorf("read queues: %w", err)
	}
	defer rows.Close()
	var all []store.Queue
	for rows.Next() {
		var q store.Queue
		var first, last int64
		if err := rows.Scan(&q.Stage, &q.Lane, &q.Turn, &q.Again, &q.Mode, &q.Requests, &first, &last); err != nil {
			return nil, fmt.Errorf("read queues: %w", err)
		}
		q.First, q.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
		all = append(all, q)
	}
	return all, rows.Err()
}

// AddArtifact enters a file of results and returns its number. The same name again is the same artifact.
func (s *Store) AddArtifact(ctx context.Context, l store.Lease, a store.Artifact) (int64, error) {
	d := db.Relaxed
	if a.Kind == store.ArtifactLive { // what is sent under it is known from it alone
		d = db.Durable
	}
	err := s.db.Tx(ctx, "add artifact", d, func(t *db.Txn) error {
		var run int64
		err := t.QueryRowContext(ctx, `SELECT run_no FROM segments WHERE no = $1 AND epoch = $2`, l.No, l.Epoch).Scan(&run)
		if err != nil {
			return whyNot(ctx, t, l, err)
		}
		return t.QueryRowContext(ctx, `INSERT INTO artifacts (run_no, segment_no, name, kind, part, bytes, sha256, created_ms)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (segment_no, name) DO UPDATE SET bytes = excluded.bytes, sha256 = excluded.sha256 RETURNING no`,
			run, l.No, a.Name, a.Kind, a.Part, a.Size, a.SHA256, s.db.Millis()).Scan(&a.No)
	})
	return a.No, err
}
