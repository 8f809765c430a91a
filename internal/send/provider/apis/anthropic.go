package apis

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strconv"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// anthropicVersion is the API generation that still knows sampling parameters; `version:` asks for another.
const anthropicVersion = "2023-06-01"

// openAnthropic opens Anthropic. The generations from 2026-10 on take the key as a bearer token.
func openAnthropic(cfg provider.Config) (provider.Account, error) {
	auth := provider.KeyHeader("X-Api-Key", cfg.Key)
	if cfg.Version == "" {
		cfg.Version = anthropicVersion
	} else if cfg.Version > anthropicVersion {
		auth = provider.Bearer(cfg.Key)
	}
	api, err := provider.NewClient(cfg, auth.With("anthropic-version", cfg.Version))
	if err != nil {
		return provider.Account{}, err
	}
	a := account(cfg, &anthropic{documentJobs{jobAPI{api, cfg.Limits}}}, &asker{api: api, path: fixed("v1", "messages"),
		models: "/v1/models", size: "limit"})
	a.Files = &anthropicKeeper{api}
	return a, nil
}

// anthropic drives message batches: one document goes in, one stream comes out, and a job carries no mark of ours.
type anthropic struct {
	documentJobs
}

// Launch streams the document.
func (a *anthropic) Launch(ctx context.Context, p provider.BatchInput, _ provider.Handle) provider.Receipt {
	return launchBody(ctx, a.api, provider.Path("v1", "messages", "batches"), p.Body, &messageBatch{})
}

// Check reads the batch.
func (a *anthropic) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b messageBatch
	header, err := a.api.JSON(ctx, provider.Call{Path: a.path(job.ID)}, &b)
	if err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	s := b.status()
	s.LookAfter = provider.RetryAfter(header)
	return s, nil
}

// Fetch reads the results, line for line as many as the batch has requests: a cut stream looks like a whole one.
func (a *anthropic) Fetch(ctx context.Context, job provider.Job, part provider.Part, into provider.Sink) error {
	if err := a.api.Download(ctx, a.results(job.ID), part.Whole(), into); err != nil {
		return fmt.Errorf("fetch results: %w", err)
	}
	return nil
}

// results never uses the URL in the batch: the key goes to our own origin.
func (a *anthropic) results(id string) provider.Call {
	return provider.Call{Path: a.path(id, "results"), Header: map[string]string{"Accept": "application/x-jsonl"}}
}

// Decode reads result lines.
func (a *anthropic) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Cancel asks for the end of the batch.
func (a *anthropic) Cancel(ctx context.Context, job provider.Job) error {
	return post(ctx, a.api, a.path(job.ID, "cancel"))
}

// Remove deletes the batch with its results; only ended ones can be.
func (a *anthropic) Remove(ctx context.Context, job provider.Job) error {
	return remove(ctx, a.api, a.path(job.ID))
}

// List walks the batches of the workspace, newest first.
func (a *anthropic) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		const size = 1000
		q := url.Values{"limit": {strconv.Itoa(size)}}
		if after != "" {
			q.Set("after_id", after)
		}
		var l messageBatches
		if _, err := a.api.JSON(ctx, provider.Call{Path: a.path(), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		var p page
		for _, b := range l.Data {
			p.jobs = append(p.jobs, b.status())
		}
		if p = p.follow(l.HasMore, len(l.Data) >= size); p.next != "" {
			p.next = cmp.Or(l.LastID, p.next)
		}
		return p, nil
	})
}

// Stamped is false: a batch has no metadata and no name.
func (a *anthropic) Stamped() bool { return false }

// Cursor returns the newest batch.
func (a *anthropic) Cursor(ctx context.Context) (string, error) { return provider.Newest(a.List(ctx)) }

// Find looks for a batch of the same size since the cursor. The nonce in its first result line shows whose it is, once
// it has ended.
func (a *anthropic) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	trail := provider.Trail{Jobs: a.List(ctx), Sorted: true, Match: provider.SameSize(s)}
	return trail.Unstamped(s, func(st provider.Status) (bool, error) {
		resp, err := a.api.Do(ctx, a.results(st.Job))
		if err != nil {
			return false, fmt.Errorf("look into the results of %s: %w", st.Job, err)
		}
		defer resp.Body.Close()
		return ours(s, a.Decode(provider.Job{Wire: s.Wire}, provider.Part{}, resp.Body))
	})
}

func (a *anthropic) path(rest ...string) string {
	return provider.Path(append([]string{"v1", "messages", "batches"}, rest...)...)
}

// anthropicRetention is how long after its creation a batch's results can be read.
const anthropicRetention = 29 * 24 * time.Hour

// Made returns the batch's id.
func (b *messageBatch) Made() (string, time.Time) { return b.ID, b.Created.Time }

// Valid wants an id.
func (b *messageBatch) Valid() bool { return b.ID != "" }

// Valid wants the list, be it empty.
func (l *messageBatches) Valid() bool { return l.Data != nil }

// status converts the batch. Until it ends every number but the one in work is 0, so these are ignored.
func (b *messageBatch) status() provider.Status {
	c := b.Counts
	s := provider.Status{
		Job: b.ID, Word: b.Processing, State: messageState(b.Processing),
		Created: b.Created.Time, Ended: b.EndedAt.Time, Expires: b.Expires.Time,
		Counts: provider.Counts{
			Total:     int64(c.Processing + c.Succeeded + c.Errored + c.Canceled + c.Expired),
			Succeeded: int64(c.Succeeded), Failed: int64(c.Errored), Expired: int64(c.Expired), Cancelled: int64(c.Canceled),
			Pending: int64(c.Processing),
		},
	}
	if !b.Created.IsZero() {
		s.CollectBefore = b.Created.Add(anthropicRetention)
	}
	if s.State != provider.StateEnded {
		return s
	}
	s.Counts.Known = true
	if !b.Archived.IsZero() {
		s.Fault = &assay.Fault{Class: assay.FaultGone, Code: "archived", Message: "the results are no longer kept"}
		return s
	}
	s.Parts = []provider.Part{{Name: "results", Kind: provider.PartResults, Lines: s.Counts.Total}}
	return s
}

func messageState(word string) provider.State {
	switch word {
	case "in_progress":
		return provider.StateRunning
	case "canceling":
		return provider.StateEnding
	case "ended":
		return provider.StateEnded
	}
	return provider.StateUnknown
}

type messageBatches struct {
	Data    []messageBatch `json:"data"`
	HasMore *bool          `json:"has_more"`
	LastID  string         `json:"last_id"`
}

type messageBatch struct {
	ID         string          `json:"id"`
	Processing string          `json:"processing_status"`
	Created    provider.Moment `json:"created_at"`
	Expires    provider.Moment `json:"expires_at"`
	EndedAt    provider.Moment `json:"ended_at"`
	Archived   provider.Moment `json:"archived_at"`
	Counts     struct {
		Processing provider.Number `json:"processing"`
		Succeeded  provider.Number `json:"succeeded"`
		Errored    provider.Number `json:"errored"`
		Canceled   provider.Number `json:"canceled"`
		Expired    provider.Number `json:"expired"`
	} `json:"request_counts"`
}
