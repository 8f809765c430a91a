package batchrun

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/provider"
)

// Job is one job as tables and lists show it.
type Job struct {
	Provider string `json:"provider"`
	ID       string `json:"batch_id"`
	Model    string `json:"model"`
	Created  string `json:"created"`       // null in JSON: not known
	Status   string `json:"status"`        // in the provider's word where it has one
	Run      string `json:"run,omitempty"` // empty: made elsewhere

	File     string        `json:"-"`
	Requests int64         `json:"-"`
	Done     int64         `json:"-"`
	Failed   int64         `json:"-"`
	Note     string        `json:"-"` // why the status may be old
	Segment  store.Segment `json:"-"`
}

// MarshalJSON writes a moment that is not known as null.
func (j Job) MarshalJSON() ([]byte, error) {
	type bare Job
	if j.Created != "" {
		return json.Marshal(bare(j))
	}
	return json.Marshal(struct {
		bare
		Created *string `json:"created"`
	}{bare(j), nil})
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
		j := Job{Provider: b.File.Provider, Created: moment(run.Created), Status: "recorded", Run: run.ID, File: run.Study, Requests: b.File.Requests}
		if len(b.File.Lanes) > 0 {
			j.Model = b.File.Lanes[0].Model
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// StudyJobs lists the jobs of studies, newest first, and their runs.
func (r *Reader) StudyJobs(ctx context.Context) ([]Job, []store.Run, error) {
	all, err := r.Pages.JobsPage(ctx, store.JobFilter{}, 0)
	if err != nil {
		return nil, nil, err
	}
	var jobs []Job
	var runs []store.Run
	for _, j := range all {
		if _, batch := Of(j.Run); batch || j.Part.Job != j.ID {
			continue
		}
		jobs = append(jobs, jobOf(j.Part, j.Run, "study "+j.Run.Study))
		if !slices.ContainsFunc(runs, func(run store.Run) bool { return run.No == j.Run.No }) {
			runs = append(runs, j.Run)
		}
	}
	return jobs, runs, nil
}

// jobOf is a segment as tables show it; file is what it was made from.
func jobOf(g store.Segment, run store.Run, file string) Job {
	j := Job{Provider: g.Provider, ID: g.Job, Model: g.Model, Created: moment(cmp.Or(g.Launched, g.Created)), Run: run.ID, Status: Status(g),
		File: file, Requests: g.Requests, Done: g.Done(), Note: g.Reason, Segment: g}
	for e, n := range g.Endings {
		if !e.Stands() {
			j.Failed += n
		}
	}
	return j
}

// Status is where a segment stands, in the provider's word where it has one.
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

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Moves reports whether the provider works on the job, as far as the ledger knows.
func (j *Job) Moves() bool { return j.Segment.State == store.Launched && j.Segment.Mode == store.Batch }

// Refresh asks the provider how a job stands. What cannot be asked keeps what the ledger knows, with a note. Access opens
// the account that the job's run uses.
func (j *Job) Refresh(ctx context.Context, access func(provider string) (engine.Access, error)) {
	if !j.Moves() {
		return
	}
	a, err := access(j.Provider)
	switch {
	case errors.Is(err, engine.ErrNoKey):
		j.Note = "not asked: no key"
		return
	case err != nil:
		j.Note = "not asked: " + err.Error()
		return
	case a.Fingerprint != j.Segment.Account:
		j.Note = fmt.Sprintf("made with another key (%s, this one is %s)", j.Segment.Account, a.Fingerprint)
		return
	}
	st, err := a.Batch.Check(ctx, provider.Job{ID: j.ID, Handle: provider.Handle(j.Segment.Handle), Model: j.Model, Count: int(j.Requests)})
	if err != nil {
		j.Note = "not answered: " + err.Error()
		return
	}
	j.Status = cmp.Or(st.Word, string(st.State))
	if st.Counts.Known {
		j.Done, j.Failed = st.Counts.Done(), st.Counts.Failed+st.Counts.Expired+st.Counts.Cancelled
	}
}
