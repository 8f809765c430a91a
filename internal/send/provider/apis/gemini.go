package apis

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/url"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/send/provider"
)

// openGemini opens the Gemini developer API.
func openGemini(cfg provider.Config) (provider.Account, error) {
	if cfg.Version == "" {
		cfg.Version = "v1beta"
	}
	api, err := provider.NewClient(cfg, provider.KeyHeader("X-Goog-Api-Key", cfg.Key))
	if err != nil {
		return provider.Account{}, err
	}
	path := func(r *assay.Request) string {
		return provider.Path(cfg.Version, "models", bareModel(r.Lane.Model)+":generateContent")
	}
	g := &gemini{namedJobs: namedJobs{jobAPI{api, cfg.Limits}}, version: cfg.Version}
	return provider.Account{
		BaseURL: cfg.BaseURL,
		Batch:   g,
		Files:   &geminiKeeper{g},
		Live:    &asker{api: api, path: path, models: provider.Path(cfg.Version, "models"), size: "pageSize"},
	}, nil
}

// gemini drives batches made of an uploaded file. The create call itself could hold small batches; they go by file as
// well, for then the file's name is ours, the upload can be resumed, and results come in one shape.
type gemini struct {
	namedJobs
	version string
}

// Launch creates the batch under the stamp's name.
func (g *gemini) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold geminiHandle
	h.Read(&hold)
	if hold.File == "" {
		return provider.Unprepared()
	}
	var body geminiCreate
	body.Batch.DisplayName = p.Stamp.Name()
	body.Batch.Input.File = hold.File
	r := launchJSON(ctx, g.api, provider.Path(g.version, "models", bareModel(p.Model)+":batchGenerateContent"), body, &geminiOperation{})
	if r.Status == provider.Refused && missing(r.Err) { // files live for two days
		r.Err = fmt.Errorf("launch: the uploaded file is gone: %w",
			&assay.Fault{Class: assay.FaultGone, Code: "file_expired", Message: r.Err.Error()})
	}
	return r
}

// Check reads the operation.
func (g *gemini) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var op geminiOperation
	if err := g.api.Elements(ctx, provider.Call{Path: resource(g.version, job.ID)},
		provider.Document{Lists: inlineLists(), Rest: &op}); err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	return kept(op.status(), g.limits), nil
}

// Fetch downloads the result file. Results inside the operation, as in jobs made by other clients, are copied out.
func (g *gemini) Fetch(ctx context.Context, job provider.Job, part provider.Part, into provider.Sink) error {
	if part.Ref != inlinePart {
		call := provider.Call{Path: resource(g.version, part.Ref) + ":download", Query: url.Values{"alt": {"media"}}}
		err := g.api.Download(ctx, call, part.Whole(), into)
		if missing(err) {
			err = &assay.Fault{Class: assay.FaultGone, Code: "no_results", Message: err.Error()}
		}
		if err != nil {
			return fmt.Errorf("fetch results: %w", err)
		}
		return nil
	}
	out, err := provider.NewLines(part, into)
	if err != nil {
		return err
	}
	err = g.api.Elements(ctx, provider.Call{Path: resource(g.version, job.ID)},
		provider.Document{Lists: inlineLists()[:1], Each: out.Write})
	if err != nil {
		return fmt.Errorf("fetch results: %w", err)
	}
	return out.Close()
}

// Decode reads lines with a key.
func (g *gemini) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Cancel asks for the end of the batch.
func (g *gemini) Cancel(ctx context.Context, job provider.Job) error {
	return post(ctx, g.api, resource(g.version, job.ID)+":cancel")
}

// Remove deletes the uploaded file, which counts against a small quota. Results go by themselves.
func (g *gemini) Remove(ctx context.Context, job provider.Job) error {
	var hold geminiHandle
	job.Handle.Read(&hold)
	if hold.File == "" {
		return nil
	}
	if err := remove(ctx, g.api, resource(g.version, hold.File)); err != nil && !missing(err) {
		return err
	}
	return nil
}

// Fence deletes the uploaded file: no batch is made of what is not there.
func (g *gemini) Fence(ctx context.Context, h provider.Handle) error {
	return g.Remove(ctx, provider.Job{Handle: h})
}

// List walks the batches, in no promised order.
func (g *gemini) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		q := url.Values{"pageSize": {"100"}}
		if after != "" {
			q.Set("pageToken", after)
		}
		var l geminiOperations
		if _, err := g.api.JSON(ctx, provider.Call{Path: provider.Path(g.version, "batches"), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		p := page{next: l.Next}
		for _, op := range l.Operations {
			p.jobs = append(p.jobs, listed(op.status()))
		}
		return p, nil
	})
}

// Find matches the display name.
func (g *gemini) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	return provider.Trail{Jobs: g.List(ctx), Match: sameName(s)}.Stamped(s)
}

// bareModel returns a model's name without the collection it may be written with.
func bareModel(name string) string { return strings.TrimPrefix(name, "models/") }

// inlinePart is the address of results inside the operation.
const inlinePart = "inline"

// inlineLists returns the paths of results inside the operation, which may be at two places.
func inlineLists() [][]string {
	return [][]string{
		{"response", "inlinedResponses", "inlinedResponses"},
		{"metadata", "output", "inlinedResponses", "inlinedResponses"},
	}
}

// Made returns the operation's name.
func (op *geminiOperation) Made() (string, time.Time) { return op.Name, op.Metadata.Created.Time }

// Valid wants a name.
func (op *geminiOperation) Valid() bool { return op.Name != "" }

// status converts the operation. A batch that succeeded shows its results a little later: until then it is ending.
func (op *geminiOperation) status() provider.Status {
	m := op.Metadata
	s := provider.Status{
		Job: op.Name, Name: m.DisplayName, Word: m.State, State: googleState(m.State), Model: bareModel(m.Model),
		Input: m.Input.File, Created: m.Created.Time, Ended: m.Ended.Time,
		Counts: provider.Counts{
			Known: m.Stats.Requests > 0, Total: int64(m.Stats.Requests), Succeeded: int64(m.Stats.Succeeded),
			Failed: int64(m.Stats.Failed), Pending: int64(m.Stats.Pending),
		},
	}
	s.Stamp, _ = provider.ParseName(m.DisplayName)
	switch file := cmp.Or(op.Response.File, m.Output.File); {
	case file != "":
		s.Parts = []provider.Part{{Name: "results", Kind: provider.PartResults, Ref: file}}
	case op.Response.Inline != nil:
		s.Parts = []provider.Part{{Name: "results", Kind: provider.PartResults, Ref: inlinePart}}
	case s.State == provider.StateEnded:
		s.State = provider.StateEnding
	case s.State == provider.StateExpired: // it hands out nothing of what it did
		s.Counts = provider.Counts{Known: true, Total: s.Counts.Total, Expired: s.Counts.Total}
	}
	if len(op.Error) > 0 && s.State.Terminal() && s.State != provider.StateEnded {
		s.Fault = new(dialect.Classify(0, op.Error))
	} else if s.State == provider.StateFailed {
		s.Fault = &assay.Fault{Class: assay.FaultUnknown, Code: "batch_failed"}
	}
	return s
}

// googleState reads BATCH_STATE_… and JOB_STATE_… alike.
func googleState(word string) provider.State {
	_, name, _ := strings.Cut(word, "_STATE_")
	switch name {
	case "PENDING", "QUEUED", "PAUSED", "VALIDATING", "CREATING":
		return provider.StateQueued
	case "RUNNING", "UPDATING":
		return provider.StateRunning
	case "CANCELLING":
		return provider.StateEnding
	case "SUCCEEDED", "PARTIALLY_SUCCEEDED":
		return provider.StateEnded
	case "FAILED":
		return provider.StateFailed
	case "CANCELLED":
		return provider.StateCancelled
	case "EXPIRED":
		return provider.StateExpired
	}
	return provider.StateUnknown
}

type geminiCreate struct {
	Batch struct {
		DisplayName string      `json:"displayName"`
		Input       geminiInput `json:"inputConfig"`
	} `json:"batch"`
}

type geminiInput struct {
	File string `json:"fileName"`
}

type geminiOutput struct {
	File   string          `json:"responsesFile"`
	Inline json.RawMessage `json:"inlinedResponses"`
}

type geminiOperation struct {
	Name     string          `json:"name"`
	Error    json.RawMessage `json:"error"`
	Response geminiOutput    `json:"response"`
	Metadata struct {
		State       string          `json:"state"`
		DisplayName string          `json:"displayName"`
		Model       string          `json:"model"`
		Input       geminiInput     `json:"inputConfig"`
		Output      geminiOutput    `json:"output"`
		Created     provider.Moment `json:"createTime"`
		Ended       provider.Moment `json:"endTime"`
		Stats       struct {
			Requests  provider.Number `json:"requestCount"`
			Succeeded provider.Number `json:"successfulRequestCount"`
			Failed    provider.Number `json:"failedRequestCount"`
			Pending   provider.Number `json:"pendingRequestCount"`
		} `json:"batchStats"`
	} `json:"metadata"`
}

// geminiOperations leaves the list out when it is empty, as it leaves out every empty field.
type geminiOperations struct {
	Operations []geminiOperation `json:"operations"`
	Next       string            `json:"nextPageToken"`
	Error      json.RawMessage   `json:"error"`
}

// Valid is false for an error.
func (l *geminiOperations) Valid() bool { return l.Error == nil }
