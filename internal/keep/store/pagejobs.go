package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// JobFilter narrows a list of jobs; what is empty does not.
type JobFilter struct {
	Run      int64
	Study    string
	Provider string
	Job      string // the provider's id
	Open     bool   // only those whose results are still to come
	Ended    bool   // only the others
}

// RunJob is a job with the segment it was made for and its run.
type RunJob struct {
	Job
	Part Segment
	Run  Run
}

// Open reports whether results of the job are still to come.
func (j RunJob) Open() bool { return j.Role == "current" && !j.Part.State.Terminal() }

// JobsPage reads at most limit jobs, newest first: the failed ones and the doubles too. Limit 0: all. Jobs are few beside
// requests: nothing else is walked over.
func (s *Reader) JobsPage(ctx context.Context, f JobFilter, limit int) ([]RunJob, error) {
	if limit <= 0 {
		limit = 1 << 31
	}
	jobs, err := collect(walk(ctx, s, "read jobs", scanJob, `SELECT j.provider, j.job, j.segment_no, j.account, j.role, j.created_ms
		FROM jobs j JOIN segments g ON g.no = j.segment_no JOIN runs r ON r.no = g.run_no
		WHERE ($1 = 0 OR g.run_no = $1) AND ($2 = '' OR j.provider = $2) AND ($3 = '' OR r.study = $3)
		AND ($5 = '' OR j.job = $5)`+f.standing()+`
		ORDER BY j.segment_no DESC, j.created_ms DESC, j.job DESC LIMIT CAST($4 AS BIGINT)`, f.Run, f.Provider, f.Study, limit, f.Job))
	if err != nil {
		return nil, err
	}
	return s.placed(ctx, jobs)
}

// standing is the part of the condition that says which jobs are open.
func (f JobFilter) standing() string {
	const open = `(j.role = 'current' AND g.state NOT IN ('settled', 'failed', 'cancelled'))`
	switch {
	case f.Open:
		return ` AND ` + open
	case f.Ended:
		return ` AND NOT ` + open
	}
	return ``
}

func scanJob(rows *sql.Rows) (Job, error) {
	var j Job
	var at sql.NullInt64
	err := rows.Scan(&j.Provider, &j.ID, &j.Segment, &j.Account, &j.Role, &at)
	j.Created = fromMillis(at)
	return j, err
}

// placed adds segments and runs to jobs.
func (s *Reader) placed(ctx context.Context, jobs []Job) ([]RunJob, error) {
	out := make([]RunJob, len(jobs))
	segments, runs := map[int64]Segment{}, map[int64]Run{}
	const block = 500
	for some := range slices.Chunk(jobs, block) {
		var numbered []int64
		for _, j := range some {
			numbered = append(numbered, j.Segment)
		}
		all, err := s.segments(ctx, `WHERE no IN (`+numbers(numbered)+`)`)
		if err != nil {
			return nil, fmt.Errorf("read jobs: %w", err)
		}
		for _, g := range all {
			segments[g.No] = g
		}
	}
	for i, j := range jobs {
		g := segments[j.Segment]
		if _, known := runs[g.Run]; !known {
			run, err := s.Run(ctx, g.Run)
			if err != nil {
				return nil, err
			}
			runs[g.Run] = run
		}
		out[i] = RunJob{j, g, runs[g.Run]}
	}
	return out, nil
}
