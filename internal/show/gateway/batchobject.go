package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/show/gateway/drive"
	"assay/internal/show/gateway/openai"
)

// batchObject is a batch as clients see it.
type batchObject struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	Endpoint   string            `json:"endpoint"`
	Model      *string           `json:"model"`
	Errors     *batchErrors      `json:"errors"`
	Input      string            `json:"input_file_id"`
	Window     string            `json:"completion_window"`
	Status     string            `json:"status"`
	Output     *string           `json:"output_file_id"`
	ErrorFile  *string           `json:"error_file_id"`
	Created    int64             `json:"created_at"`
	InProgress *int64            `json:"in_progress_at"`
	Expires    *int64            `json:"expires_at"`
	Finalizing *int64            `json:"finalizing_at"`
	Completed  *int64            `json:"completed_at"`
	Failed     *int64            `json:"failed_at"`
	Expired    *int64            `json:"expired_at"`
	Cancelling *int64            `json:"cancelling_at"`
	Cancelled  *int64            `json:"cancelled_at"`
	Counts     batchCounts       `json:"request_counts"`
	Usage      *batchUsage       `json:"usage,omitempty"`
	Metadata   map[string]string `json:"metadata"`
	Waiting    string            `json:"waiting_for,omitempty"` // not OpenAI's: what an open batch waits for that does not come by itself
}

type batchErrors struct {
	Object string       `json:"object"`
	Data   []batchError `json:"data"`
}

type batchError struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param"`
	Line    *int    `json:"line"`
}

type batchCounts struct {
	Total     int64 `json:"total"`
	Completed int64 `json:"completed"`
	Failed    int64 `json:"failed"`
}

type batchUsage struct {
	Input        int64 `json:"input_tokens"`
	InputDetails struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int64 `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}

func seconds(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.Unix())
}

// batch returns the state of a run in OpenAI's form.
func (s *Server) batch(ctx context.Context, run store.Run) (*batchObject, error) {
	b, _ := batchrun.Of(run)
	o := &batchObject{ID: drive.Prefix + run.ID, Object: "batch", Endpoint: b.Client.Endpoint, Input: b.Client.File,
		Window: b.Client.Window, Created: run.Created.Unix(), Expires: seconds(run.Created.Add(drive.Window(b.Client.Window))),
		Metadata: b.Client.Metadata}
	if len(b.File.Lanes) == 1 {
		o.Model = &b.File.Lanes[0].Name
	}
	if len(b.Client.Broken) > 0 {
		o.Status, o.Failed, o.Errors = "failed", seconds(run.Created), brokenBatch(b.Client)
		return o, nil
	}
	counts, err := s.Home.Batches().Counts(ctx, run)
	if err != nil {
		return nil, err
	}
	o.Counts, o.InProgress = batchCounts(counts), seconds(run.Created)
	stops, err := s.Home.Ledger.Reader.OrdersOf(ctx, run.No, store.OrderCancel)
	if err != nil {
		return nil, err
	}
	if len(stops) > 0 {
		o.Cancelling = seconds(stops[0].Given)
	}
	switch {
	case run.State == store.RunOpen && len(stops) > 0:
		o.Status = "cancelling"
	case run.State == store.RunOpen:
		o.Status = "in_progress"
	default:
		return o, s.ended(ctx, run, stops, o)
	}
	o.Waiting, err = s.driver.WaitsFor(ctx, run)
	return o, err
}

func brokenBatch(c *batchrun.Client) *batchErrors {
	out := &batchErrors{Object: "list"}
	for _, r := range c.Broken {
		e := batchError{Code: r.Code, Message: r.Message}
		if r.Param != "" {
			e.Param = &r.Param
		}
		if r.Line > 0 {
			e.Line = &r.Line
		}
		out.Data = append(out.Data, e)
	}
	return out
}

// ended completes a batch whose run is closed: it is over when its results are written.
func (s *Server) ended(ctx context.Context, run store.Run, stops []store.Order, o *batchObject) error {
	o.Finalizing = seconds(run.Closed)
	files, err := s.Home.Ledger.Clients.ClientFilesOf(ctx, run.No)
	if err != nil {
		return err
	}
	for _, f := range files {
		switch f.ID {
		case drive.OutputID(run):
			o.Output = &f.ID
		case drive.ErrorsID(run):
			o.ErrorFile = &f.ID
		}
	}
	if o.Output == nil && o.ErrorFile == nil {
		o.Status = "finalizing"
		return nil
	}
	switch stopped := len(stops) > 0 && run.Result == store.ResultCancelled; {
	case stopped && stops[0].By == drive.ByWindow:
		o.Status, o.Expired, o.Cancelling = "expired", seconds(run.Closed), nil
	case stopped && stops[0].By != drive.ByBudget:
		o.Status, o.Cancelled = "cancelled", seconds(run.Closed)
	default:
		o.Status, o.Completed = "completed", seconds(run.Closed)
	}
	segments, err := s.Home.Ledger.Reader.Segments(ctx, run.No)
	o.Usage = usageOf(segments)
	return err
}

// usageOf sums the usage of replies; nil: some reported none.
func usageOf(all []store.Segment) *batchUsage {
	u := &batchUsage{}
	for _, g := range all {
		if g.UsageUnknown > 0 {
			return nil
		}
		u.Input, u.Output = u.Input+g.InputTokens, u.Output+g.OutputTokens
		u.InputDetails.Cached += g.CachedTokens
		u.OutputDetails.Reasoning += g.Reasoning
	}
	u.Total = u.Input + u.Output
	return u
}

// run finds a batch of a user by its id.
func (s *Server) run(ctx context.Context, u *User, id string) (store.Run, error) {
	none := openai.Wrong(http.StatusNotFound, "", "", "No batch found with id '%s'.", assay.Clean(id, 80))
	name, ok := strings.CutPrefix(id, drive.Prefix)
	if !ok || name == "" {
		return store.Run{}, none
	}
	run, err := s.Home.Ledger.Reader.FindRun(ctx, name, "")
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrAmbiguous) {
		return run, none
	}
	if err != nil {
		return run, err
	}
	b, ok := batchrun.Of(run)
	if !ok || b.Client == nil || run.ID != name || run.By != u.Name || run.State == store.RunPreparing {
		return run, none
	}
	return run, nil
}

func (s *Server) retrieveBatch(ctx context.Context, c *call) (any, error) {
	run, err := s.run(ctx, c.user, c.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return s.batch(ctx, run)
}

func (s *Server) listBatches(ctx context.Context, c *call) (any, error) {
	limit, after, err := openai.Paging(c.URL.Query(), 20, 100)
	if err != nil {
		return nil, err
	}
	all, err := s.driver.Runs(ctx, c.user.Name, store.RunOpen, store.RunClosed)
	if err != nil {
		return nil, err
	}
	if after != "" {
		from := 0
		for i, run := range all {
			if drive.Prefix+run.ID == after {
				from = i + 1
			}
		}
		if from == 0 {
			return nil, openai.Wrong(http.StatusNotFound, "", "after", "No batch found with id '%s'.", assay.Clean(after, 80))
		}
		all = all[from:]
	}
	out := openai.List[*batchObject]{Object: "list", Data: []*batchObject{}, HasMore: len(all) > limit}
	for _, run := range all[:min(limit, len(all))] {
		b, err := s.batch(ctx, run)
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, b)
	}
	if n := len(out.Data); n > 0 {
		out.FirstID, out.LastID = &out.Data[0].ID, &out.Data[n-1].ID
	}
	return out, nil
}

// cancelBatch orders that a batch is stopped; finished work is kept. One that has ended is left alone.
func (s *Server) cancelBatch(ctx context.Context, c *call) (any, error) {
	run, err := s.run(ctx, c.user, c.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if run.State == store.RunOpen {
		stops, err := s.Home.Ledger.Reader.OrdersOf(ctx, run.No, store.OrderCancel)
		if err != nil {
			return nil, err
		}
		if len(stops) == 0 {
			if _, err := s.Home.Ledger.Runs.PutOrder(ctx,
				store.Order{Run: run.No, Kind: store.OrderCancel, Args: "{}", By: c.user.Name}); err != nil {
				return nil, err
			}
			s.driver.Look()
		}
		return s.batch(ctx, run)
	}
	o, err := s.batch(ctx, run)
	if err != nil {
		return nil, err
	}
	return nil, openai.Wrong(http.StatusBadRequest, "", "", "Cannot cancel a batch with status '%s'.", o.Status)
}
