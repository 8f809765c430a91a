package read

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Headlines reads what runs found, those of them for which it is kept. One whose version is not that of the run is out of date.
func (s *Pages) Headlines(ctx context.Context, runs []int64) (map[int64]store.Headline, error) {
	all := map[int64]store.Headline{}
	if len(runs) == 0 {
		return all, nil
	}
	err := s.db.Each(ctx, func(rows *sql.Rows) error {
		var run int64
		var h store.Headline
		l := &h.Lead
		err := rows.Scan(&run, &h.Version, &h.Text, &l.Leader, &l.Score, &l.Range, &l.Value)
		all[run] = h
		return err
	}, `SELECT run_no, version, text, leader, leader_score, leader_range, leader_value FROM headlines WHERE run_no IN (`+db.Numbers(runs)+`)`)
	if err != nil {
		return nil, fmt.Errorf("read headlines: %w", err)
	}
	return all, nil
}

// Studies reads the names of all studies that have runs, in their order.
func (s *Pages) Studies(ctx context.Context) ([]string, error) {
	var all []string
	err := s.db.Each(ctx, func(rows *sql.Rows) error {
		var name string
		err := rows.Scan(&name)
		all = append(all, name)
		return err
	}, `SELECT DISTINCT study FROM runs WHERE state <> 'preparing' ORDER BY study`)
	if err != nil {
		return nil, fmt.Errorf("read studies: %w", err)
	}
	return all, nil
}

// RunsPage reads at most limit runs that are older than one, newest first. Before 0: from the newest on.
func (s *Pages) RunsPage(ctx context.Context, before int64, limit int) ([]store.Run, error) {
	all, err := runs(ctx, s.db, `WHERE ($1 = 0 OR no < $1) AND NOT (state = 'preparing' AND (lease_until_ms < $3
		OR holder IS NULL AND (epoch > 0 OR created_ms < $4))) ORDER BY no DESC LIMIT CAST($2 AS BIGINT)`, before, limit, s.db.Millis(),
		s.db.Millis()-longestPreparing.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return all, nil
}

// longestPreparing is how long the preparation of a run takes that no process has claimed, at most.
const longestPreparing = 10 * time.Minute

// Attention reads what runs may need a person for.
func (s *Pages) Attention(ctx context.Context, runs []int64) (map[int64]store.Attention, error) {
	all := make(map[int64]store.Attention, len(runs))
	if len(runs) == 0 {
		return all, nil
	}
	segment := func(rows *sql.Rows) error {
		var run int64
		var before, owed sql.NullInt64
		var a store.Attention
		err := rows.Scan(&run, &a.Segments, &a.Held, &before, &a.Cost.Sum, &a.Cost.Priced, &a.Cost.Unknown, &a.Owed, &owed)
		a.CollectBefore, a.OwedFrom = db.FromMillis(before), db.FromMillis(owed)
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
	err := s.db.Each(ctx, segment, `SELECT run_no, COUNT(*), COUNT(CASE WHEN state = 'held' THEN 1 END),
		MIN(CASE WHEN state IN ('launched', 'ended', 'held') THEN collect_before_ms END),
		CAST(SUM(CASE WHEN imported = '' THEN cost_nano ELSE 0 END) AS BIGINT), CAST(SUM(CASE WHEN imported = '' THEN cost_priced
		ELSE 0 END) AS BIGINT),
		CAST(SUM(CASE WHEN imported = '' THEN cost_unknown ELSE 0 END) AS BIGINT),
		COUNT(CASE WHEN `+owedAudit+` THEN 1 END), MIN(CASE WHEN `+owedAudit+` THEN due_ms END)
		FROM segments WHERE run_no IN (`+db.Numbers(runs)+`) GROUP BY run_no`)
	if err == nil {
		err = s.db.Each(ctx, lane, `SELECT run_no, COUNT(CASE WHEN state = 'held' THEN 1 END), COUNT(CASE WHEN state = 'stopped' THEN 1 END)
			FROM lanes WHERE run_no IN (`+db.Numbers(runs)+`) GROUP BY run_no`)
	}
	if err != nil {
		return nil, fmt.Errorf("read what needs a person: %w", err)
	}
	return all, nil
}

// owedAudit is the condition of segments whose provider's list of jobs is to be read once more.
const owedAudit = `state = 'settled' AND (lost_creates > audited OR reason = '` + string(store.AwaitsAudit) + `')`

// Owing reads the closed runs that owe a look at a provider's list of jobs, newest first.
func (s *Pages) Owing(ctx context.Context) ([]store.Run, error) {
	all, err := runs(ctx, s.db, `WHERE state = 'closed' AND no IN (SELECT run_no FROM segments WHERE `+owedAudit+`) ORDER BY no DESC`)
	if err != nil {
		return nil, fmt.Errorf("read runs that owe an audit: %w", err)
	}
	return all, nil
}

// Version returns a text that changes whenever something about a run does: its state, its counters, its history, its verdicts
// or its orders, when a job was looked at, whose provider may count more as done, and until when one
// asked to wait. It costs a few looks into indexes.
func (s *Pages) Version(ctx context.Context, run int64) (string, error) {
	var v [9]int64
	err := s.db.QueryRow(ctx, `SELECT CASE WHEN r.state = 'closed' THEN 1
		ELSE 0 END, r.spent_nano, r.reserved_nano, COALESCE(r.budget_nano, -1),
		(SELECT COALESCE(MAX(no), 0) FROM events WHERE run_no = $1),
		(SELECT COALESCE(MAX(no), 0) FROM verdicts WHERE run_no = $1),
		(SELECT CAST(COALESCE(SUM(n_open + 3 * (n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost)), 0) AS BIGINT)
			FROM lanes WHERE run_no = $1),
		(SELECT COUNT(*) FROM orders WHERE run_no = $1 AND obeyed_ms IS NULL),
		(SELECT CAST(COALESCE(SUM(due_ms + COALESCE(wait_ms, 0)), 0) AS BIGINT) FROM segments WHERE run_no = $1 AND state = 'launched') FROM runs r
		WHERE r.no = $1`, run).
		Scan(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8])
	if err != nil {
		return "", fmt.Errorf("version of run %d: %w", run, store.NotFound(err))
	}
	return strings.Trim(fmt.Sprint(v), "[]"), nil
}

// LedgerVersion returns a text that changes whenever the progress of any run does.
func (s *Pages) LedgerVersion(ctx context.Context) (string, error) {
	var v [4]int64
	err := s.db.QueryRow(ctx, `SELECT (SELECT COALESCE(MAX(no), 0) FROM runs),
		(SELECT CAST(COALESCE(SUM(spent_nano / 1000 + reserved_nano / 1000 + CASE WHEN state = 'closed' THEN 1 ELSE 0 END), 0) AS BIGINT)
		FROM runs),
		(SELECT COALESCE(MAX(no), 0) FROM events),
		(SELECT CAST(COALESCE(SUM(n_open + 3 * (n_answered + n_cut + n_empty + n_refused + n_rejected + n_errored + n_expired + n_cancelled + n_lost)), 0) AS BIGINT)
			FROM lanes)`).Scan(&v[0], &v[1], &v[2], &v[3])
	if err != nil {
		return "", fmt.Errorf("version of the ledger: %w", err)
	}
	return strings.Trim(fmt.Sprint(v), "[]"), nil
}

// Now returns the time of the ledger's clock.
func (s *Pages) Now() time.Time { return s.db.Now() }

// Pulse reads who works on a run now, and when it needs a worker next.
func (s *Pages) Pulse(ctx context.Context, run int64) (store.Pulse, error) {
	var p store.Pulse
	clock := s.db.ClockText("CAST($2 AS BIGINT)")
	err := s.db.QueryRow(ctx, `SELECT COALESCE((SELECT holder FROM runs
		WHERE no = $1 AND CAST($2 AS BIGINT) > 0 AND lease_until_ms > `+clock+`),
		(SELECT MIN(holder) FROM drivers WHERE run_no = $1 AND until_ms > `+clock+`),
		(SELECT MIN(holder) FROM segments WHERE run_no = $1 AND state NOT IN ('settled', 'failed', 'cancelled')
		AND lease_until_ms > `+clock+`), '')`,
		run, s.db.Millis()).Scan(&p.Holder)
	if err != nil {
		return p, fmt.Errorf("read the pulse of run %d: %w", run, err)
	}
	p.Due, err = s.reader.NextDue(ctx, run)
	return p, err
}

// EventsBefore reads a run's history backwards, newest first, from before a line. Before 0: from the newest on.
func (s *Pages) EventsBefore(ctx context.Context, run, before int64, limit int) ([]store.Event, error) {
	all, err := db.Collect(db.Walk(ctx, s.db, "read events", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text
		FROM events
		WHERE run_no = $1 AND ($2 = 0 OR no < $2) ORDER BY no DESC LIMIT CAST($3 AS BIGINT)`, run, before, limit))
	return all, err
}

// SegmentsPage reads at most limit segments of a run that are older than one, newest first; of one stage and lane where
// these are not empty. Before 0: from the newest on.
func (s *Pages) SegmentsPage(ctx context.Context, run int64, stage, lane string, before int64, limit int) ([]store.Segment, error) {
	all, err := segments(ctx, s.db, `WHERE run_no = $1 AND state <> 'planned' AND ($2 = 0 OR no < $2) AND ($3 = '' OR stage = $3)
		AND ($4 = '' OR lane = $4)
		ORDER BY no DESC LIMIT CAST($5 AS BIGINT)`, run, before, stage, lane, limit)
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	return all, nil
}

// ArtifactNo reads one artifact of a run.
func (s *Pages) ArtifactNo(ctx context.Context, run, no int64) (store.Artifact, error) {
	var a store.Artifact
	err := s.db.QueryRow(ctx, `SELECT no, name, kind, part, bytes, sha256 FROM artifacts WHERE no = $1 AND run_no = $2`, no, run).
		Scan(&a.No, &a.Name, &a.Kind, &a.Part, &a.Size, &a.SHA256)
	if err != nil {
		return a, fmt.Errorf("artifact %d: %w", no, store.NotFound(err))
	}
	return a, nil
}

// KeysBetween reads at most limit requests of a run that were sent and whose keys are from one to another.
func (s *Pages) KeysBetween(ctx context.Context, run int64, first, last assay.Key, limit int) ([]assay.Ref, error) {
	if err := s.db.IndexKeys(ctx, run); err != nil {
		return nil, err
	}
	scan := func(rows *sql.Rows) (r assay.Ref, err error) {
		var key []byte
		err = rows.Scan(&key, &r.Item)
		copy(r.Key[:], key)
		return r, err
	}
	return db.Collect(db.Walk(ctx, s.db, "find requests", scan, `SELECT DISTINCT a.key, a.item FROM attempts a
		JOIN segments g ON g.no = a.segment_no
		WHERE a.run_no = $1 AND a.key >= $2 AND a.key <= $3 AND g.state <> 'planned' ORDER BY a.key LIMIT CAST($4 AS BIGINT)`,
		run, first[:], last[:], limit))
}

// ItemOf returns the item of an attempt.
func (s *Pages) ItemOf(ctx context.Context, segment, ord int64) (item string, err error) {
	err = s.db.QueryRow(ctx, `SELECT item FROM attempts WHERE segment_no = $1 AND ord = $2`, segment, ord).Scan(&item)
	return item, store.NotFound(err)
}

// Tries reads every sending of a request with how it ended, the first one first. What a provider handed out after it was
// given up is a row of its own.
func (s *Pages) Tries(ctx context.Context, run int64, of assay.Ref) ([]store.Answer, error) {
	return db.Collect(answers(ctx, s.db, `SELECT `+answerColumns+AnswerTables+`WHERE a.run_no = $1 AND a.item = $2 AND a.key = $3
		AND g.state <> 'planned'
		ORDER BY a.try, o.late`, run, of.Item, of.Key[:]))
}

// SegmentEvents reads the history of some segments of a run, oldest first.
func (s *Pages) SegmentEvents(ctx context.Context, run int64, segments []int64) ([]store.Event, error) {
	if len(segments) == 0 {
		return nil, nil
	}
	return db.Collect(db.Walk(ctx, s.db, "read events", scanEvent, `SELECT no, run_no, COALESCE(segment_no, 0), at_ms, kind, text
		FROM events
		WHERE run_no = $1 AND segment_no IN (`+db.Numbers(segments)+`) ORDER BY no`, run))
}
