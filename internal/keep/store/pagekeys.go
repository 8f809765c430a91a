package store

import (
	"context"
	"database/sql"

	"assay/internal/assay"
)

// KeysBetween reads at most limit keys of requests of a run that were sent, from one to another.
func (s *Reader) KeysBetween(ctx context.Context, run int64, first, last assay.Key, limit int) ([]assay.Key, error) {
	scan := func(rows *sql.Rows) (k assay.Key, err error) {
		var key []byte
		err = rows.Scan(&key)
		copy(k[:], key)
		return k, err
	}
	return collect(walk(ctx, s, "find requests", scan, `SELECT DISTINCT a.key FROM attempts a JOIN segments g ON g.no = a.segment_no
		WHERE a.run_no = $1 AND a.key >= $2 AND a.key <= $3 AND g.state <> 'planned' ORDER BY a.key LIMIT CAST($4 AS BIGINT)`, run, first[:], last[:], limit))
}

// Tries reads every sending of a request with how it ended, the first one first. What a provider handed out after it was
// given up is a row of its own. What an edit of the study superseded is left out.
func (s *Reader) Tries(ctx context.Context, run int64, key assay.Key) ([]Answer, error) {
	return collect(s.answers(ctx, `SELECT `+answerColumns+answerTables+`WHERE a.run_no = $1 AND a.key = $2 AND a.superseded = 0 AND g.state <> 'planned'
		ORDER BY a.try, o.late`, run, key[:]))
}

// SegmentEvents reads the history of some segments of a run, oldest first.
func (s *Reader) SegmentEvents(ctx context.Context, run int64, segments []int64) ([]Event, error) {
	if len(segments) == 0 {
		return nil, nil
	}
	return collect(walk(ctx, s, "read events", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text FROM events
		WHERE run_no = $1 AND segment_no IN (`+numbers(segments)+`) ORDER BY no`, run))
}
