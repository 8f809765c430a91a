package runs

import (
	"context"
	"encoding/json"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/provider"
)

// JobRow is a job in a list of jobs, of studies and batch files alike. What is not known is null, never 0.
type JobRow struct {
	Home     string        `json:"home,omitempty"` // where its run is kept, in a list of several homes
	Provider string        `json:"provider"`
	Job      string        `json:"job"` // the provider's id
	Run      string        `json:"run"`
	Study    string        `json:"study"` // or the name of a batch file
	Stage    string        `json:"stage"`
	Lane     string        `json:"lane"`
	Turn     int           `json:"turn"`
	Model    string        `json:"model"`
	State    string        `json:"state"` // in the provider's word where it has one
	Role     store.JobRole `json:"role"`
	Open     bool          `json:"open"`   // its results are still to come
	Reason   string        `json:"reason"` // why it does not move
	Requests int64         `json:"requests"`
	Counts   *JobCounts    `json:"provider_counts"` // as the provider reported them last; null: it has not
	Answered int64         `json:"answered"`        // of the results that are here
	Failed   int64         `json:"ended_without_answer"`
	Note     string        `json:"note"`
	By       string        `json:"by"`
	Created  time.Time     `json:"created"`
	Ended    *time.Time    `json:"ended"`
	Before   *time.Time    `json:"collect_before"`
	Segment  int64         `json:"segment"`
}

// JobCounts are a provider's own counts of a job.
type JobCounts struct {
	Total     int64 `json:"total"`
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
	Expired   int64 `json:"expired"`
	Cancelled int64 `json:"cancelled"`
	Pending   int64 `json:"pending"`
}

// Done returns how many requests have come to an end at the provider.
func (c JobCounts) Done() int64 { return c.Succeeded + c.Failed + c.Expired + c.Cancelled }

// Jobs lists jobs, newest first, and reports whether there are more than the limit. Limit 0: all.
func Jobs(ctx context.Context, r *results.Reader, f store.JobFilter, limit int) (rows []JobRow, more bool, err error) {
	most := limit
	if most > 0 {
		most++
	}
	all, err := r.Pages.JobsPage(ctx, f, most)
	if err != nil {
		return nil, false, err
	}
	if limit > 0 && len(all) > limit {
		all, more = all[:limit], true
	}
	for _, j := range all {
		rows = append(rows, jobRow(j))
	}
	return rows, more, nil
}

func jobRow(j store.RunJob) JobRow {
	g := j.Part
	row := JobRow{
		Provider: j.Provider, Job: j.ID, Run: j.Run.ID, Study: j.Run.Study, Stage: g.Stage, Lane: g.Lane, Turn: g.Turn, Model: g.Model,
		State: string(j.Role), Role: j.Role, Open: j.Open(), Requests: g.Requests, Note: j.Run.Note, By: j.Run.By, Created: j.Created,
		Segment: g.No,
	}
	if g.Job != j.ID { // the segment is about another job by now
		return row
	}
	row.State, row.Reason, row.Ended, row.Before = batchrun.Status(g), g.Reason.String(), assay.KnownTime(g.EndedAt),
		assay.KnownTime(g.CollectBefore)
	for e, n := range g.Endings {
		if e.Stands() {
			row.Answered += n
		} else {
			row.Failed += n
		}
	}
	var c provider.Counts
	if g.JobCounts != "" && json.Unmarshal([]byte(g.JobCounts), &c) == nil && c.Known {
		row.Counts = &JobCounts{c.Total, c.Succeeded, c.Failed, c.Expired, c.Cancelled, c.Pending}
	}
	return row
}
