package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"assay/internal/assay"
)

// ErrInFlight says that a request is in flight: what is asked in its place is decided when it has come back.
var ErrInFlight = errors.New("it is in flight")

// Superseding is what an edit of the study changes of what a run has asked and read.
type Superseding struct {
	Requests []assay.Key // asked again, as other requests under the same keys
	Verdicts []assay.Key // given again; those on answers to the requests are so anyway
	Subjects []assay.Key // besides answers: all verdicts on these are given again
	Stages   []string    // all verdicts of these are given again, but for those of people
}

// Sent returns which of these requests of a run were sent and count, each with 1 where it is in flight.
func (s *Reader) Sent(ctx context.Context, run int64, keys []assay.Key) (map[assay.Key]int64, error) {
	all := make(map[assay.Key]int64, len(keys))
	for part := range slices.Chunk(keys, keyBlock) {
		list, args := keyList(part, run)
		some, err := s.keys(ctx, `SELECT a.key, MAX(CASE WHEN EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = a.segment_no AND o.ord = a.ord) THEN 0 ELSE 1 END)
			FROM attempts a JOIN segments g ON g.no = a.segment_no
			WHERE a.run_no = $1 AND a.superseded = 0 AND g.state <> 'planned' AND a.key IN (`+list+`) GROUP BY a.key`, args...)
		if err != nil {
			return nil, err
		}
		for k, open := range some {
			all[k] = open
		}
	}
	return all, nil
}

// keyBlock is how many keys a query takes at a time.
const keyBlock = 500

// SentByGroup counts the requests of a run that were sent and count.
func (s *Reader) SentByGroup(ctx context.Context, run int64) (map[GroupKey]int64, error) {
	type counted struct {
		GroupKey
		n int64
	}
	scan := func(rows *sql.Rows) (c counted, err error) {
		return c, rows.Scan(&c.Stage, &c.Lane, &c.Turn, &c.Again, &c.n)
	}
	out := map[GroupKey]int64{}
	for c, err := range walk(ctx, s, "count requests", scan, `SELECT g.stage, g.lane, g.turn, g.second_try, COUNT(DISTINCT a.key) FROM segments g
		JOIN attempts a ON a.segment_no = g.no AND a.superseded = 0 WHERE g.run_no = $1 AND g.state <> 'planned' AND g.imported = ''
		GROUP BY g.stage, g.lane, g.turn, g.second_try`, run) {
		if err != nil {
			return nil, err
		}
		out[c.GroupKey] = c.n
	}
	return out, nil
}

// supersede marks what an edit supersedes: answers stand no more, verdicts do not count, and lanes count their requests as not asked.
func (t *txn) supersede(ctx context.Context, run int64, by Superseding, what string) error {
	var edit int64
	err := t.QueryRowContext(ctx, `INSERT INTO edits (run_no, number, what, at_ms)
		SELECT $1, COALESCE(MAX(number), 0) + 1, $2, $3 FROM edits WHERE run_no = $1 RETURNING number`, run, clean(what), t.s.millis()).Scan(&edit)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(by.Requests, keyBlock) {
		if err := t.supersedeRequests(ctx, run, edit, part); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(slices.Concat(by.Requests, by.Subjects), keyBlock) {
		for _, column := range []string{"subject_key", "against_key"} {
			if err := t.supersedeVerdicts(ctx, run, edit, column, part); err != nil {
				return err
			}
		}
	}
	for part := range slices.Chunk(by.Verdicts, keyBlock) {
		if err := t.supersedeVerdicts(ctx, run, edit, "key", part); err != nil {
			return err
		}
	}
	for _, stage := range by.Stages {
		_, err := t.ExecContext(ctx, `UPDATE verdicts SET stale = 1, superseded = $3 WHERE run_no = $1 AND stage = $2 AND stale = 0 AND judge NOT LIKE 'human:%'`, run, stage, edit)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) supersedeVerdicts(ctx context.Context, run, edit int64, column string, keys []assay.Key) error {
	list, args := keyList(keys, run, edit)
	_, err := t.ExecContext(ctx, `UPDATE verdicts SET stale = 1, superseded = $2 WHERE run_no = $1 AND stale = 0 AND `+column+` IN (`+list+`)`, args...)
	return err
}

// supersedeRequests marks all attempts of some requests.
func (t *txn) supersedeRequests(ctx context.Context, run, edit int64, keys []assay.Key) error {
	lanes, err := t.standingIn(ctx, run, keys)
	if err != nil {
		return err
	}
	for i := range lanes {
		if err := t.addToLane(ctx, lanes[i]); err != nil {
			return err
		}
	}
	list, args := keyList(keys, run, edit)
	for _, text := range []string{
		`UPDATE outcomes SET stands = 0, superseded = $2 WHERE (segment_no, ord) IN (SELECT segment_no, ord FROM attempts WHERE run_no = $1 AND superseded = 0 AND key IN (` + list + `))`,
		`UPDATE attempts SET superseded = $2 WHERE run_no = $1 AND superseded = 0 AND key IN (` + list + `)`,
	} {
		if _, err := t.ExecContext(ctx, text, args...); err != nil {
			return err
		}
	}
	list, args = keyList(keys, run)
	_, err = t.ExecContext(ctx, `DELETE FROM resends WHERE run_no = $1 AND key IN (`+list+`)`, args...)
	return err
}

// standingIn is what some requests take from the counters of their lanes when nothing stands for them any more. One in flight is
// ErrInFlight.
func (t *txn) standingIn(ctx context.Context, run int64, keys []assay.Key) ([]laneDelta, error) {
	list, args := keyList(keys, run)
	rows, err := t.QueryContext(ctx, `SELECT g.stage, g.lane, o.ending, COALESCE(o.cached_tokens, 0) > 0 AND o.reused_no IS NULL, o.reused_no IS NOT NULL,
		EXISTS (SELECT 1 FROM attempts b JOIN segments h ON h.no = b.segment_no WHERE b.run_no = a.run_no AND b.key = a.key AND b.superseded = 0 AND h.state <> 'planned'
			AND NOT EXISTS (SELECT 1 FROM outcomes w WHERE w.segment_no = b.segment_no AND w.ord = b.ord))`+
		answerTables+`WHERE a.run_no = $1 AND a.key IN (`+list+`) AND g.state <> 'planned' AND`+standing, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []laneDelta
	for rows.Next() {
		var stage, lane string
		var ending sql.NullString
		var hit, reused, open bool
		if err := rows.Scan(&stage, &lane, &ending, &hit, &reused, &open); err != nil {
			return nil, err
		}
		if open || !ending.Valid {
			return nil, fmt.Errorf("a request of lane %s in stage %s: %w", lane, stage, ErrInFlight)
		}
		i := slices.IndexFunc(out, func(d laneDelta) bool { return d.stage == stage && d.lane == lane })
		if i < 0 {
			i = len(out)
			out = append(out, laneDelta{run: run, stage: stage, lane: lane})
		}
		out[i].add(assay.Ending(ending.String), -1)
		out[i].hits[slices.Index(assay.Endings(), assay.Ending(ending.String))] -= flag(hit)
		out[i].reused -= flag(reused)
	}
	return out, rows.Err()
}

// SupersededAnswer is an answer that stood until an edit of the study.
type SupersededAnswer struct {
	Answer
	Edit  int64     // its number
	What  string    // changed, in words
	Since time.Time // when
}

// Superseded walks over the answers of a run that edits of its study superseded, the first edit first, each sending on its own: with a
// key, those of one request.
func (s *Reader) Superseded(ctx context.Context, run int64, key *assay.Key) iter.Seq2[SupersededAnswer, error] {
	scan := func(rows *sql.Rows) (a SupersededAnswer, err error) {
		var at int64
		err = a.scan(rows, append([]any{&a.Edit, &a.What, &at}, a.ofSegment()...))
		a.Since = time.UnixMilli(at).UTC()
		return a, err
	}
	of, args := ``, []any{run}
	if key != nil {
		of, args = ` AND a.key = $2`, append(args, key[:])
	}
	return walk(ctx, s, "read superseded answers", scan, `SELECT e.number, e.what, e.at_ms, `+answerColumns+answerTables+`
		JOIN edits e ON e.run_no = a.run_no AND e.number = a.superseded WHERE a.run_no = $1 AND a.superseded > 0`+of+`
		ORDER BY a.superseded, a.segment_no, a.ord, o.late`, args...)
}

// Edit is an edit of the study after which requests of a run were asked again.
type Edit struct {
	Number   int64
	What     string // changed, in words
	At       time.Time
	Requests int64 // that it superseded
	Verdicts int64
}

// Edited reports whether an edit of the study superseded something of a run.
func (s *Reader) Edited(ctx context.Context, run int64) (yes bool, err error) {
	if err := s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM edits WHERE run_no = $1)`, run).Scan(&yes); err != nil {
		return false, fmt.Errorf("read edits: %w", err)
	}
	return yes, nil
}

// Edits reads the edits of a run that superseded something, the first one first.
func (s *Reader) Edits(ctx context.Context, run int64) ([]Edit, error) {
	scan := func(rows *sql.Rows) (e Edit, err error) {
		var at int64
		err = rows.Scan(&e.Number, &e.What, &at, &e.Requests, &e.Verdicts)
		e.At = time.UnixMilli(at).UTC()
		return e, err
	}
	return collect(walk(ctx, s, "read edits", scan, `SELECT number, what, at_ms,
		(SELECT COUNT(DISTINCT key) FROM attempts a WHERE a.run_no = e.run_no AND a.superseded = e.number),
		(SELECT COUNT(*) FROM verdicts v WHERE v.run_no = e.run_no AND v.superseded = e.number)
		FROM edits e WHERE run_no = $1 ORDER BY number`, run))
}

// SupersededVerdicts reads the verdicts on an answer, or of a judge's request, that edits of the study superseded.
func (s *Reader) SupersededVerdicts(ctx context.Context, run int64, key assay.Key) ([]Verdict, error) {
	var all []Verdict
	edits, err := s.Edits(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, e := range edits {
		for v, err := range walk(ctx, s, "read verdicts", scanVerdict, verdictColumns+`WHERE run_no = $1 AND superseded = $2
			AND (key = $3 OR subject_key = $3 OR against_key = $3) ORDER BY no`, run, e.Number, key[:]) {
			if err != nil {
				return nil, err
			}
			v.Superseded = e.Number
			all = append(all, v)
		}
	}
	return all, nil
}
