package apis

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// openMistral opens Mistral.
func openMistral(cfg provider.Config) (provider.Account, error) {
	api, err := provider.NewClient(cfg, provider.Bearer(cfg.Key))
	if err != nil {
		return provider.Account{}, err
	}
	return account(cfg, &mistral{jobAPI: jobAPI{api, cfg.Limits}}, &asker{api: api, path: mistralPath, plain: true,
		models: "/v1/models"}), nil
}

func mistralPath(r *assay.Request) string {
	if r.Wire.Dialect == assay.DialectData {
		return provider.Path("v1") + dataPath(r)
	}
	return provider.Path("v1", "chat", "completions")
}

// mistral drives jobs made of an uploaded file, with the model named by the job.
type mistral struct {
	jobAPI
}

// Prepare uploads the lines.
func (m *mistral) Prepare(ctx context.Context, p provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold fileHandle
	h.Read(&hold)
	if hold.Ready {
		return h, provider.Ready, nil
	}
	var f openAIFile
	if err := upload(ctx, m.api, batchForm(p), provider.Path("v1", "files"), &f); err != nil {
		return h, "", err
	}
	return readiness(f)
}

// Launch creates the job, with the stamp as its metadata.
func (m *mistral) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold fileHandle
	h.Read(&hold)
	if hold.File == "" {
		return provider.Unprepared()
	}
	return launchJSON(ctx, m.api, m.path(), mistralCreate{
		Inputs: []string{hold.File}, Endpoint: p.Wire.URL, Model: p.Model, Metadata: p.Metadata(),
		Hours: int(cmp.Or(m.limits.Window, 24*time.Hour) / time.Hour),
	}, &mistralJob{})
}

// Check reads the job.
func (m *mistral) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b mistralJob
	if _, err := m.api.JSON(ctx, provider.Call{Path: m.path(job.ID)}, &b); err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	return kept(b.status(), m.limits), nil
}

// Fetch reads a file.
func (m *mistral) Fetch(ctx context.Context, _ provider.Job, part provider.Part, into provider.Sink) error {
	return fetchFile(ctx, m.api, provider.Path("v1", "files", part.Ref), part, into)
}

// Decode reads lines of the OpenAI shape.
func (m *mistral) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Cancel asks for the end of the job.
func (m *mistral) Cancel(ctx context.Context, job provider.Job) error {
	return post(ctx, m.api, m.path(job.ID, "cancel"))
}

// Remove deletes the files of the job.
func (m *mistral) Remove(ctx context.Context, job provider.Job) error {
	var b mistralJob
	if _, err := m.api.JSON(ctx, provider.Call{Path: m.path(job.ID)}, &b); err != nil && !gone(err) {
		return fmt.Errorf("remove: %w", err)
	}
	for _, id := range append(b.Inputs, b.Output, b.ErrorFile) {
		if id == "" {
			continue
		}
		if err := remove(ctx, m.api, provider.Path("v1", "files", id)); err != nil {
			return err
		}
	}
	return nil
}

// Fence deletes the uploaded file: no job is made of what is not there.
func (m *mistral) Fence(ctx context.Context, h provider.Handle) error {
	return fenceFile(ctx, m.api, h, func(id string) string { return provider.Path("v1", "files", id) })
}

// List walks the jobs, newest first.
func (m *mistral) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	const size = 100
	return pages(func(after string) (page, error) {
		n, _ := strconv.Atoi(after) // pages are numbered from 0, and "" is the first
		q := url.Values{"page": {strconv.Itoa(n)}, "page_size": {strconv.Itoa(size)}, "order_by": {"-created"}}
		var l mistralJobs
		if _, err := m.api.JSON(ctx, provider.Call{Path: m.path(), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		var p page
		for _, b := range l.Data {
			p.jobs = append(p.jobs, listed(b.status()))
		}
		if len(l.Data) == size {
			p.next = strconv.Itoa(n + 1)
		}
		return p, nil
	})
}

// Stamped is true: jobs carry metadata.
func (m *mistral) Stamped() bool { return true }

// Cursor returns the newest job.
func (m *mistral) Cursor(ctx context.Context) (string, error) { return provider.Newest(m.List(ctx)) }

// Find matches the stamp in the metadata. The pages are numbered from the newest, so that a job made meanwhile moves the
// others on: one may be seen twice, none is missed.
func (m *mistral) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	return provider.Trail{Jobs: m.List(ctx), Sorted: true, Match: sameInput(s)}.Stamped(s)
}

func (m *mistral) path(rest ...string) string {
	return provider.Path(append([]string{"v1", "batch", "jobs"}, rest...)...)
}

// Made returns the job's id.
func (b *mistralJob) Made() (string, time.Time) { return b.ID, b.Created.Time }

// Valid wants an id.
func (b *mistralJob) Valid() bool { return b.ID != "" }

func (b *mistralJob) status() provider.Status {
	s := provider.Status{
		Job: b.ID, Word: b.Status, State: mistralState(b.Status), Model: b.Model, Stamp: b.Metadata.Stamp(),
		Created: b.Created.Time, Ended: b.Completed.Time, Parts: fileParts(b.Output, b.ErrorFile),
	}
	if len(b.Inputs) > 0 {
		s.Input = b.Inputs[0]
	}
	if total := int64(b.Total); total > 0 {
		s.Counts = provider.Counts{Known: true, Total: total, Succeeded: int64(b.Succeeded), Failed: int64(b.Failed)}
		if !s.State.Terminal() {
			s.Counts.Pending = max(0, total-s.Counts.Done())
		}
	}
	if s.State == provider.StateFailed {
		s.Fault = &assay.Fault{Class: assay.FaultUnknown, Code: "batch_failed", Message: b.why()}
	}
	return s
}

// why joins the errors of the job. These are counts per message: no line is named.
func (b *mistralJob) why() string {
	var all []string
	for _, e := range b.Errors {
		all = append(all, fmt.Sprintf("%s (%d times)", e.Message, max(1, int64(e.Count))))
	}
	return clean(strings.Join(all, "; "))
}

func mistralState(word string) provider.State {
	switch strings.ToUpper(word) {
	case "QUEUED":
		return provider.StateQueued
	case "RUNNING":
		return provider.StateRunning
	case "CANCELLATION_REQUESTED":
		return provider.StateEnding
	case "SUCCESS":
		return provider.StateEnded
	case "FAILED":
		return provider.StateFailed
	case "TIMEOUT_EXCEEDED":
		return provider.StateExpired
	case "CANCELLED":
		return provider.StateCancelled
	}
	return provider.StateUnknown
}

type mistralCreate struct {
	Inputs   []string          `json:"input_files"`
	Endpoint string            `json:"endpoint"`
	Model    string            `json:"model"`
	Metadata map[string]string `json:"metadata"`
	Hours    int               `json:"timeout_hours"`
}

type mistralJob struct {
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Model     string          `json:"model"`
	Inputs    []string        `json:"input_files"`
	Output    string          `json:"output_file"`
	ErrorFile string          `json:"error_file"`
	Metadata  provider.Labels `json:"metadata"`
	Created   provider.Moment `json:"created_at"`
	Completed provider.Moment `json:"completed_at"`
	Total     provider.Number `json:"total_requests"`
	Succeeded provider.Number `json:"succeeded_requests"`
	Failed    provider.Number `json:"failed_requests"`
	Errors    []struct {
		Message provider.Text   `json:"message"`
		Count   provider.Number `json:"count"`
	} `json:"errors"`
}

// mistralJobs may leave the list out when it is empty; the total is always there.
type mistralJobs struct {
	Data  []mistralJob     `json:"data"`
	Total *provider.Number `json:"total"`
}

// Valid wants the list or the total.
func (l *mistralJobs) Valid() bool { return l.Data != nil || l.Total != nil }
