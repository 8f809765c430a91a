package batchrun

import (
	"cmp"
	"context"
	"time"

	"assay/internal/keep/store"
)

// Job is one job as tables and lists show it.
type Job struct {
	Provider string
	ID       string
	Model    string
	Created  time.Time // zero: not known
	Status   string    // in the provider's word if it has one
	Run      string    // empty: made elsewhere
	File     string
	Requests int64
	Done     int64
	Failed   int64
	Note     string // why it does not move, else what was noted with the run
	Segment  store.Segment
}

// Jobs lists the jobs of runs; a run without any is a row of its own.
func (r *Reader) Jobs(ctx context.Context, runs ...store.Run) ([]Job, error) {
	jobs := []Job{}
	for _, run := range runs {
		own, err := r.jobs(ctx, run)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, own...)
	}
	return jobs, nil
}

func (r *Reader) jobs(ctx context.Context, run store.Run) ([]Job, error) {
	b, err := of(run)
	if err != nil {
		return nil, err
	}
	all, err := r.Ledger.Segments(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var jobs []Job
	for _, g := range all {
		if g.State == store.Planned {
			continue
		}
		jobs = append(jobs, jobOf(g, run, run.Study))
	}
	if len(jobs) == 0 {
		j := Job{Provider: b.File.Provider, Created: run.Created, Status: "recorded", Run: run.ID, File: run.Study,
			Requests: b.File.Requests, Note: run.Note}
		if len(b.File.Lanes) > 0 {
			j.Model = b.File.Lanes[0].Model
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// jobOf returns a segment as tables show it; file is its input.
func jobOf(g store.Segment, run store.Run, file string) Job {
	j := Job{Provider: g.Provider, ID: g.Job, Model: g.Model, Created: cmp.Or(g.Launched, g.Created), Run: run.ID, Status: Status(g),
		File: file, Requests: g.Requests, Done: g.Done(), Note: cmp.Or(g.Reason.String(), run.Note), Segment: g}
	for e, n := range g.Endings {
		if !e.Stands() {
			j.Failed += n
		}
	}
	return j
}

// Status returns the state of a segment, in the provider's word if it has one.
func Status(g store.Segment) string {
	switch {
	case g.State == store.Held || g.State == store.Failed || g.State == store.Cancelled:
		return string(g.State)
	case g.Mode == store.Live && g.State == store.Launched:
		return "asking live"
	case g.Mode == store.Live && g.State == store.Settled:
		return "answered live"
	case g.JobWord != "":
		return g.JobWord
	}
	return string(g.State)
}
