package apis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/send/provider"
)

// openVertex opens Vertex AI. A key is taken for a bearer token; without one, Google's default credentials are used.
func openVertex(cfg provider.Config) (provider.Account, error) {
	if cfg.Project == "" || cfg.Location == "" {
		return provider.Account{}, errors.New("a project and a location are needed")
	}
	cfg.BaseURL = vertexURL(cfg.BaseURL, cfg.Location)
	if cfg.Version == "" {
		cfg.Version = "v1"
	}
	auth := googleAuth(cfg)
	api, err := provider.NewClient(cfg, auth)
	if err != nil {
		return provider.Account{}, err
	}
	parent := []string{cfg.Version, "projects", cfg.Project, "locations", cfg.Location}
	ask := func(r *assay.Request) string {
		return provider.Path(append(parent[:5:5], "publishers", "google", "models", bareModel(r.Lane.Model)+":generateContent")...)
	}
	a := provider.Account{BaseURL: cfg.BaseURL, Live: &asker{api: api, path: ask}}
	if cfg.Input == "" || cfg.Output == "" {
		a.Batch = unfit("Vertex batches need input and output folders (input: gs://…, output: gs://…)", cfg.Limits)
		return a, nil
	}
	store, err := googleBuckets(cfg, auth)
	if err != nil {
		return provider.Account{}, err
	}
	a.Batch = &vertex{bucketJobs: newBucketJobs(cfg, api, store), parent: parent, version: cfg.Version}
	return a, nil
}

// vertexURL fills the region into the base URL. Some regions have a host of another form.
func vertexURL(base, location string) string {
	if base != "" && !strings.Contains(base, "{location}") {
		return base
	}
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// googleLogin makes credentials.
const googleLogin = "`gcloud auth application-default login` makes credentials; GOOGLE_APPLICATION_CREDENTIALS names a file of them"

// googleAuth puts a token into the header. The credentials are looked for at the first call, and renew themselves.
func googleAuth(cfg provider.Config) provider.Auth {
	if !cfg.Key.Empty() {
		return provider.Bearer(cfg.Key)
	}
	find := sync.OnceValues(func() (oauth2.TokenSource, error) {
		ctx := context.Background() // outlives the call that comes first
		ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: cfg.HTTP, Timeout: cmp.Or(cfg.Deadline, time.Minute)})
		return google.DefaultTokenSource(ctx, "https://www.googleapis.com/auth/cloud-platform")
	})
	return func(_ context.Context, h http.Header) error {
		source, err := find()
		if err != nil {
			return fmt.Errorf("find Google credentials: %w: %w", err,
				&assay.Fault{Class: assay.FaultDenied, Code: "no_credentials", Message: googleLogin})
		}
		token, err := source.Token()
		if err != nil {
			return fmt.Errorf("get a Google token: %w: %w", err,
				&assay.Fault{Class: assay.FaultDenied, Code: "no_token", Message: googleLogin})
		}
		token.SetAuthHeader(&http.Request{Header: h})
		return nil
	}
}

// vertex drives batch prediction jobs, whose lines and results lie in the user's own bucket.
type vertex struct {
	bucketJobs
	parent  []string
	version string
}

// Launch creates the job under the stamp's name, with a folder of its own for results.
func (v *vertex) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold bucketHandle
	h.Read(&hold)
	if hold.URI == "" {
		return provider.Unprepared()
	}
	body := vertexJob{DisplayName: p.Stamp.Name(), Model: vertexModel(p.Model), Labels: map[string]string{"assay": p.Stamp.Name()}}
	body.Input = &vertexInput{Format: "jsonl"}
	body.Input.Source.URIs = []string{hold.URI}
	body.Output = &vertexOutput{Format: "jsonl"}
	body.Output.Destination.Prefix = v.folder(p.Stamp)
	return launchJSON(ctx, v.api, v.path("batchPredictionJobs"), body, &vertexJob{})
}

func vertexModel(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return "publishers/google/models/" + name
}

// Check reads the job; once it has ended, it lists what lies in its folder.
func (v *vertex) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	var b vertexJob
	if _, err := v.api.JSON(ctx, provider.Call{Path: resource(v.version, job.ID)}, &b); err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	s := b.status()
	if !s.State.Terminal() {
		return s, nil
	}
	folder := b.Info.Directory
	if folder == "" && s.Stamp != (provider.Stamp{}) {
		folder = v.folder(s.Stamp) // a job that was stopped may not name its folder
	}
	if folder == "" {
		return s, nil
	}
	objects, err := v.store.list(ctx, folder)
	if err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	s.Parts = predictions(objects)
	return s, nil
}

// shard matches the names of result files, not the incremental dump that is written while the job runs, nor the counts.
var shard = regexp.MustCompile(`^predictions\.jsonl(-\d{5}-of-\d{5})?$`)

func predictions(objects []object) []provider.Part {
	var parts []provider.Part
	for _, o := range objects {
		name := path.Base(o.uri)
		if !shard.MatchString(name) || o.size == 0 {
			continue
		}
		if len(parts) > 0 && path.Base(parts[0].Ref) == name { // a second folder, of a job launched twice
			name = fmt.Sprintf("%s-%d", name, len(parts))
		}
		parts = append(parts, provider.Part{Name: name, Kind: provider.PartResults, Ref: o.uri, Size: o.size})
	}
	return parts
}

// Cancel asks for the end of the job.
func (v *vertex) Cancel(ctx context.Context, job provider.Job) error {
	return post(ctx, v.api, resource(v.version, job.ID)+":cancel")
}

// Remove deletes the uploaded lines and the result files.
func (v *vertex) Remove(ctx context.Context, job provider.Job) error {
	var b vertexJob // its name holds the attempt
	if _, err := v.api.JSON(ctx, provider.Call{Path: resource(v.version, job.ID)}, &b); err != nil && !gone(err) {
		return fmt.Errorf("remove: %w", err)
	}
	return v.remove(ctx, job.Handle, b.DisplayName)
}

// List walks the jobs of the project and region.
func (v *vertex) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return v.search(ctx, "")
}

func (v *vertex) search(ctx context.Context, filter string) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		q := url.Values{"pageSize": {"100"}}
		if after != "" {
			q.Set("pageToken", after)
		}
		if filter != "" {
			q.Set("filter", filter)
		}
		var l vertexJobs
		if _, err := v.api.JSON(ctx, provider.Call{Path: v.path("batchPredictionJobs"), Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		p := page{next: l.Next}
		for _, b := range l.Jobs {
			p.jobs = append(p.jobs, b.status())
		}
		return p, nil
	})
}

// Find lets the server look for the display name: this attempt's, and those of the attempts before.
func (v *vertex) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	return v.find(s, func(name string) iter.Seq2[provider.Status, error] {
		return v.search(ctx, fmt.Sprintf("display_name=%q", name))
	})
}

func (v *vertex) path(rest ...string) string {
	return provider.Path(append(v.parent[:len(v.parent):len(v.parent)], rest...)...)
}

// Made returns the job's full name.
func (b *vertexJob) Made() (string, time.Time) { return b.Name, b.Created.Time }

// Valid wants a name.
func (b *vertexJob) Valid() bool { return b.Name != "" }

func (b *vertexJob) status() provider.Status {
	s := provider.Status{
		Job: b.Name, Name: b.DisplayName, Word: b.State, State: googleState(b.State), Model: path.Base(b.Model),
		Created: b.Created.Time, Ended: b.Ended.Time,
	}
	s.Stamp, _ = provider.ParseName(b.DisplayName)
	ok, bad, open := max(0, int64(b.Stats.Succeeded)), max(0, int64(b.Stats.Failed)), max(0, int64(b.Stats.Incomplete))
	if total := ok + bad + open; total > 0 { // often empty, and -1 if it is not known
		s.Counts = provider.Counts{Known: b.Stats.Incomplete >= 0, Total: total, Succeeded: ok, Failed: bad, Pending: open}
	}
	if len(b.Error) > 0 {
		s.Fault = new(dialect.Classify(0, b.Error))
	} else if s.State == provider.StateFailed {
		s.Fault = &assay.Fault{Class: assay.FaultUnknown, Code: "batch_failed"}
	}
	return s
}

type vertexInput struct {
	Format string `json:"instancesFormat"`
	Source struct {
		URIs []string `json:"uris"`
	} `json:"gcsSource"`
}

type vertexOutput struct {
	Format      string `json:"predictionsFormat"`
	Destination struct {
		Prefix string `json:"outputUriPrefix"`
	} `json:"gcsDestination"`
}

type vertexJob struct {
	Name        string            `json:"name,omitempty"`
	DisplayName string            `json:"displayName"`
	Model       string            `json:"model"`
	Labels      map[string]string `json:"labels,omitempty"`
	Input       *vertexInput      `json:"inputConfig,omitempty"`
	Output      *vertexOutput     `json:"outputConfig,omitempty"`
	State       string            `json:"state,omitempty"`
	Error       json.RawMessage   `json:"error,omitempty"`
	Created     provider.Moment   `json:"createTime,omitzero"`
	Ended       provider.Moment   `json:"endTime,omitzero"`
	Info        struct {
		Directory string `json:"gcsOutputDirectory"`
	} `json:"outputInfo,omitzero"`
	Stats struct {
		Succeeded  provider.Number `json:"successfulCount"`
		Failed     provider.Number `json:"failedCount"`
		Incomplete provider.Number `json:"incompleteCount"`
	} `json:"completionStats,omitzero"`
}

type vertexJobs struct {
	Jobs  []vertexJob     `json:"batchPredictionJobs"`
	Next  string          `json:"nextPageToken"`
	Error json.RawMessage `json:"error"`
}

// Valid is false for an error.
func (l *vertexJobs) Valid() bool { return l.Error == nil }
