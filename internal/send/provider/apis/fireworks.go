package apis

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/send/provider"
)

// openFireworks opens Fireworks. Batches belong to an account, whose id a key does not show.
func openFireworks(cfg provider.Config) (provider.Account, error) {
	api, err := provider.NewClient(cfg, provider.Bearer(cfg.Key))
	if err != nil {
		return provider.Account{}, err
	}
	live := &asker{api: api, path: fixed("inference", "v1", "chat", "completions"), models: "/inference/v1/models"}
	if cfg.Account == "" {
		return account(cfg, unfit("Fireworks batches need the account's id (account: …)", cfg.Limits), live), nil
	}
	return account(cfg, &fireworks{jobAPI: jobAPI{api, cfg.Limits}, account: cfg.Account}, live), nil
}

// fireworks drives jobs that read one dataset and write another. All their ids are ours: what a launch has made is found
// by asking for it.
type fireworks struct {
	jobAPI
	account string
}

// Prepare makes the dataset, uploads the lines into it, and asks until it is ready.
func (f *fireworks) Prepare(ctx context.Context, p provider.BatchInput, h provider.Handle) (provider.Handle, provider.Readiness, error) {
	id := p.Stamp.Short()
	var d fireworksDataset
	_, err := f.api.JSON(ctx, provider.Call{Path: f.path("datasets", id)}, &d)
	switch state := strings.ToUpper(d.State); {
	case gone(err):
		return f.make(ctx, p, h, id)
	case err != nil:
		return h, "", fmt.Errorf("look at the dataset: %w", err)
	case state == "READY":
		return provider.NewHandle(fileHandle{File: id, Ready: true}), provider.Ready, nil
	case state != "UPLOADING":
		return anew, "", fmt.Errorf("upload: %w", &assay.Fault{Class: assay.FaultInvalid, Code: "dataset_state", Message: clean(d.State)})
	}
	var hold fileHandle
	if h.Read(&hold); hold.File == id { // sent before this call: the provider is looking at it
		return h, provider.Later, nil
	}
	form := batchForm(p)
	form.Fields = nil
	if err := upload(ctx, f.api, form, f.path("datasets", id)+":upload", nil); err != nil {
		return h, "", err
	}
	return provider.NewHandle(fileHandle{File: id}), provider.Again, nil
}

// make makes an empty dataset. The number of examples has to be given, as a text.
func (f *fireworks) make(ctx context.Context, p provider.BatchInput, h provider.Handle,
	id string) (provider.Handle, provider.Readiness, error) {
	var body fireworksMake
	body.ID, body.Dataset.Count = id, strconv.Itoa(p.Count)
	call, err := postJSON(f.path("datasets"), body)
	if err != nil {
		return h, "", err
	}
	_, err = f.api.JSON(ctx, call, nil)
	switch {
	case conflict(err): // it is there, and does not show yet
		return anew, provider.Later, nil
	case err != nil:
		return h, "", fmt.Errorf("make the dataset: %w", err)
	}
	return anew, provider.Again, nil
}

func conflict(err error) bool {
	f := provider.FaultOf(err)
	return f != nil && f.Status == http.StatusConflict
}

// Launch creates the job under an id of ours. That it is there already is not taken for success: Find will see.
func (f *fireworks) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold fileHandle
	h.Read(&hold)
	if hold.File == "" {
		return provider.Unprepared()
	}
	call, err := postJSON(f.path("batchInferenceJobs"), fireworksJob{
		Model: p.Model, DisplayName: p.Stamp.Name(), Input: f.dataset(hold.File), Output: f.dataset(hold.File + "-out"),
	})
	if err != nil {
		return provider.NotSent(err)
	}
	call.Query = url.Values{"batchInferenceJobId": {p.Stamp.Name()}}
	return f.api.Launch(ctx, call, &fireworksJob{})
}

func (f *fireworks) dataset(id string) string { return "accounts/" + f.account + "/datasets/" + id }

// Check reads the job; once it has ended, it asks which files there are. A job that was cancelled is deleted: what it
// had written stays in the dataset that we named for it.
func (f *fireworks) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b fireworksJob
	var hold fileHandle
	job.Handle.Read(&hold)
	_, err := f.api.JSON(ctx, provider.Call{Path: f.path("batchInferenceJobs", job.ID)}, &b)
	if err != nil && (!gone(err) || hold.File == "") {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	s, dataset := b.status(), path.Base(b.Output)
	if err != nil {
		s = provider.Status{Job: job.ID, State: provider.StateCancelled, Word: "deleted", Stamp: job.Stamp, Model: job.Model}
		dataset = hold.File + "-out"
	} else if !s.State.Terminal() || b.Output == "" {
		return s, nil
	}
	files, ferr := f.files(ctx, dataset)
	if ferr != nil && (!gone(ferr) || err != nil) {
		return provider.Status{}, fmt.Errorf("check: %w", ferr)
	}
	s.Parts = datasetParts(dataset, files)
	return s, nil
}

// datasetParts returns the files of a dataset, in the order of their names.
func datasetParts(dataset string, files map[string]string) []provider.Part {
	var parts []provider.Part
	for _, name := range slices.Sorted(maps.Keys(files)) {
		kind := provider.PartResults
		if strings.Contains(path.Base(name), "error") {
			kind = provider.PartErrors
		}
		parts = append(parts, provider.Part{Name: path.Base(name), Kind: kind, Ref: dataset + " " + name})
	}
	return parts
}

// files names the files of a dataset, each with a signed URL that holds for some minutes. A body here would be an error.
func (f *fireworks) files(ctx context.Context, dataset string) (map[string]string, error) {
	var d fireworksDownload
	if _, err := f.api.JSON(ctx, provider.Call{Path: f.path("datasets", dataset) + ":getDownloadEndpoint"}, &d); err != nil {
		return nil, fmt.Errorf("ask where the results are: %w", err)
	}
	return d.URLs, nil
}

// Fetch asks for a fresh signed URL and downloads from there, without the key.
func (f *fireworks) Fetch(ctx context.Context, _ provider.Job, part provider.Part, into provider.Sink) error {
	dataset, name, _ := strings.Cut(part.Ref, " ")
	files, err := f.files(ctx, dataset)
	if err != nil {
		return err
	}
	place := files[name]
	if place == "" {
		return fmt.Errorf("fetch %s: %w", part.Name, &assay.Fault{Class: assay.FaultGone, Code: "no_file"})
	}
	if err := f.api.Download(ctx, provider.Call{Foreign: place}, part.Whole(), into); err != nil {
		return fmt.Errorf("fetch %s: %w", part.Name, err)
	}
	return nil
}

// Decode reads lines whose response is the completion itself.
func (f *fireworks) Decode(job provider.Job, _ provider.Part, r io.Reader) iter.Seq2[provider.Line, error] {
	return provider.DecodeLines(job.Wire, r)
}

// Cancel deletes the job, which is the only way to stop it.
func (f *fireworks) Cancel(ctx context.Context, job provider.Job) error {
	return remove(ctx, f.api, f.path("batchInferenceJobs", job.ID))
}

// Remove deletes both datasets.
func (f *fireworks) Remove(ctx context.Context, job provider.Job) error {
	var hold fileHandle
	if job.Handle.Read(&hold); hold.File == "" {
		return nil
	}
	for _, id := range []string{hold.File, hold.File + "-out"} {
		if err := remove(ctx, f.api, f.path("datasets", id)); err != nil {
			return err
		}
	}
	return nil
}

// Fence deletes the dataset: no job reads what is not there.
func (f *fireworks) Fence(ctx context.Context, h provider.Handle) error {
	return fenceFile(ctx, f.api, h, func(id string) string { return f.path("datasets", id) })
}

// List walks the jobs of the account.
func (f *fireworks) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		q := url.Values{"pageSize": {"200"}}
		if after != "" {
			q.Set("pageToken", after)
		}
		var l fireworksJobs
		if _, err := f.api.JSON(ctx, provider.Call{Path: f.path("batchInferenceJobs"), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		p := page{next: l.Next}
		for _, b := range l.Jobs {
			p.jobs = append(p.jobs, b.status())
		}
		return p, nil
	})
}

// Stamped is true: the id of a job is the stamp.
func (f *fireworks) Stamped() bool { return true }

// Cursor is empty: a job is asked for by its id.
func (f *fireworks) Cursor(context.Context) (string, error) { return "", nil }

// Find asks for the jobs by the ids that we gave them: this attempt's, and those of the attempts before.
func (f *fireworks) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	jobs := func(yield func(provider.Status, error) bool) {
		for _, stamp := range s.Stamp.Attempts() {
			var b fireworksJob
			_, err := f.api.JSON(ctx, provider.Call{Path: f.path("batchInferenceJobs", stamp.Name())}, &b)
			if gone(err) {
				continue
			}
			if err != nil {
				yield(provider.Status{}, fmt.Errorf("find: %w", err))
				return
			}
			st := b.status()
			st.Stamp = stamp
			if !yield(st, nil) {
				return
			}
		}
	}
	return provider.Trail{Jobs: jobs, Match: func(provider.Status) bool { return true }}.Stamped(s)
}

func (f *fireworks) path(rest ...string) string {
	return provider.Path(append([]string{"v1", "accounts", f.account}, rest...)...)
}

// Made returns the last part of the job's name, which is the id that we gave it.
func (b *fireworksJob) Made() (string, time.Time) {
	if b.Name == "" {
		return "", time.Time{}
	}
	return path.Base(b.Name), b.Created.Time
}

// Valid wants a name.
func (b *fireworksJob) Valid() bool { return b.Name != "" }

func (b *fireworksJob) status() provider.Status {
	n := b.Progress
	s := provider.Status{
		Job: path.Base(b.Name), Name: b.DisplayName, Word: b.State, State: fireworksState(b.State), Model: b.Model,
		Input: path.Base(b.Input), Created: b.Created.Time, Expires: b.Expires.Time,
	}
	s.Stamp, _ = provider.ParseName(b.DisplayName)
	if total := int64(n.Total); total > 0 {
		s.Counts = provider.Counts{Known: true, Total: total, Succeeded: int64(n.Succeeded), Failed: int64(n.Failed)}
		if !s.State.Terminal() {
			s.Counts.Pending = max(0, total-s.Counts.Done())
		}
	}
	if s.State == provider.StateFailed {
		f := dialect.Classify(0, []byte(b.Status.Message))
		f.Code = cmp.Or(string(b.Status.Code), "batch_failed")
		s.Fault = &f
	}
	return s
}

// fireworksState reads JOB_STATE_….
func fireworksState(word string) provider.State {
	switch strings.TrimPrefix(word, "JOB_STATE_") {
	case "VALIDATING", "PENDING", "CREATING", "CREATING_INPUT_DATASET", "RE_QUEUEING", "IDLE", "PAUSED":
		return provider.StateQueued
	case "RUNNING":
		return provider.StateRunning
	case "WRITING_RESULTS", "CANCELLING", "DELETING", "DELETING_CLEANING_UP":
		return provider.StateEnding
	case "COMPLETED", "EARLY_STOPPED", "ARCHIVED":
		return provider.StateEnded
	case "FAILED":
		return provider.StateFailed
	case "EXPIRED":
		return provider.StateExpired
	case "CANCELLED":
		return provider.StateCancelled
	}
	return provider.StateUnknown
}

type fireworksMake struct {
	ID      string `json:"datasetId"`
	Dataset struct {
		UserUploaded struct{} `json:"userUploaded"`
		Count        string   `json:"exampleCount"`
	} `json:"dataset"`
}

type fireworksDataset struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// Valid wants a state.
func (d *fireworksDataset) Valid() bool { return d.State != "" }

type fireworksDownload struct {
	URLs map[string]string `json:"filenameToSignedUrls"`
}

// Valid wants the map.
func (d *fireworksDownload) Valid() bool { return d.URLs != nil }

type fireworksJob struct {
	Name        string          `json:"name,omitempty"`
	Model       string          `json:"model"`
	DisplayName string          `json:"displayName,omitempty"`
	Input       string          `json:"inputDatasetId"`
	Output      string          `json:"outputDatasetId,omitempty"`
	State       string          `json:"state,omitempty"`
	Created     provider.Moment `json:"createTime,omitzero"`
	Expires     provider.Moment `json:"expireTime,omitzero"`
	Status      struct {
		Code    provider.Text `json:"code"`
		Message provider.Text `json:"message"`
	} `json:"status,omitzero"`
	Progress struct {
		Total     provider.Number `json:"totalInputRequests"`
		Succeeded provider.Number `json:"successfullyProcessedRequests"`
		Failed    provider.Number `json:"failedRequests"`
	} `json:"jobProgress,omitzero"`
}

type fireworksJobs struct {
	Jobs    []fireworksJob `json:"batchInferenceJobs"`
	Next    string         `json:"nextPageToken"`
	Error   provider.Text  `json:"error"`
	Message provider.Text  `json:"message"`
}

// Valid is false for an error.
func (l *fireworksJobs) Valid() bool { return l.Error == "" && l.Message == "" }
