package read

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// begin is the mark before the first request of all.
func beginAt(m store.Mark) store.Mark {
	if m == (store.Mark{}) {
		return store.Mark{Segment: 0, Ord: -1}
	}
	return m
}

// AnswersPage reads at most limit requests of a run after a mark, each with its current answer, in the order they were
// sent. Segments whose counters hold nothing of the kind are skipped.
func (s *Pages) AnswersPage(ctx context.Context, run int64, f store.AnswerFilter, after store.Mark, limit int) ([]store.Answer, error) {
	after = beginAt(after)
	if f.Item != "" {
		return s.answersOn(ctx, run, f, after, limit)
	}
	var all []store.Answer
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
			some, err := db.Collect(answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`WHERE a.segment_no = $1
				AND a.ord > $2`+outcomeIs(f)+`AND`+current+
				`ORDER BY a.ord LIMIT CAST($3 AS BIGINT)`, no, from, limit-len(all)))
			if err != nil {
				return nil, err
			}
			if all = append(all, some...); len(all) == limit {
				return all, nil
			}
		}
		after = store.Mark{Segment: segments[len(segments)-1] + 1, Ord: -1}
	}
}

func (s *Pages) answersOn(ctx context.Context, run int64, f store.AnswerFilter, after store.Mark, limit int) ([]store.Answer, error) {
	return db.Collect(answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`WHERE a.run_no = $1 AND a.item = $2 AND ($3 = ''
		OR g.stage = $3) AND ($4 = '' OR g.lane = $4)
		AND g.state <> 'planned' AND (a.segment_no, a.ord) > ($5, $6)`+outcomeIs(f)+`AND`+current+`ORDER BY a.segment_no,
		a.ord LIMIT CAST($7 AS BIGINT)`,
		run, f.Item, f.Stage, f.Lane, after.Segment, after.Ord, limit))
}

// Found are the answers among some requests that have words.
type Found struct {
	Answers []store.Answer
	Seen    int        // how many outcomes were looked at
	Next    store.Mark // where to go on; the zero mark: there are no more
}

// AnswersWith looks among some of the requests of a run after a mark, in the order they were sent, for current answers that have words in
// their texts or thoughts, or in what is said of their fault, letters of ASCII in any case.
func (s *Pages) AnswersWith(ctx context.Context, run int64, f store.AnswerFilter, words string, after store.Mark, some int) (Found, error) {
	after = beginAt(after)
	segments, err := s.holding(ctx, run, f, after)
	if err != nil || len(segments) == 0 {
		return Found{}, err
	}
	if segments[0] != after.Segment {
		after = store.Mark{Segment: segments[0], Ord: -1}
	}
	var out Found
	var last sql.NullInt64
	err = s.db.QueryRow(ctx, `SELECT COUNT(*), (SELECT MAX(ord) FROM attempts WHERE segment_no = $1) FROM outcomes
		WHERE segment_no = $1 AND ord > $2 AND ord <= $3 AND late = 0`,
		after.Segment, after.Ord, after.Ord+int64(some)).Scan(&out.Seen, &last)
	if err != nil {
		return out, fmt.Errorf("count answers: %w", err)
	}
	has := `(` + s.db.Has("o.text", "$4") + ` OR ` + s.db.Has("o.thoughts", "$4") + ` OR o.fault_class IS NOT NULL AND ` + s.db.Has(faultText, "$4") + `)`
	any, pattern := false, db.Pattern(words) // most blocks have nothing, and need no more than the texts
	err = s.db.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM outcomes o WHERE o.segment_no = $1 AND o.ord > $2 AND o.ord <= $3 AND `+has+`)`,
		after.Segment, after.Ord, after.Ord+int64(some), pattern).Scan(&any)
	if err != nil {
		return out, fmt.Errorf("search answers: %w", err)
	}
	if any {
		out.Answers, err = db.Collect(answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`WHERE a.segment_no = $1
			AND a.ord > $2 AND a.ord <= $3 AND`+current+`AND `+has+` ORDER BY a.ord`,
			after.Segment, after.Ord, after.Ord+int64(some), pattern))
	}
	if out.Next = (store.Mark{Segment: after.Segment, Ord: after.Ord + int64(some)}); out.Next.Ord >= last.Int64 {
		out.Next = store.Mark{}
		if len(segments) > 1 {
			out.Next = store.Mark{Segment: segments[1], Ord: -1}
		}
	}
	return out, err
}

// faultText is a fault as assay.Fault says it.
const faultText = `(o.fault_class || COALESCE(' (HTTP ' || CAST(NULLIF(o.fault_status, 0) AS TEXT) || ')', '')
	|| COALESCE(' ' || NULLIF(o.fault_code, ''), '') || COALESCE(': ' || NULLIF(o.fault_message, ''), '')
	|| COALESCE(' [request ' || NULLIF(o.request_id, '') || ']', ''))`

// outcome is the part of a condition that is about outcomes. It is spelt so that the index of rare endings serves it.
func outcomeIs(f store.AnswerFilter) string {
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
func countedIn(f store.AnswerFilter) string {
	switch {
	case f.Open:
		return ` AND requests > n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost`
	case slices.Contains(assay.Endings(), f.Ending):
		return ` AND (n_` + string(f.Ending) + ` > 0 OR n_late > 0)`
	}
	return ``
}

// holding lists the next segments that may hold what a filter asks for.
func (s *Pages) holding(ctx context.Context, run int64, f store.AnswerFilter, after store.Mark) ([]int64, error) {
	return db.Collect(db.Walk(ctx, s.db, "read segments", scanNumber, `SELECT no FROM segments
		WHERE run_no = $1 AND state <> 'planned' AND no >= $2
		AND ($3 = '' OR stage = $3) AND ($4 = '' OR lane = $4)`+countedIn(f)+` ORDER BY no LIMIT 64`, run, after.Segment, f.Stage, f.Lane))
}

func scanNumber(rows *sql.Rows) (int64, error) {
	var n int64
	err := rows.Scan(&n)
	return n, err
}
