package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"assay/internal/assay"
)

// AnswerFilter narrows a page of answers; what is empty does not.
type AnswerFilter struct {
	Stage, Lane, Item string
	Ending            assay.Ending
	Open              bool // only those without an outcome; not together with an ending
}

// Mark is a place in the order in which requests were sent. A page begins after one; the zero mark is before all.
type Mark struct{ Segment, Ord int64 }

// begin is the mark before the first request of all.
func (m Mark) begin() Mark {
	if m == (Mark{}) {
		return Mark{0, -1}
	}
	return m
}

// AnswersPage reads at most limit requests of a run with what stands for each, in the order they were sent, after a mark.
// Segments that by their counters hold nothing of the kind are not looked into.
func (s *Reader) AnswersPage(ctx context.Context, run int64, f AnswerFilter, after Mark, limit int) ([]Answer, error) {
	after = after.begin()
	if f.Item != "" {
		return s.answersOn(ctx, run, f, after, limit)
	}
	var all []Answer
	for {
		segments, err := s.holding(ctx, run, f, after)
		if err != nil || len(segments) == 0 {
			return all, err
		}
		for _, no := range segments {
			from := int64(-1)
			if no == after.Segment {
				from = after.Ord
			}
			some, err := collect(s.answers(ctx, `SELECT `+answerColumns+answerTables+`WHERE a.segment_no = $1 AND a.ord > $2`+f.outcome()+`AND`+standing+
				`ORDER BY a.ord LIMIT CAST($3 AS BIGINT)`, no, from, limit-len(all)))
			if err != nil {
				return nil, err
			}
			if all = append(all, some...); len(all) == limit {
				return all, nil
			}
		}
		after = Mark{segments[len(segments)-1] + 1, -1}
	}
}

func (s *Reader) answersOn(ctx context.Context, run int64, f AnswerFilter, after Mark, limit int) ([]Answer, error) {
	return collect(s.answers(ctx, `SELECT `+answerColumns+answerTables+`WHERE a.run_no = $1 AND a.item = $2 AND ($3 = '' OR g.stage = $3) AND ($4 = '' OR g.lane = $4)
		AND g.state <> 'planned' AND (a.segment_no, a.ord) > ($5, $6)`+f.outcome()+`AND`+standing+`ORDER BY a.segment_no, a.ord LIMIT CAST($7 AS BIGINT)`,
		run, f.Item, f.Stage, f.Lane, after.Segment, after.Ord, limit))
}

// outcome is the part of a condition that is about outcomes. It is spelt so that the index of rare endings serves it.
func (f AnswerFilter) outcome() string {
	switch {
	case f.Open:
		return ` AND o.ending IS NULL `
	case f.Ending == assay.Answered:
		return ` AND o.ending = 'answered' `
	case slices.Contains(assay.Endings(), f.Ending):
		return ` AND o.ending = '` + string(f.Ending) + `' AND o.ending <> 'answered' `
	}
	return ` `
}

// counted is the part of a condition on a segment that its counters answer.
func (f AnswerFilter) counted() string {
	switch {
	case f.Open:
		return ` AND requests > n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost`
	case slices.Contains(assay.Endings(), f.Ending):
		return ` AND (n_` + string(f.Ending) + ` > 0 OR n_late > 0)`
	}
	return ``
}

// holding lists the next segments that may hold what a filter asks for.
func (s *Reader) holding(ctx context.Context, run int64, f AnswerFilter, after Mark) ([]int64, error) {
	return collect(walk(ctx, s, "read segments", scanNumber, `SELECT no FROM segments WHERE run_no = $1 AND state <> 'planned' AND no >= $2
		AND ($3 = '' OR stage = $3) AND ($4 = '' OR lane = $4)`+f.counted()+` ORDER BY no LIMIT 64`, run, after.Segment, f.Stage, f.Lane))
}

func scanNumber(rows *sql.Rows) (int64, error) {
	var n int64
	err := rows.Scan(&n)
	return n, err
}

// AnswerTo reads what stands for one request. One that was never sent is ErrNotFound.
func (s *Reader) AnswerTo(ctx context.Context, run int64, key assay.Key) (Answer, error) {
	all, err := s.AnswersTo(ctx, run, []assay.Key{key})
	if err != nil {
		return Answer{}, err
	}
	a, ok := all[key]
	if !ok {
		return a, fmt.Errorf("request %s: %w", key, ErrNotFound)
	}
	return a, nil
}
