package apis

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// openTogether opens Together.
func openTogether(cfg provider.Config) (provider.Account, error) {
	return openBearer(cfg, func(j jobAPI) provider.Provider { return &together{j} })
}

// together drives jobs made of a file, whose bytes go to a signed place elsewhere. A job keeps no mark of ours but the
// id of its file, and the file keeps the name we gave it.
type together struct {
	jobAPI
}

// Prepare asks for a signed place, sends the bytes there without the key, and then looks whether the file has arrived.
func (t *together) Prepare(ctx context.Context, p provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	var hold fileHandle
	h.Read(&hold)
	if hold.Ready {
		return h, provider.Ready, nil
	}
	if hold.File != "" {
		return t.arrived(ctx, p, h, hold)
	}
	id, place, err := t.createFile(ctx, p)
	if err != nil {
		return h, "", err
	}
	body, err := p.Body.From(0)
	if err != nil {
		return h, "", err
	}
	_, err = t.api.JSON(ctx, provider.Call{
		Method: http.MethodPut, Foreign: place, Type: "application/octet-stream", Body: body, Length: p.Body.Size,
	}, nil)
	if err != nil {
		return h, "", fmt.Errorf("upload: %w", err)
	}
	return provider.NewHandle(fileHandle{File: id}), provider.Again, nil
}

// createFile makes the file object, and returns the address its bytes go to: that of the redirect that answers, which is not followed.
func (t *together) createFile(ctx context.Context, p provider.BatchInput) (id, location string, err error) {
	q := url.Values{"file_name": {p.Stamp.Name() + ".jsonl"}, "file_type": {"jsonl"}, "purpose": {"batch-api"}}
	resp, err := t.api.Do(ctx, provider.Call{
		Method: http.MethodPost, Path: provider.Path("files"), Query: q,
		Type: "application/x-www-form-urlencoded", Accept: []int{http.StatusFound},
	})
	if err != nil {
		return "", "", fmt.Errorf("ask where to upload: %w", err)
	}
	resp.Body.Close()
	id, location = resp.Header.Get("X-Together-File-Id"), resp.Header.Get("Location")
	if id == "" || location == "" {
		return "", "", provider.BadAnswer("ask where to upload: the answer names no file and place")
	}
	return id, location, nil
}

// arrived reports whether the file is there in its whole size: one that was cut in transfer is uploaded again.
func (t *together) arrived(ctx context.Context, p provider.BatchInput, h provider.Handle,
	hold fileHandle) (provider.Handle, provider.Readiness, error) {
	var f openAIFile
	_, err := t.api.JSON(ctx, provider.Call{Path: provider.Path("files", hold.File)}, &f)
	switch {
	case gone(err):
		return anew, provider.Later, nil
	case err != nil:
		return h, "", fmt.Errorf("look at the uploaded file: %w", err)
	case f.Bytes != 0 && int64(f.Bytes) != p.Body.Size:
		return anew, "", fmt.Errorf("upload: %w", &assay.Fault{
			Class: assay.FaultBusy, Code: "truncated", Message: fmt.Sprintf("%d of %d bytes arrived", f.Bytes, p.Body.Size),
		})
	}
	hold.Ready = true
	return provider.NewHandle(hold), provider.Ready, nil
}

// Launch creates the batch.
func (t *together) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold fileHandle
	h.Read(&hold)
	if hold.File == "" {
		return provider.Unprepared()
	}
	answer := &togetherMade{}
	r := launchJSON(ctx, t.api, provider.Path("batches"),
		openAICreate{Input: hold.File, Endpoint: p.Wire.URL, Window: window(t.limits)}, answer)
	r.Warning = clean(string(answer.Warning))
	return r
}

// Check reads the batch. One of our own file has our stamp: the name that the file keeps.
func (t *together) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b togetherJob
	if _, err := t.api.JSON(ctx, provider.Call{Path: provider.Path("batches", job.ID)}, &b); err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	st := kept(b.status(), t.limits)
	var hold fileHandle
	if job.Handle.Read(&hold); hold.File != "" && hold.File == st.Input {
		st.Stamp = job.Stamp
	}
	return st, nil
}

// Fetch reads a file.
func (t *together) Fetch(ctx context.Context, _ provider.Job, part provider.Part, into provider.Sink) error {
	return fetchFile(ctx, t.api, provider.Path("files", part.Ref), part, into)
}

// Decode reads lines of the OpenAI shape.
func (t *together) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Cancel asks for the end of the batch.
func (t *together) Cancel(ctx context.Context, job provider.Job) error {
	if err := post(ctx, t.api, provider.Path("batches", job.ID, "cancel")); err != nil && !conflict(err) { // it has ended
		return err
	}
	return nil
}

// Remove deletes the input file and the result files.
func (t *together) Remove(ctx context.Context, job provider.Job) error {
	var b togetherJob
	if _, err := t.api.JSON(ctx, provider.Call{Path: provider.Path("batches", job.ID)}, &b); err != nil && !gone(err) {
		return fmt.Errorf("remove: %w", err)
	}
	return removeFiles(ctx, t.api, b.Input, b.Output, b.ErrorFile)
}

// Fence deletes the uploaded file: a batch that is made of it then fails.
func (t *together) Fence(ctx context.Context, h provider.Handle) error {
	return fenceFile(ctx, t.api, h, filePath)
}

// List returns the one page there is, in no promised order. The names of the input files give the stamps.
func (t *together) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return func(yield func(provider.Status, error) bool) {
		var jobs togetherJobs
		if _, err := t.api.JSON(ctx, provider.Call{Path: provider.Path("batches")}, &jobs); err != nil {
			yield(provider.Status{}, fmt.Errorf("list: %w", err))
			return
		}
		var files togetherFiles
		if _, err := t.api.JSON(ctx, provider.Call{Path: provider.Path("files")}, &files); err != nil {
			yield(provider.Status{}, fmt.Errorf("list files: %w", err))
			return
		}
		names := make(map[string]string, len(files.Data))
		for _, f := range files.Data {
			names[f.ID] = strings.TrimSuffix(f.Name, ".jsonl")
		}
		for _, b := range jobs {
			s := b.status()
			s.Parts, s.Name = nil, names[b.Input]
			s.Stamp, _ = provider.ParseName(s.Name)
			if !yield(s, nil) {
				return
			}
		}
		if fullPage(len(jobs)) || fullPage(len(files.Data)) {
			yield(provider.Status{}, provider.Partial("it has no pages, and as many entries as a full one"))
		}
	}
}

// Stamped is true: the name of the input file is the stamp.
func (t *together) Stamped() bool { return true }

// Cursor is empty: the list has no order, and is read whole.
func (t *together) Cursor(context.Context) (string, error) { return "", nil }

// Find matches the name of the input file, or its id.
func (t *together) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	return provider.Trail{Jobs: t.List(ctx), Match: sameInput(s)}.Stamped(s)
}

// Made returns the id and the time of the job that was made: a reply has it in a wrapper, or bare.
func (m *togetherMade) Made() (string, time.Time) {
	if m.Job.ID != "" {
		return m.Job.ID, m.Job.Created.Time
	}
	return m.ID, time.Time{}
}

// Valid reports whether there is an id in either place.
func (m *togetherMade) Valid() bool { return m.Job.ID != "" || m.ID != "" }

// Valid reports whether there is an id.
func (b *togetherJob) Valid() bool { return b.ID != "" }

// status converts the batch. There are no counts.
func (b *togetherJob) status() provider.Status {
	s := provider.Status{
		Job: b.ID, Word: b.Status, State: fileState(b.Status), Model: b.Model, Input: b.Input,
		Created: b.Created.Time, Ended: b.Completed.Time, Expires: b.Deadline.Time,
		Parts: fileParts(b.Output, b.ErrorFile),
	}
	if s.State == provider.StateFailed {
		s.Fault = (&openAIError{Code: "batch_failed", Message: b.Error}).fault()
		if message := strings.ToLower(string(b.Error)); strings.Contains(message, "file") &&
			(strings.Contains(message, "not find") || strings.Contains(message, "cannot find") || strings.Contains(message, "not found")) {
			s.Fault.Class = assay.FaultGone // a file that is missing is found out only now
		}
	}
	return s
}

type togetherMade struct {
	Job     togetherJob   `json:"job"`
	Warning provider.Text `json:"warning"`
	ID      string        `json:"id"`
}

type togetherJob struct {
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Model     string          `json:"model_id"`
	Input     string          `json:"input_file_id"`
	Output    string          `json:"output_file_id"`
	ErrorFile string          `json:"error_file_id"`
	Error     provider.Text   `json:"error"`
	Created   provider.Moment `json:"created_at"`
	Completed provider.Moment `json:"completed_at"`
	Deadline  provider.Moment `json:"job_deadline"`
}

// togetherJobs is a bare list.
type togetherJobs []togetherJob

// Valid reports whether there is a list, be it empty.
func (l *togetherJobs) Valid() bool { return *l != nil }

type togetherFiles struct {
	Data []openAIFile `json:"data"`
}

// Valid reports whether there is a list, be it empty.
func (l *togetherFiles) Valid() bool { return l.Data != nil }
