package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"assay/internal/assay"
)

// Answer is a request and what stands for it: its answer, else how its latest attempt ended.
type Answer struct {
	Attempt
	Lane     string // the lane it travelled in
	Segment  int64
	Mode     SegmentMode
	Ended    bool // false: in flight, and Outcome is zero
	Outcome  assay.Outcome
	Over     bool // the text is too long for a row: read it from the artifact
	Cost     *assay.Money
	Surplus  bool
	Reused   int64 // number of the run it came from; 0: asked by this one
	Artifact int64 // 0: no raw line
	Offset   int64
	Length   int64
	Sum      uint32 // checksum of the raw line; 0: not kept
	Settled  time.Time
}

const answerColumns = segmentColumns + `, ` + rowColumns

// segmentColumns are what the answers of one segment g share: with many rows, columns are what reading costs.
const segmentColumns = `g.no, g.lane, CASE WHEN g.imported = '' THEN g.mode ELSE 'import' END, g.stage, g.turn, g.second_try`

const rowColumns = `a.ord, a.key, a.try, a.digest, a.source, a.item, a.lane, a.against, a.template, a.branch, a.draw, a.judge, a.prompt, a.trait, a.vote, o.ending, COALESCE(o.text, ''), COALESCE(o.thoughts, ''), COALESCE(o.over, 0), COALESCE(o.finish, ''), COALESCE(o.model, ''),
	COALESCE(o.request_id, ''), COALESCE(o.tier, ''), o.input_tokens, COALESCE(o.cached_tokens, 0), COALESCE(o.write5m_tokens, 0),
	COALESCE(o.write1h_tokens, 0), COALESCE(o.output_tokens, 0), COALESCE(o.reasoning_tokens, 0), o.cost_nano, o.fault_class,
	COALESCE(o.fault_status, 0), COALESCE(o.fault_code, ''), COALESCE(o.fault_message, ''), COALESCE(o.surplus, 0), COALESCE(o.reused_no, 0),
	COALESCE(o.artifact_no, 0), COALESCE(o.line_offset, 0), COALESCE(o.line_length, 0), COALESCE(o.line_sum, 0), o.at_ms`

const answerTables = ` FROM attempts a JOIN segments g ON g.no = a.segment_no
	LEFT JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord `

// standing keeps, for every request, the outcome that stands, else the latest attempt.
const standing = ` a.superseded = 0 AND (o.stands = 1 OR (COALESCE(o.surplus, 0) = 0
	AND NOT EXISTS (SELECT 1 FROM outcomes u WHERE u.run_no = a.run_no AND u.key = a.key AND u.stands = 1)
	AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.run_no = a.run_no AND b.key = a.key AND b.superseded = 0 AND b.try > a.try)
	AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = o.segment_no AND v.ord = o.ord AND v.late > o.late))) `

// Answers walks over the requests of a run that have been sent, each once, with what stands for it, in the order they
// were sent. Stage and lane narrow it where they are not empty; lane is the one it travelled in.
//
// Segment by segment: the key of attempts gives their order, so that nothing is sorted and no text is held.
func (s *Reader) Answers(ctx context.Context, run int64, stage, lane string) iter.Seq2[Answer, error] {
	empty := func(rows *sql.Rows) (a Answer, err error) {
		err = rows.Scan(a.ofSegment()...)
		return a, err
	}
	return func(yield func(Answer, error) bool) {
		segments, err := collect(walk(ctx, s, "read answers", empty, `SELECT `+segmentColumns+` FROM segments g WHERE run_no = $1 AND state <> 'planned'
			AND ($2 = '' OR stage = $2) AND ($3 = '' OR lane = $3) ORDER BY no`, run, stage, lane))
		if err != nil {
			yield(Answer{}, err)
			return
		}
		for _, segment := range segments {
			row := func(rows *sql.Rows) (Answer, error) {
				a := segment
				err := a.scan(rows, nil)
				return a, err
			}
			for a, err := range walk(ctx, s, "read answers", row, `SELECT `+rowColumns+answerTables+`WHERE a.segment_no = $1 AND`+standing+`ORDER BY a.ord`, segment.Segment) {
				if !yield(a, err) || err != nil {
					return
				}
			}
		}
	}
}

// Length is how long an answer is, in characters.
type Length struct {
	Key   assay.Key
	Chars int64
}

// Lengths walks over the answers of a stage that stand, without reading them. Of one too long for a row, the length of its
// line is returned.
func (s *Reader) Lengths(ctx context.Context, run int64, stage string) iter.Seq2[Length, error] {
	scan := func(rows *sql.Rows) (l Length, err error) {
		var key []byte
		err = rows.Scan(&key, &l.Chars)
		copy(l.Key[:], key)
		return l, err
	}
	return walk(ctx, s, "read lengths", scan, `SELECT o.key, COALESCE(LENGTH(o.text), o.line_length, 0) FROM segments g
		JOIN outcomes o ON o.segment_no = g.no WHERE g.run_no = $1 AND g.stage = $2 AND o.stands = 1`, run, stage)
}

// SegmentAnswers walks over the attempts of one segment with their outcomes, whether they stand or not.
func (s *Reader) SegmentAnswers(ctx context.Context, segment int64) iter.Seq2[Answer, error] {
	return s.answers(ctx, `SELECT `+answerColumns+answerTables+`WHERE a.segment_no = $1 ORDER BY a.ord, o.late`, segment)
}

// CountingAnswers walks over the attempts of one segment with their outcomes, without what an edit of the study superseded.
func (s *Reader) CountingAnswers(ctx context.Context, segment int64) iter.Seq2[Answer, error] {
	return s.answers(ctx, `SELECT `+answerColumns+answerTables+`WHERE a.segment_no = $1 AND a.superseded = 0 ORDER BY a.ord, o.late`, segment)
}

// AnswersTo reads what stands for these requests of a run. Requests that were never sent are not in the map.
func (s *Reader) AnswersTo(ctx context.Context, run int64, keys []assay.Key) (map[assay.Key]Answer, error) {
	all := make(map[assay.Key]Answer, len(keys))
	for len(keys) > 0 {
		n := min(500, len(keys))
		list, args := keyList(keys[:n], run)
		for a, err := range s.answers(ctx, `SELECT `+answerColumns+answerTables+`WHERE a.run_no = $1 AND a.key IN (`+list+`)
			AND g.state <> 'planned' AND`+standing, args...) {
			if err != nil {
				return nil, err
			}
			all[a.Key] = a
		}
		keys = keys[n:]
	}
	return all, nil
}

func (s *Reader) answers(ctx context.Context, text string, args ...any) iter.Seq2[Answer, error] {
	return walk(ctx, s, "read answers", scanAnswer, text, args...)
}

// walk streams the rows of a query, each as its scan reads it.
func walk[T any](ctx context.Context, s *Reader, doing string, scan func(*sql.Rows) (T, error), text string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := s.stream.QueryContext(ctx, text, args...)
		if err != nil {
			yield(none, fmt.Errorf("%s: %w", doing, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				yield(none, fmt.Errorf("%s: %w", doing, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, fmt.Errorf("%s: %w", doing, err))
		}
	}
}

func scanAnswer(rows *sql.Rows) (a Answer, err error) {
	err = a.scan(rows, a.ofSegment())
	return a, err
}

// ofSegment takes segmentColumns in.
func (a *Answer) ofSegment() []any {
	return []any{&a.Segment, &a.Lane, &a.Mode, &a.At.Stage, &a.At.Turn, &a.At.Again}
}

// scan takes rowColumns in, after what goes before them.
func (a *Answer) scan(rows *sql.Rows, before []any) error {
	var key []byte
	var ending, class sql.NullString
	var input, cost, at sql.NullInt64
	var fault assay.Fault
	c, o, u := &a.At, &a.Outcome, &a.Outcome.Usage
	into := append(before, &a.Ord, &key, &a.Try, &a.Digest,
		&c.Source, &c.Item, &c.Lane, &c.Against, &c.Template, &c.Branch, &c.Draw, &c.Judge, &c.Prompt, &c.Trait, &c.Vote, &ending, &o.Text, &o.Thoughts, &a.Over, &o.Finish, &o.Model,
		&o.RequestID, &o.Tier, &input, &u.Cached, &u.CacheWrite5m,
		&u.CacheWrite1h, &u.Output, &u.Reasoning, &cost, &class,
		&fault.Status, &fault.Code, &fault.Message, &a.Surplus, &a.Reused,
		&a.Artifact, &a.Offset, &a.Length, &a.Sum, &at)
	if err := rows.Scan(into...); err != nil {
		return err
	}
	copy(a.Key[:], key)
	if c.Judge != "" && a.Lane != c.Judge {
		c.By = a.Lane
	}
	a.Ended, o.Ending = ending.Valid, assay.Ending(ending.String)
	u.Known, u.Input = input.Valid, input.Int64
	if cost.Valid {
		m := assay.Money(cost.Int64)
		a.Cost = &m
	}
	if class.Valid {
		fault.Class = assay.FaultClass(class.String)
		o.Fault = &fault
	}
	a.Settled = fromMillis(at)
	return nil
}
