package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
)

// RunsPage reads at most limit runs that are older than one, newest first. Before 0: from the newest on.
func (s *Reader) RunsPage(ctx context.Context, before int64, limit int) ([]Run, error) {
	all, err := s.runs(ctx, `WHERE $1 = 0 OR no < $1 ORDER BY no DESC LIMIT CAST($2 AS BIGINT)`, before, limit)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return all, nil
}

// Attention is what a person may have to look at in a run, and what travels for it.
type Attention struct {
	Held          int64 // segments and lanes that wait for a person
	Stopped       int64 // lanes that a provider, or a person, stopped
	Segments      int64
	Cost          assay.Cost // so far, without what was imported
	CollectBefore time.Time  // the earliest of what has not been collected; zero: nothing waits
}

// Attention reads what runs may need a person for.
func (s *Reader) Attention(ctx context.Context, runs []int64) (map[int64]Attention, error) {
	all := make(map[int64]Attention, len(runs))
	if len(runs) == 0 {
		return all, nil
	}
	segment := func(rows *sql.Rows) error {
		var run int64
		var before sql.NullInt64
		var a Attention
		err := rows.Scan(&run, &a.Segments, &a.Held, &before, &a.Cost.Sum, &a.Cost.Priced, &a.Cost.Unknown)
		a.CollectBefore = fromMillis(before)
		all[run] = a
		return err
	}
	lane := func(rows *sql.Rows) error {
		var run, held, stopped int64
		err := rows.Scan(&run, &held, &stopped)
		a := all[run]
		a.Held, a.Stopped = a.Held+held, stopped
		all[run] = a
		return err
	}
	err := s.each(ctx, segment, `SELECT run_no, COUNT(*), COUNT(CASE WHEN state = 'held' THEN 1 END),
		MIN(CASE WHEN state IN ('launched', 'ended', 'held') THEN collect_before_ms END),
		CAST(SUM(CASE WHEN imported = '' THEN cost_nano ELSE 0 END) AS BIGINT), CAST(SUM(CASE WHEN imported = '' THEN cost_priced ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN imported = '' THEN cost_unknown ELSE 0 END) AS BIGINT)
		FROM segments WHERE run_no IN (`+numbers(runs)+`) GROUP BY run_no`)
	if err == nil {
		err = s.each(ctx, lane, `SELECT run_no, COUNT(CASE WHEN state = 'held' THEN 1 END), COUNT(CASE WHEN state = 'stopped' THEN 1 END)
			FROM lanes WHERE run_no IN (`+numbers(runs)+`) GROUP BY run_no`)
	}
	if err != nil {
		return nil, fmt.Errorf("read what needs a person: %w", err)
	}
	return all, nil
}

// numbers lists numbers as SQL: they are ours, never a person's text.
func numbers(all []int64) string {
	text := make([]string, len(all))
	for i, n := range all {
		text[i] = fmt.Sprint(n)
	}
	return strings.Join(text, ", ")
}

// Version is a text that changes whenever something about a run does: its state, its counters, its history, its verdicts
// or its orders, and when a job was looked at, whose provider may count more as done. It costs a few looks into indexes.
func (s *Reader) Version(ctx context.Context, run int64) (string, error) {
	var v [9]int64
	err := s.read.QueryRowContext(ctx, `SELECT CASE WHEN r.state = 'closed' THEN 1 ELSE 0 END, r.spent_nano, r.reserved_nano, COALESCE(r.budget_nano, -1),
		(SELECT COALESCE(MAX(no), 0) FROM events WHERE run_no = $1),
		(SELECT COALESCE(MAX(no), 0) FROM verdicts WHERE run_no = $1),
		(SELECT CAST(COALESCE(SUM(n_open + 3 * (n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost)), 0) AS BIGINT)
			FROM lanes WHERE run_no = $1),
		(SELECT COUNT(*) FROM orders WHERE run_no = $1 AND obeyed_ms IS NULL),
		(SELECT CAST(COALESCE(SUM(due_ms), 0) AS BIGINT) FROM segments WHERE run_no = $1 AND state = 'launched') FROM runs r WHERE r.no = $1`, run).
		Scan(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8])
	if err != nil {
		return "", fmt.Errorf("version of run %d: %w", run, notFound(err))
	}
	return strings.Trim(fmt.Sprint(v), "[]"), nil
}

// LedgerVersion is a text that changes whenever the progress of any run does.
func (s *Reader) LedgerVersion(ctx context.Context) (string, error) {
	var v [4]int64
	err := s.read.QueryRowContext(ctx, `SELECT (SELECT COALESCE(MAX(no), 0) FROM runs),
		(SELECT CAST(COALESCE(SUM(spent_nano / 1000 + reserved_nano / 1000 + CASE WHEN state = 'closed' THEN 1 ELSE 0 END), 0) AS BIGINT) FROM runs),
		(SELECT COALESCE(MAX(no), 0) FROM events),
		(SELECT CAST(COALESCE(SUM(n_open + 3 * (n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost)), 0) AS BIGINT)
			FROM lanes)`).Scan(&v[0], &v[1], &v[2], &v[3])
	if err != nil {
		return "", fmt.Errorf("version of the ledger: %w", err)
	}
	return strings.Trim(fmt.Sprint(v), "[]"), nil
}

// Pulse reports whether a process drives a run.
type Pulse struct {
	Holder string    // who works on it right now; empty: no process
	Due    time.Time // when the next thing is due; zero: nothing is
}

// Pulse reads who works on a run now, and when it needs a worker next.
func (s *Reader) Pulse(ctx context.Context, run int64) (Pulse, error) {
	var p Pulse
	clock := s.engine.clockText("CAST($2 AS BIGINT)")
	err := s.read.QueryRowContext(ctx, `SELECT COALESCE((SELECT holder FROM runs WHERE no = $1 AND CAST($2 AS BIGINT) > 0 AND lease_until_ms > `+clock+`),
		(SELECT MIN(holder) FROM segments WHERE run_no = $1 AND state NOT IN ('settled', 'failed', 'cancelled') AND lease_until_ms > `+clock+`), '')`,
		run, s.millis()).Scan(&p.Holder)
	if err != nil {
		return p, fmt.Errorf("read the pulse of run %d: %w", run, err)
	}
	p.Due, err = s.NextDue(ctx, run)
	return p, err
}

// EventsBefore reads a run's history backwards, newest first, from before a line. Before 0: from the newest on.
func (s *Reader) EventsBefore(ctx context.Context, run, before int64, limit int) ([]Event, error) {
	all, err := collect(walk(ctx, s, "read events", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text FROM events
		WHERE run_no = $1 AND ($2 = 0 OR no < $2) ORDER BY no DESC LIMIT CAST($3 AS BIGINT)`, run, before, limit))
	return all, err
}

func scanEvent(rows *sql.Rows) (Event, error) {
	var e Event
	var at int64
	err := rows.Scan(&e.No, &e.Run, &e.Segment, &at, &e.Kind, &e.Text)
	e.At = time.UnixMilli(at).UTC()
	return e, err
}

// SegmentsPage reads at most limit segments of a run that are older than one, newest first; of one stage and lane where
// these are not empty. Before 0: from the newest on.
func (s *Reader) SegmentsPage(ctx context.Context, run int64, stage, lane string, before int64, limit int) ([]Segment, error) {
	all, err := s.segments(ctx, `WHERE run_no = $1 AND state <> 'planned' AND ($2 = 0 OR no < $2) AND ($3 = '' OR stage = $3) AND ($4 = '' OR lane = $4)
		ORDER BY no DESC LIMIT CAST($5 AS BIGINT)`, run, before, stage, lane, limit)
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	return all, nil
}

// ArtifactNo reads one artifact of a run.
func (s *Reader) ArtifactNo(ctx context.Context, run, no int64) (Artifact, error) {
	var a Artifact
	err := s.read.QueryRowContext(ctx, `SELECT no, name, kind, part, bytes, sha256 FROM artifacts WHERE no = $1 AND run_no = $2`, no, run).
		Scan(&a.No, &a.Name, &a.Kind, &a.Part, &a.Size, &a.SHA256)
	if err != nil {
		return a, fmt.Errorf("artifact %d: %w", no, notFound(err))
	}
	return a, nil
}
