package read

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// AnswerTo returns the current answer to one request. One that was never sent is ErrNotFound.
func (s *Reader) AnswerTo(ctx context.Context, run int64, key assay.Key) (store.Answer, error) {
	if err := s.db.IndexKeys(ctx, run); err != nil {
		return store.Answer{}, err
	}
	ref := assay.Ref{Key: key}
	err := s.db.QueryRow(ctx, `SELECT item FROM attempts WHERE run_no = $1 AND key = $2 LIMIT 1`, run, key[:]).Scan(&ref.Item)
	if err != nil {
		return store.Answer{}, fmt.Errorf("request %s: %w", key, store.NotFound(err))
	}
	all, err := s.AnswersTo(ctx, run, []assay.Ref{ref})
	if err != nil {
		return store.Answer{}, err
	}
	a, ok := all[key]
	if !ok {
		return a, fmt.Errorf("request %s: %w", key, store.ErrNotFound)
	}
	return a, nil
}

var answerColumns = segmentColumns + `, ` + rowColumns

// segmentColumns are shared by the answers of one segment g: with many rows, the number of columns sets the cost of
// reading.
const segmentColumns = `g.no, g.lane, CASE WHEN g.imported = '' THEN g.mode ELSE 'import' END, g.stage, g.turn, g.second_try`

var rowColumns = `a.ord, a.key, a.try, a.digest, ` + attemptAt.Columns("a") + `, o.ending, COALESCE(o.text, ''), COALESCE(o.thoughts, ''),
	COALESCE(o.over, 0), COALESCE(o.finish, ''), COALESCE(o.model, ''),
	COALESCE(o.request_id, ''), COALESCE(o.tier, ''), o.input_tokens, COALESCE(o.cached_tokens, 0), COALESCE(o.write5m_tokens, 0),
	COALESCE(o.write1h_tokens, 0), COALESCE(o.output_tokens, 0), COALESCE(o.reasoning_tokens, 0), o.tools, o.cost_nano, o.fault_class,
	COALESCE(o.fault_status, 0), COALESCE(o.fault_code, ''), COALESCE(o.fault_message, ''), COALESCE(o.surplus, 0), COALESCE(o.reused_no,
	0),
	COALESCE(o.artifact_no, 0), COALESCE(o.line_offset, 0), COALESCE(o.line_length, 0), COALESCE(o.line_sum, 0),
	CASE WHEN o.reused_no IS NULL THEN o.cost_nano ELSE o.price_nano END, o.at_ms, o.calls, o.likely`

const AnswerTables = ` FROM attempts a JOIN segments g ON g.no = a.segment_no
	LEFT JOIN outcomes o ON o.segment_no = a.segment_no AND o.ord = a.ord `

// current is the condition that keeps, for every request, its current outcome, else its latest attempt.
var current = ` (o.stands = 1 OR (COALESCE(o.surplus, 0) = 0
	AND NOT ` + db.Answered("a") + `
	AND NOT EXISTS (SELECT 1 FROM attempts b WHERE ` + db.SameRequest("b", "a") + ` AND b.try > a.try)
	AND NOT EXISTS (SELECT 1 FROM outcomes v WHERE v.segment_no = o.segment_no AND v.ord = o.ord AND v.late > o.late))) `

// Answers walks over the requests of a run that have been sent, each once, with its current answer, in the order they
// were sent. Stage and lane narrow it if they are not empty; lane is the one it travelled in.
//
// Segment by segment: the key of attempts gives their order, so that nothing is sorted and no text is held.
func (s *Reader) Answers(ctx context.Context, run int64, stage, lane string) iter.Seq2[store.Answer, error] {
	empty := func(rows *sql.Rows) (a store.Answer, err error) {
		err = rows.Scan(ofSegment(&a)...)
		return a, err
	}
	return func(yield func(store.Answer, error) bool) {
		segments, err := db.Collect(db.Walk(ctx, s.db, "read answers", empty, `SELECT `+segmentColumns+` FROM segments g
			WHERE run_no = $1 AND state <> 'planned'
			AND ($2 = '' OR stage = $2) AND ($3 = '' OR lane = $3) ORDER BY no`, run, stage, lane))
		if err != nil {
			yield(store.Answer{}, err)
			return
		}
		for _, segment := range segments {
			row := func(rows *sql.Rows) (store.Answer, error) {
				a := segment
				err := scanInto(&a, rows, nil)
				return a, err
			}
			for a, err := range db.Walk(ctx, s.db, "read answers", row,
				`SELECT `+rowColumns+AnswerTables+`WHERE a.segment_no = $1 AND`+current+`ORDER BY a.ord`, segment.Segment) {
				if !yield(a, err) || err != nil {
					return
				}
			}
		}
	}
}

// Lengths walks over the current answers of a stage without reading them. For one too long for a row, it gives the
// length of its line.
func (s *Reader) Lengths(ctx context.Context, run int64, stage string) iter.Seq2[store.Length, error] {
	scan := func(rows *sql.Rows) (l store.Length, err error) {
		var key []byte
		err = rows.Scan(&key, &l.Chars)
		copy(l.Key[:], key)
		return l, err
	}
	return db.Walk(ctx, s.db, "read lengths", scan, `SELECT o.key, COALESCE(LENGTH(o.text), o.line_length, 0) FROM segments g
		JOIN outcomes o ON o.segment_no = g.no WHERE g.run_no = $1 AND g.stage = $2 AND o.stands = 1`, run, stage)
}

// Flawed walks over the current answers of a lane that were refused or cut short, without reading the others: the index of rare endings
// has them.
func (s *Pages) Flawed(ctx context.Context, run int64, stage, lane string) iter.Seq2[store.Flaw, error] {
	scan := func(rows *sql.Rows) (f store.Flaw, err error) {
		var key []byte
		err = rows.Scan(&key, &f.Ending)
		copy(f.Key[:], key)
		return f, err
	}
	return db.Walk(ctx, s.db, "read endings", scan, `SELECT a.key, o.ending FROM segments g
		JOIN outcomes o ON o.segment_no = g.no AND o.ending <> 'answered' AND o.ending IN ('`+string(assay.Refused)+`', '`+string(assay.Cut)+`')
		JOIN attempts a ON a.segment_no = o.segment_no AND a.ord = o.ord
		WHERE g.run_no = $1 AND g.stage = $2 AND g.lane = $3 AND`+current, run, stage, lane)
}

// SegmentAnswers walks over the attempts of one segment with their outcomes, current or not.
func (s *Reader) SegmentAnswers(ctx context.Context, segment int64) iter.Seq2[store.Answer, error] {
	return answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`WHERE a.segment_no = $1 ORDER BY a.ord, o.late`, segment)
}

// AnswersTo returns the current answers to these requests of a run. Requests that were never sent are not in the map.
func (s *Reader) AnswersTo(ctx context.Context, run int64, refs []assay.Ref) (map[assay.Key]store.Answer, error) {
	all := make(map[assay.Key]store.Answer, len(refs))
	for part := range slices.Chunk(refs, db.KeyBlock) {
		these, args := s.db.Asked("a", run, part)
		for a, err := range answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`WHERE `+these+`
			AND g.state <> 'planned' AND`+current, args...) {
			if err != nil {
				return nil, err
			}
			all[a.Key] = a
		}
	}
	return all, nil
}

func answers(ctx context.Context, d *db.DB, text string, args ...any) iter.Seq2[store.Answer, error] {
	return db.Walk(ctx, d, "read answers", scanAnswer, text, args...)
}

func scanAnswer(rows *sql.Rows) (a store.Answer, err error) {
	err = scanInto(&a, rows, ofSegment(&a))
	return a, err
}

// ofSegment takes segmentColumns in.
func ofSegment(a *store.Answer) []any {
	return []any{&a.Segment, &a.Lane, &a.Mode, &a.At.Stage, &a.At.Turn, &a.At.Again}
}

// rowValues is how many columns rowColumns has at most.
const rowValues = 46

// scanInto takes rowColumns in, after what goes before them.
func scanInto(a *store.Answer, rows *sql.Rows, before []any) error {
	var key []byte
	var ending, class, tools, calls, likely sql.NullString
	var input, cost, price, at sql.NullInt64
	var fault assay.Fault
	c, o, u := &a.At, &a.Outcome, &a.Outcome.Usage
	into := append(slices.Grow(before, rowValues), &a.Ord, &key, &a.Try, &a.Digest)
	into = append(attemptAt.Into(into, c), &ending, &o.Text, &o.Thoughts, &a.Over, &o.Finish, &o.Model,
		&o.RequestID, &o.Tier, &input, &u.Cached, &u.CacheWrite5m,
		&u.CacheWrite1h, &u.Output, &u.Reasoning, &tools, &cost, &class,
		&fault.Status, &fault.Code, &fault.Message, &a.Surplus, &a.Reused,
		&a.Artifact, &a.Offset, &a.Length, &a.Sum, &price, &at, &calls, &likely)
	if err := rows.Scan(into...); err != nil {
		return err
	}
	if tools.Valid {
		if err := json.Unmarshal([]byte(tools.String), &u.Tools); err != nil {
			return err
		}
	}
	if calls.Valid {
		if err := json.Unmarshal([]byte(calls.String), &o.Calls); err != nil {
			return err
		}
	}
	if likely.Valid {
		if err := json.Unmarshal([]byte(likely.String), &o.Likely); err != nil {
			return err
		}
	}
	copy(a.Key[:], key)
	if c.Judge != "" && a.Lane != c.Judge {
		c.By = a.Lane
	}
	a.Ended, o.Ending = ending.Valid, assay.Ending(ending.String)
	u.Known, u.Input = input.Valid, input.Int64
	if cost.Valid {
		a.Cost = new(assay.Money(cost.Int64))
	}
	if price.Valid {
		a.Price = new(assay.Money(price.Int64))
	}
	if class.Valid {
		fault.Class = assay.FaultClass(class.String)
		o.Fault = &fault
	}
	a.Settled = db.FromMillis(at)
	return nil
}
