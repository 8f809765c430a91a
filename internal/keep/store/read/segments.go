package read

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// Artifacts reads the files of a segment in the order they came.
func (s *Reader) Artifacts(ctx context.Context, segment int64) ([]store.Artifact, error) {
	rows, err := s.db.Query(ctx, `SELECT no, name, kind, part, bytes, sha256 FROM artifacts WHERE segment_no = $1 ORDER BY no`, segment)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []store.Artifact
	for rows.Next() {
		var a store.Artifact
		if err := rows.Scan(&a.No, &a.Name, &a.Kind, &a.Part, &a.Size, &a.SHA256); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// Jobs reads the jobs of a run, or of all runs with run = 0.
func (s *Reader) Jobs(ctx context.Context, run int64) ([]store.Job, error) {
	return s.jobs(ctx, `$1 = 0 OR g.run_no = $1`, run)
}

// SegmentJobs reads the jobs of one segment: that which counts, and others that were made for it.
func (s *Reader) SegmentJobs(ctx context.Context, segment int64) ([]store.Job, error) {
	return s.jobs(ctx, `j.segment_no = $1`, segment)
}

func (s *Reader) jobs(ctx context.Context, where string, no int64) ([]store.Job, error) {
	return db.Collect(db.Walk(ctx, s.db, "read jobs", scanJob, `SELECT j.provider, j.job, j.segment_no, j.account, j.role, j.created_ms
		FROM jobs j JOIN segments g ON g.no = j.segment_no WHERE `+where+` ORDER BY j.segment_no, j.created_ms`, no))
}

func scanJob(rows *sql.Rows) (store.Job, error) {
	var j store.Job
	var at sql.NullInt64
	err := rows.Scan(&j.Provider, &j.ID, &j.Segment, &j.Account, &j.Role, &at)
	j.Created = db.FromMillis(at)
	return j, err
}

// TakenJobs reads the jobs of a run, or of all runs with run = 0, that another copy of the ledger made.
func (s *Reader) TakenJobs(ctx context.Context, run int64) ([]store.TakenJob, error) {
	scan := func(rows *sql.Rows) (j store.TakenJob, err error) {
		return j, rows.Scan(&j.Provider, &j.Job, &j.Answers, &j.Joined, &j.Twice)
	}
	return db.Collect(db.Walk(ctx, s.db, "read jobs that were taken over", scan, `SELECT provider, job, answers, joined, cost_nano
		FROM taken_jobs WHERE $1 = 0 OR run_no = $1 ORDER BY at_ms`, run))
}

// AnswersIn counts the current answers of a run whose bytes are in artifacts with names that begin so, and sums what they cost.
func (s *Reader) AnswersIn(ctx context.Context, run int64, prefix string) (in store.Joined, err error) {
	err = s.db.QueryRow(ctx, `SELECT COUNT(*), CAST(COALESCE(SUM(o.cost_nano), 0) AS BIGINT), COALESCE(MIN(o.segment_no), 0)
		FROM artifacts a JOIN outcomes o ON o.segment_no = a.segment_no AND o.artifact_no = a.no AND o.stands = 1
		WHERE a.run_no = $1 AND a.name LIKE $2 ESCAPE '\'`, run, likePrefix(prefix)).Scan(&in.Answers, &in.Cost, &in.Segment)
	if err != nil {
		return in, fmt.Errorf("count answers of a job: %w", err)
	}
	return in, nil
}

// Segment reads one segment.
func (s *Reader) Segment(ctx context.Context, no int64) (store.Segment, error) {
	all, err := segments(ctx, s.db, `WHERE no = $1`, no)
	if err == nil && len(all) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Segment{}, fmt.Errorf("segment %d: %w", no, err)
	}
	return all[0], nil
}

// Segments reads the segments of a run, in the order they were made: those in the given states, or all.
func (s *Reader) Segments(ctx context.Context, run int64, states ...store.State) ([]store.Segment, error) {
	all, err := segments(ctx, s.db, `WHERE run_no = $1`+db.InStates(states)+` ORDER BY no`, run)
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	return all, nil
}

// Canaries reads the segments of a run that were sent ahead.
func (s *Reader) Canaries(ctx context.Context, run int64) ([]store.Segment, error) {
	all, err := segments(ctx, s.db, `WHERE run_no = $1 AND purpose = 'canary' ORDER BY no`, run)
	if err != nil {
		return nil, fmt.Errorf("read canaries: %w", err)
	}
	return all, nil
}

func segments(ctx context.Context, d *db.DB, where string, args ...any) ([]store.Segment, error) {
	rows, err := d.Query(ctx, `SELECT no, run_no, stage, lane, turn, second_try, CASE WHEN imported = '' THEN mode
		ELSE 'import' END, purpose, provider, model, nonce, recuts, state,
		moved_from, moved_ms, created_ms, due_ms, wait_ms, reason, requests, max_try, expected_nano, unpriced, tokens, input, input_bytes,
		input_sha256,
		handle, account, COALESCE(stamped, 0), cursor_mark, intended_ms, intends, lost_creates, audited, lost_nano, aside_nano,
		COALESCE(fence, ''), COALESCE(lost_handles, ''), absents, absent_ms, reserved_nano, job, launched_ms,
		job_state, job_word, job_counts, parts, collect_before_ms, cancel_cause, cancel_ms, ended_ms, fetched_ms,
		refetches, settled_ms, failures, held_from, removed_ms, holder, epoch, lease_until_ms,
		n_answered, n_cut, n_empty, n_refused, n_rejected, n_errored, n_expired, n_cancelled, n_lost, n_late, n_surplus,
		cost_nano, cost_priced, cost_unknown, cache_hits, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_unknown,
		taken_nano, taken_unpriced, taken_input, taken_cached, taken_output, taken_mute, written_tokens,
		CAST(COALESCE((SELECT SUM(j.cost_nano) FROM jobs j WHERE j.segment_no = segments.no), 0) +
			COALESCE((SELECT SUM(k.cost_nano) FROM taken_jobs k WHERE k.segment_no = segments.no), 0) AS BIGINT)
		FROM segments `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []store.Segment
	for rows.Next() {
		g, err := scanSegment(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, rows.Err()
}

func scanSegment(rows *sql.Rows) (store.Segment, error) {
	var g store.Segment
	var moved, created, due, wait, bytes, intended, absent, launched, before, cancel, ended, fetched, settled, removed, until sql.NullInt64
	var input, sum, handle, account, cursor, job, jobState, jobWord, counts, parts, held, holder sql.NullString
	var lost string
	n := make([]int64, len(assay.Endings()))
	err := rows.Scan(&g.No, &g.Run, &g.Stage, &g.Lane, &g.Turn, &g.Again, &g.Mode, &g.Purpose, &g.Provider, &g.Model, &g.Nonce, &g.Recuts,
		&g.State, &g.MovedFrom, &moved, &created, &due, &wait, &g.Reason, &g.Requests, &g.MaxTry, &g.Expected, &g.Unpriced, &g.Tokens,
		&input, &bytes, &sum, &handle, &account, &g.Stamped, &cursor, &intended, &g.Intends, &g.LostCreates, &g.Audited,
		&g.LostMost, &g.Aside, &g.Fence, &lost, &g.Absents, &absent, &g.Reserved, &job, &launched, &jobState, &jobWord, &counts, &parts,
		&before, &g.CancelCause, &cancel, &ended, &fetched, &g.Refetches, &settled, &g.Failures,
		&held, &removed, &holder, &g.Lease.Epoch, &until, &n[0], &n[1], &n[2], &n[3],
		&n[4], &n[5], &n[6], &n[7], &n[8], &g.Late, &g.Surplus, &g.Cost.Sum, &g.Cost.Priced, &g.Cost.Unknown, &g.CacheHits,
		&g.InputTokens, &g.CachedTokens, &g.OutputTokens, &g.Reasoning, &g.UsageUnknown, &g.Taken.Cost, &g.Taken.Unpriced,
		&g.Taken.Input, &g.Taken.Cached, &g.Taken.Output, &g.Taken.Mute, &g.WrittenTokens, &g.Doubled)
	if err != nil {
		return g, err
	}
	g.Moved, g.Created = db.FromMillis(moved), db.FromMillis(created)
	g.Due, g.Wait = db.FromMillis(due), db.FromMillis(wait)
	g.Input, g.InputBytes, g.InputSHA256 = input.String, bytes.Int64, sum.String
	g.Handle, g.Account, g.Cursor, g.Job = handle.String, account.String, cursor.String, job.String
	g.Intended, g.Absent, g.Launched = db.FromMillis(intended), db.FromMillis(absent), db.FromMillis(launched)
	g.JobState, g.JobWord, g.JobCounts, g.Parts = jobState.String, jobWord.String, counts.String, parts.String
	g.CollectBefore, g.CancelAsked, g.EndedAt = db.FromMillis(before), db.FromMillis(cancel), db.FromMillis(ended)
	g.FetchedAt, g.SettledAt, g.HeldFrom = db.FromMillis(fetched), db.FromMillis(settled), store.State(held.String)
	g.Removed = db.FromMillis(removed)
	g.Lease.No, g.Lease.Holder, g.Lease.Until = g.No, holder.String, db.FromMillis(until)
	g.LostHandles, g.Endings = strings.FieldsFunc(lost, func(r rune) bool { return r == '\n' }), byEnding(n)
	return g, nil
}
