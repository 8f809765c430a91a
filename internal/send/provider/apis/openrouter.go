package apis

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"time"

	"assay/internal/send/provider"
)

// openOpenRouter opens OpenRouter.
func openOpenRouter(cfg provider.Config) (provider.Account, error) {
	return openBearer(cfg, func(j jobAPI) provider.Provider { return &openRouter{documentJobs{j}} })
}

// openRouter drives batches that go in as one document and come out inside the job, once it is completed. A job carries
// no mark of ours, and cannot be cancelled.
type openRouter struct {
	documentJobs
}

// Launch streams the document.
func (o *openRouter) Launch(ctx context.Context, p provider.BatchInput, _ provider.Handle) provider.Receipt {
	return launchBody(ctx, o.api, provider.Path("batches"), p.Body, &openRouterJob{})
}

// Check reads the job up to its results, which stay where they are.
func (o *openRouter) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b openRouterJob
	if err := o.api.Elements(ctx, provider.Call{Path: provider.Path("batches", job.ID)}, provider.Document{
		Lists: [][]string{{"results"}}, Rest: &b, // the results are read over
	}); err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	return kept(b.status(), o.limits), nil
}

// Fetch reads the job again and writes its results as lines.
func (o *openRouter) Fetch(ctx context.Context, job provider.Job, part provider.Part, into provider.Sink) error {
	out, err := provider.NewLines(part, into)
	if err != nil {
		return err
	}
	err = o.api.Elements(ctx, provider.Call{Path: provider.Path("batches", job.ID)}, provider.Document{
		Lists: [][]string{{"results"}}, Each: out.Write,
	})
	if err != nil {
		return fmt.Errorf("fetch results: %w", err)
	}
	return out.Close()
}

// Decode reads lines of the OpenAI shape.
func (o *openRouter) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Remove deletes the job with its results; only terminal ones can be.
func (o *openRouter) Remove(ctx context.Context, job provider.Job) error {
	return remove(ctx, o.api, provider.Path("batches", job.ID))
}

// List walks the jobs, newest first.
func (o *openRouter) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		q := url.Values{"limit": {strconv.Itoa(pageSize)}}
		if after != "" {
			q.Set("after", after)
		}
		var l openRouterJobs
		if _, err := o.api.JSON(ctx, provider.Call{Path: provider.Path("batches"), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		var p page
		for _, b := range l.Data {
			p.jobs = append(p.jobs, b.status())
		}
		return p.follow(l.HasMore, len(l.Data) >= pageSize), nil
	})
}

// Stamped is false: a job has no metadata and no name.
func (o *openRouter) Stamped() bool { return false }

// Cursor returns the newest job.
func (o *openRouter) Cursor(ctx context.Context) (string, error) { return provider.Newest(o.List(ctx)) }

// Find looks for a job of the same size and model since the cursor. The nonce in its first result shows whose it is,
// once it is completed.
func (o *openRouter) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	same := provider.SameSize(s)
	trail := provider.Trail{Jobs: o.List(ctx), Sorted: true, Match: func(st provider.Status) bool {
		return same(st) && (st.Model == "" || st.Model == s.Model)
	}}
	return trail.Unstamped(s, func(st provider.Status) (bool, error) {
		var first []byte
		err := o.api.Elements(ctx, provider.Call{Path: provider.Path("batches", st.Job)}, provider.Document{
			Lists: [][]string{{"results"}}, Each: func(raw []byte) error {
				first = bytes.Clone(raw)
				return provider.ErrEnough
			},
		})
		if err != nil {
			return false, fmt.Errorf("look into the results of %s: %w", st.Job, err)
		}
		return ours(s, o.Decode(provider.Job{Wire: s.Wire}, provider.Part{}, bytes.NewReader(first)))
	})
}

// Made returns the job's id.
func (b *openRouterJob) Made() (string, time.Time) { return b.ID, b.Created.Time }

// Valid wants an id.
func (b *openRouterJob) Valid() bool { return b.ID != "" }

func (b *openRouterJob) status() provider.Status {
	s := provider.Status{
		Job: b.ID, Word: b.Status, State: fileState(b.Status), Model: b.Model,
		Created: b.Created.Time, Ended: latest(b.Completed.Time, b.FailedAt.Time), Expires: b.Expires.Time,
	}
	if total := int64(b.Counts.Total); total > 0 {
		s.Counts = provider.Counts{Known: true, Total: total, Succeeded: int64(b.Counts.Completed), Failed: int64(b.Counts.Failed)}
	}
	if s.State == provider.StateFailed {
		s.Fault = (&openAIError{Code: b.Error.Code, Message: b.Error.Message}).fault()
	}
	if s.State == provider.StateEnded {
		s.Parts = []provider.Part{{Name: "results", Kind: provider.PartResults}}
	}
	return s
}

type openRouterJob struct {
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Model     string          `json:"model"`
	Created   provider.Moment `json:"created_at"`
	Completed provider.Moment `json:"completed_at"`
	FailedAt  provider.Moment `json:"failed_at"`
	Expires   provider.Moment `json:"expires_at"`
	Counts    struct {
		Total     provider.Number `json:"total"`
		Completed provider.Number `json:"completed"`
		Failed    provider.Number `json:"failed"`
	} `json:"request_counts"`
	Error struct {
		Code    provider.Text `json:"code"`
		Message provider.Text `json:"message"`
	} `json:"error"`
}

type openRouterJobs struct {
	Data    []openRouterJob `json:"data"`
	HasMore *bool           `json:"has_more"`
}

// Valid wants the list, be it empty.
func (l *openRouterJobs) Valid() bool { return l.Data != nil }
