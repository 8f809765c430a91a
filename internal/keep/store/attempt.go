package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strconv"
	"time"

	"assay/internal/assay"
)

// Attempt is one sending of one request in one segment.
type Attempt struct {
	Ord    int64 // its place in the segment, from 0
	Key    assay.Key
	Try    int64 // 1 for the first sending of a request
	Digest []byte
	At     assay.Coordinates
}

var attemptColumns = []string{"segment_no", "ord", "run_no", "key", "try", "digest", "source", "item", "lane", "against", "template", "branch", "draw",
	"judge", "prompt", "trait", "vote"}

// attemptRow is an attempt as a row of attemptColumns.
func attemptRow(segment, run int64, a *Attempt) []any {
	c := &a.At
	return []any{segment, a.Ord, run, a.Key[:], a.Try, nullBytes(a.Digest), c.Source, c.Item, c.Lane, c.Against, c.Template, c.Branch, int64(c.Draw),
		c.Judge, c.Prompt, c.Trait, int64(c.Vote)}
}

// atColumns are the coordinates of an attempt a in its segment g; scanAt takes them in.
const atColumns = `g.stage, a.source, a.item, a.lane, a.against, a.template, g.turn, a.branch, a.draw, a.judge, a.prompt, a.trait, a.vote, g.second_try,
	CASE WHEN a.judge <> '' AND g.lane <> a.judge THEN g.lane ELSE '' END`

func scanAt(c *assay.Coordinates, before ...any) []any {
	return append(before, &c.Stage, &c.Source, &c.Item, &c.Lane, &c.Against, &c.Template, &c.Turn, &c.Branch, &c.Draw, &c.Judge, &c.Prompt, &c.Trait, &c.Vote, &c.Again, &c.By)
}

// AddAttempts appends attempts to a planned segment, ordinals following each other. A request that is already on its
// way is ErrDuplicate, and none of the block is written.
func (s *Ledger) AddAttempts(ctx context.Context, l Lease, attempts []Attempt) error {
	if len(attempts) == 0 {
		return nil
	}
	most := int64(1)
	for _, a := range attempts {
		most = max(most, a.Try)
	}
	return s.tx(ctx, "add attempts", relaxed, func(t *txn) error {
		var run, requests int64
		err := t.QueryRowContext(ctx, `UPDATE segments SET requests = requests + $3, max_try = CASE WHEN max_try < $4 THEN $4 ELSE max_try END
			WHERE no = $1 AND epoch = $2 AND state = 'planned' RETURNING run_no, requests`, l.No, l.Epoch, len(attempts), most).Scan(&run, &requests)
		if err != nil {
			return t.whyNot(ctx, l, err)
		}
		first := requests - int64(len(attempts))
		rows := make([][]any, len(attempts))
		for i, a := range attempts {
			if a.Ord != first+int64(i) {
				return fmt.Errorf("attempt %d of segment %d stands at place %d", a.Ord, l.No, first+int64(i))
			}
			rows[i] = attemptRow(l.No, run, &a)
		}
		err = s.engine.bulk(ctx, t, "attempts", attemptColumns, rows)
		if s.engine.unique(err) {
			return fmt.Errorf("segment %d: a request is already in flight: %w", l.No, ErrDuplicate)
		}
		return err
	})
}

func nullBytes(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

// Attempts walks over the attempts of a segment in their order.
func (s *Reader) Attempts(ctx context.Context, segment int64) iter.Seq2[Attempt, error] {
	return s.attempts(ctx, `WHERE a.segment_no = $1 ORDER BY a.ord`, segment)
}

// OpenAttempts walks over those of a segment's attempts, from an ordinal on, that have no outcome yet.
func (s *Reader) OpenAttempts(ctx context.Context, segment, from int64) iter.Seq2[Attempt, error] {
	return s.attempts(ctx, `WHERE a.segment_no = $1 AND a.ord >= $2 AND NOT EXISTS
		(SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord) ORDER BY a.ord`, segment, from)
}

func (s *Reader) attempts(ctx context.Context, where string, args ...any) iter.Seq2[Attempt, error] {
	return walk(ctx, s, "read attempts", scanAttempt, `SELECT a.ord, a.key, a.try, a.digest, `+atColumns+`
		FROM attempts a JOIN segments g ON g.no = a.segment_no `+where, args...)
}

func scanAttempt(rows *sql.Rows) (Attempt, error) {
	var a Attempt
	var key []byte
	err := rows.Scan(scanAt(&a.At, &a.Ord, &key, &a.Try, &a.Digest)...)
	copy(a.Key[:], key)
	return a, err
}

// AttemptPlace is the place of a key in a segment.
type AttemptPlace struct {
	Ord  int64
	Done bool // it has an outcome
	Seen bool // it got it on this walk; for the caller
}

// AttemptPlaces reads the keys of a segment with their places: what settling needs to seat each result. It is as large as one
// segment, whose size the caller passes.
func (s *Reader) AttemptPlaces(ctx context.Context, segment, size int64) (map[assay.Key]AttemptPlace, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT a.key, a.ord, EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord)
		FROM attempts a WHERE a.segment_no = $1`, segment)
	if err != nil {
		return nil, fmt.Errorf("read seats: %w", err)
	}
	defer rows.Close()
	all := make(map[assay.Key]AttemptPlace, size)
	var key []byte
	for rows.Next() {
		var seat AttemptPlace
		if err := rows.Scan(&key, &seat.Ord, &seat.Done); err != nil {
			return nil, fmt.Errorf("read seats: %w", err)
		}
		all[assay.Key(key)] = seat
	}
	return all, rows.Err()
}

// LateKeys reads the keys of a segment's attempts that were given up and whose requests have no answer: a result for them
// would be late, and welcome.
func (s *Reader) LateKeys(ctx context.Context, segment int64) (map[assay.Key]int64, error) {
	return s.keys(ctx, `SELECT key, ord FROM outcomes o WHERE segment_no = $1 AND late = 0 AND superseded = 0 AND ending IN ('lost', 'expired', 'cancelled')
		AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.segment_no = o.segment_no AND u.ord = o.ord AND u.late = 1)
		AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.run_no = o.run_no AND v.key = o.key AND v.stands = 1)`, segment)
}

func (s *Reader) keys(ctx context.Context, text string, args ...any) (map[assay.Key]int64, error) {
	rows, err := s.read.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer rows.Close()
	all := map[assay.Key]int64{}
	var key []byte
	var n int64
	for rows.Next() {
		if err := rows.Scan(&key, &n); err != nil {
			return nil, fmt.Errorf("read keys: %w", err)
		}
		all[assay.Key(key)] = n
	}
	return all, rows.Err()
}

// Asked returns which of these requests of a run have an attempt, and how many.
func (s *Reader) Asked(ctx context.Context, run int64, keys []assay.Key) (map[assay.Key]int64, error) {
	all := make(map[assay.Key]int64, len(keys))
	for len(keys) > 0 {
		n := min(500, len(keys))
		list, args := keyList(keys[:n], run)
		part, err := s.keys(ctx, `SELECT key, MAX(try) FROM attempts WHERE run_no = $1 AND superseded = 0 AND key IN (`+list+`) GROUP BY key`, args...)
		if err != nil {
			return nil, err
		}
		for k, v := range part {
			all[k] = v
		}
		keys = keys[n:]
	}
	return all, nil
}

// AskedOf is Asked for all requests of a group, where it has at most so many attempts; false: it has more.
func (s *Reader) AskedOf(ctx context.Context, g Group, most int64) (map[assay.Key]int64, bool, error) {
	const group = `WHERE g.run_no = $1 AND g.stage = $2 AND g.lane = $3 AND g.turn = $4 AND g.second_try = $5`
	args := []any{g.Run, g.Stage, g.Lane, g.Turn, g.Again}
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(g.requests), 0) AS BIGINT) FROM segments g `+group, args...).Scan(&n)
	if err != nil {
		return nil, false, fmt.Errorf("count attempts: %w", err)
	}
	if n == 0 || n > most {
		return nil, n == 0, nil
	}
	all, err := s.keys(ctx, `SELECT a.key, MAX(a.try) FROM segments g JOIN attempts a ON a.segment_no = g.no AND a.superseded = 0 `+group+` GROUP BY a.key`, args...)
	return all, err == nil, err
}

// keyList is placeholders for keys after the given first arguments.
func keyList(keys []assay.Key, first ...any) (string, []any) {
	args := first
	for i := range keys {
		args = append(args, keys[i][:])
	}
	return placeholders(len(first)+1, len(args)), args
}

// placeholders are those from one number to another, for a list.
func placeholders(from, to int) string {
	b := make([]byte, 0, 5*(to-from+1))
	for i := from; i <= to; i++ {
		if i > from {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, '$'), int64(i), 10)
	}
	return string(b)
}

// Resend is a request that is to be sent again.
type Resend struct {
	Attempt             // the one to come: its Try is the next; Ord is 0
	Lane    string      // the lane it travels in
	Segment int64       // of the attempt before
	Mode    SegmentMode // how it is to travel
	After   time.Time
	Cause   string
	Recuts  int
	Second  bool // it stood in the second half of that attempt's segment
}

// Group is the group that it belongs to.
func (r Resend) Group() GroupKey {
	return GroupKey{Stage: r.At.Stage, Lane: r.Lane, Turn: r.At.Turn, Again: r.At.Again}
}

// Resends walks over what a run has to send again, group by group and mode by mode. It reads those of one segment at a time:
// no query stays open while something is done with them.
func (s *Reader) Resends(ctx context.Context, run int64) iter.Seq2[Resend, error] {
	return func(yield func(Resend, error) bool) {
		from, err := s.resendSources(ctx, run)
		if err != nil {
			yield(Resend{}, err)
			return
		}
		for _, src := range from {
			block, err := collect(walk(ctx, s, "read resends", scanResend, `SELECT r.key, r.try, r.segment_no, r.mode, r.not_before_ms, r.cause, g.lane,
				g.recuts, r.ord * 2 >= g.requests, a.digest, `+atColumns+`
				FROM resends r JOIN attempts a ON a.segment_no = r.segment_no AND a.ord = r.ord JOIN segments g ON g.no = r.segment_no
				WHERE r.segment_no = $1 AND r.mode = $2 ORDER BY r.ord`, src.segment, string(src.mode)))
			if err != nil {
				yield(Resend{}, err)
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
	mode    SegmentMode
}

// resendSources lists them, group by group and mode by mode.
func (s *Reader) resendSources(ctx context.Context, run int64) ([]resendSource, error) {
	scan := func(rows *sql.Rows) (r resendSource, err error) { return r, rows.Scan(&r.segment, &r.mode) }
	return collect(walk(ctx, s, "read resends", scan, `SELECT g.no, r.mode FROM segments g JOIN resends r ON r.segment_no = g.no WHERE r.run_no = $1
		GROUP BY g.stage, g.lane, g.turn, g.second_try, r.mode, g.no ORDER BY g.stage, g.lane, g.turn, g.second_try, r.mode, g.no`, run))
}

func scanResend(rows *sql.Rows) (Resend, error) {
	var r Resend
	var key []byte
	var after int64
	err := rows.Scan(scanAt(&r.At, &key, &r.Try, &r.Segment, &r.Mode, &after, &r.Cause, &r.Lane, &r.Recuts, &r.Second, &r.Digest)...)
	copy(r.Key[:], key)
	r.After = time.UnixMilli(after).UTC()
	return r, err
}

// Queue is what a lane has to send again in one way.
type Queue struct {
	GroupKey
	Mode        SegmentMode
	Requests    int64
	First, Last time.Time // when the first of them may go, and the last
}

// Queues sums up what a run has to send again.
func (s *Reader) Queues(ctx context.Context, run int64) ([]Queue, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT g.stage, g.lane, g.turn, g.second_try, r.mode, COUNT(*), MIN(r.not_before_ms), MAX(r.not_before_ms)
		FROM resends r JOIN segments g ON g.no = r.segment_no WHERE r.run_no = $1 GROUP BY g.stage, g.lane, g.turn, g.second_try, r.mode
		ORDER BY g.stage, g.lane, g.turn, g.second_try, r.mode`, run)
	if err != nil {
		return nil, fmt.Errorf("read queues: %w", err)
	}
	defer rows.Close()
	var all []Queue
	for rows.Next() {
		var q Queue
		var first, last int64
		if err := rows.Scan(&q.Stage, &q.Lane, &q.Turn, &q.Again, &q.Mode, &q.Requests, &first, &last); err != nil {
			return nil, fmt.Errorf("read queues: %w", err)
		}
		q.First, q.Last = time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
		all = append(all, q)
	}
	return all, rows.Err()
}
