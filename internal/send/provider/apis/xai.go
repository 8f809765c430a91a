package apis

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// openXAI opens xAI.
func openXAI(cfg provider.Config) (provider.Account, error) {
	return openBearer(cfg, func(j jobAPI) provider.Provider { return &xai{namedJobs{j}} })
}

// xai drives batches made of a file: sealed from the start, so that one call makes the whole job. A batch has numbers
// instead of a state, and its results come in pages.
type xai struct {
	namedJobs
}

// Prepare uploads the lines. The file knows no purpose here.
func (x *xai) Prepare(ctx context.Context, p provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold fileHandle
	h.Read(&hold)
	if hold.Ready {
		return h, provider.Ready, nil
	}
	form := batchForm(p)
	form.Fields = nil
	var f openAIFile
	if err := upload(ctx, x.api, form, provider.Path("files"), &f); err != nil {
		return h, "", err
	}
	return readiness(f)
}

// Launch creates the batch under the stamp's name.
func (x *xai) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold fileHandle
	h.Read(&hold)
	if hold.File == "" {
		return provider.Unprepared()
	}
	return launchJSON(ctx, x.api, provider.Path("batches"), xaiCreate{Name: p.Stamp.Name(), Input: hold.File}, &xaiBatch{})
}

// Check reads the batch.
func (x *xai) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b xaiBatch
	if _, err := x.api.JSON(ctx, provider.Call{Path: provider.Path("batches", job.ID)}, &b); err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	return b.status(), nil
}

// Fetch reads every page of the results and writes their elements as lines.
func (x *xai) Fetch(ctx context.Context, job provider.Job, part provider.Part, into provider.Sink) error {
	out, err := provider.NewLines(part, into)
	if err != nil {
		return err
	}
	for token := ""; ; {
		q := url.Values{"limit": {"1000"}}
		if token != "" {
			q.Set("pagination_token", token)
		}
		var last xaiPage
		err := x.api.Elements(ctx, provider.Call{Path: provider.Path("batches", job.ID, "results"), Query: q}, provider.Document{
			Lists: [][]string{{"results"}},
			Each:  out.Write,
			Rest:  &last,
		})
		if err != nil {
			return fmt.Errorf("fetch results: %w", err)
		}
		if last.Next == "" {
			return out.Close()
		}
		if string(last.Next) == token {
			return provider.BadAnswer("fetch results: the pages go round in a circle")
		}
		token = string(last.Next)
	}
}

// Decode reads the elements.
func (x *xai) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Cancel asks for the end of the batch.
func (x *xai) Cancel(ctx context.Context, job provider.Job) error {
	return post(ctx, x.api, provider.Path("batches", job.ID)+":cancel")
}

// Remove deletes the uploaded file.
func (x *xai) Remove(ctx context.Context, job provider.Job) error {
	var hold fileHandle
	job.Handle.Read(&hold)
	return removeFiles(ctx, x.api, hold.File)
}

// Fence deletes the uploaded file: no batch is made of what is not there.
func (x *xai) Fence(ctx context.Context, h provider.Handle) error {
	return fenceFile(ctx, x.api, h, filePath)
}

// List walks the batches.
func (x *xai) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		q := url.Values{"limit": {"100"}}
		if after != "" {
			q.Set("pagination_token", after)
		}
		var l xaiBatches
		if _, err := x.api.JSON(ctx, provider.Call{Path: provider.Path("batches"), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		p := page{next: string(l.Next)}
		for _, b := range l.Batches {
			p.jobs = append(p.jobs, listed(b.status()))
		}
		return p, nil
	})
}

// Find matches the name.
func (x *xai) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	return provider.Trail{Jobs: x.List(ctx), Match: sameName(s)}.Stamped(s)
}

// Made returns the batch's id.
func (b *xaiBatch) Made() (string, time.Time) { return b.id(), b.Created.Time }

// Valid wants an id.
func (b *xaiBatch) Valid() bool { return b.id() != "" }

func (b *xaiBatch) id() string {
	if b.BatchID != "" {
		return b.BatchID
	}
	return b.ID
}

// status makes a state from the numbers. All zero means not begun; so does a rejected batch look, but for its message.
func (b *xaiBatch) status() provider.Status {
	n := b.State
	s := provider.Status{
		Job: b.id(), Name: b.Name, Created: b.Created.Time, Expires: latest(b.Expires.Time, b.ExpiresAt.Time),
		CollectBefore: latest(b.Expires.Time, b.ExpiresAt.Time),
	}
	s.Stamp, _ = provider.ParseName(b.Name)
	s.State, s.Word = b.state()
	if n.Requests > 0 {
		s.Counts = provider.Counts{
			Known: true, Total: int64(n.Requests), Succeeded: int64(n.Success), Failed: int64(n.Error),
			Cancelled: int64(n.Cancelled), Pending: int64(n.Pending),
		}
	}
	if s.State == provider.StateFailed {
		s.Fault = &assay.Fault{Class: assay.FaultInvalid, Code: "cancelled_by_xai", Message: clean(string(b.Message))}
	}
	if s.State.Terminal() && n.Requests > 0 || n.Success+n.Error > 0 { // what is done can be read while the rest is pending
		s.Parts = []provider.Part{{Name: "results", Kind: provider.PartResults}}
	}
	return s
}

func (b *xaiBatch) state() (provider.State, string) {
	n, cancelled := b.State, !b.Cancelled.IsZero() || strings.TrimSpace(string(b.Message)) != ""
	switch {
	case n.Requests == 0 && b.Message != "":
		return provider.StateFailed, "cancelled by xAI"
	case n.Requests == 0 && cancelled:
		return provider.StateCancelled, "cancelled"
	case n.Requests == 0:
		return provider.StateQueued, "no requests yet"
	case n.Pending > 0 && cancelled:
		return provider.StateEnding, "cancelling"
	case n.Pending > 0:
		return provider.StateRunning, "pending"
	case cancelled && n.Cancelled > 0:
		return provider.StateCancelled, "cancelled"
	}
	return provider.StateEnded, "done"
}

type xaiCreate struct {
	Name  string `json:"name"`
	Input string `json:"input_file_id"`
}

type xaiBatch struct {
	BatchID   string          `json:"batch_id"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Created   provider.Moment `json:"create_time"`
	Expires   provider.Moment `json:"expire_time"`
	ExpiresAt provider.Moment `json:"expires_at"`
	Cancelled provider.Moment `json:"cancel_time"`
	Message   provider.Text   `json:"cancel_by_xai_message"`
	State     struct {
		Requests  provider.Number `json:"num_requests"`
		Pending   provider.Number `json:"num_pending"`
		Success   provider.Number `json:"num_success"`
		Error     provider.Number `json:"num_error"`
		Cancelled provider.Number `json:"num_cancelled"`
	} `json:"state"`
}

type xaiBatches struct {
	Batches []xaiBatch    `json:"batches"`
	Next    provider.Text `json:"pagination_token"`
}

// Valid wants the list, be it empty.
func (l *xaiBatches) Valid() bool { return l.Batches != nil }

type xaiPage struct {
	Results []struct{}    `json:"results"`
	Next    provider.Text `json:"pagination_token"`
}

// Valid wants the list, be it empty.
func (l *xaiPage) Valid() bool { return l.Results != nil }
