package apis

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"path"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/objects"
	"assay/internal/send/provider"
)

// openBedrock opens Amazon Bedrock. A key is a bearer token of Bedrock; without one calls are signed, as those to the buckets
// always are.
func openBedrock(cfg provider.Config) (provider.Account, error) {
	if cfg.Location == "" {
		return provider.Account{}, fmt.Errorf("a region is needed (location: us-east-1, or AWS_REGION)")
	}
	if cfg.Amazon == nil {
		cfg.Amazon = objects.FixedAccount("", "") // every call that needs keys returns an error
	}
	cfg.BaseURL = bedrockURL(cfg.BaseURL, cfg.Location)
	control, err := bedrockClient(cfg)
	if err != nil {
		return provider.Account{}, err
	}
	live := cfg
	live.BaseURL = strings.Replace(cfg.BaseURL, "://bedrock.", "://bedrock-runtime.", 1) // one address for all: that
	runtime, err := bedrockClient(live)
	if err != nil {
		return provider.Account{}, err
	}
	ask := func(r *assay.Request) string {
		call := "/converse"
		if r.Wire.Dialect != assay.DialectConverse {
			call = "/invoke"
		}
		return "/model/" + objects.Segment(r.Lane.Model) + call
	}
	a := provider.Account{BaseURL: cfg.BaseURL, Live: &converser{asker: asker{api: runtime, path: ask}, control: control}}
	if cfg.Input == "" || cfg.Output == "" || cfg.Role == "" {
		a.Batch = unfit("Bedrock batches need input and output folders and a role (input: s3://…, output: s3://…, role: arn:aws:iam::…)",
			cfg.Limits)
		return a, nil
	}
	store, err := s3Buckets(cfg, cfg.Input, cfg.Output)
	if err != nil {
		return provider.Account{}, err
	}
	a.Batch = &bedrock{bucketJobs: newBucketJobs(cfg, control, store), role: cfg.Role}
	return a, nil
}

// bedrockURL fills the region into the base URL.
func bedrockURL(base, region string) string {
	if base != "" && !strings.Contains(base, "{location}") {
		return base
	}
	return "https://" + objects.AmazonHost("bedrock", region)
}

func bedrockClient(cfg provider.Config) (*provider.Client, error) {
	api, err := provider.NewClient(cfg, provider.Bearer(cfg.Key))
	if err != nil || !cfg.Key.Empty() {
		return api, err
	}
	return api.Signing(cfg.Amazon.Signer("bedrock", cfg.Location)), nil
}

// converser answers requests one by one; models are listed elsewhere.
type converser struct {
	asker
	control *provider.Client
}

// Models lists the models there are.
func (c *converser) Models(ctx context.Context) ([]string, error) {
	var l bedrockModels
	if _, err := c.control.JSON(ctx, provider.Call{Path: provider.Path("foundation-models")}, &l); err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	var profiles bedrockProfiles
	if _, err := c.control.JSON(ctx, provider.Call{Path: provider.Path("inference-profiles"), Query: url.Values{"maxResults": {"1000"}}},
		&profiles); err != nil {
		return nil, fmt.Errorf("list profiles of models: %w", err)
	}
	var names []string
	for _, m := range l.Models {
		names = append(names, m.ID)
	}
	for _, p := range profiles.Profiles {
		names = append(names, p.ID)
	}
	return names, nil
}

// bedrock drives model invocation jobs, whose records and results lie in the user's own buckets.
type bedrock struct {
	bucketJobs
	role string
}

// Launch creates the job under the stamp's name, with a folder of its own for results. A create that comes twice makes one
// job, because its token is the same.
func (b *bedrock) Launch(ctx context.Context, p provider.BatchInput, h provider.Handle) provider.Receipt {
	var hold bucketHandle
	h.Read(&hold)
	if hold.URI == "" {
		return provider.Unprepared()
	}
	body := bedrockCreate{
		Name: p.Stamp.Name(), Token: p.Stamp.Name(), Role: b.role, Model: p.Model, Type: "Converse",
		Input: &bedrockInput{}, Output: &bedrockOutput{}, Hours: bedrockHours(b.limits.Window),
	}
	if p.Wire.Dialect != assay.DialectConverse {
		body.Type = "InvokeModel"
	}
	body.Input.S3.URI, body.Input.S3.Format = hold.URI, "JSONL"
	body.Output.S3.URI = b.folder(p.Stamp)
	return launchJSON(ctx, b.api, "/model-invocation-job", body, &bedrockMade{})
}

// bedrockHours returns a window in hours, as far as jobs take it; 0: Bedrock's own.
func bedrockHours(window time.Duration) int {
	if window == 0 {
		return 0
	}
	return min(max(int(window/time.Hour), 24), 168)
}

// Check reads the job; once it has ended, it lists what lies in its folder.
func (b *bedrock) Check(ctx context.Context, job provider.Job) (provider.Status, error) {
	j, err := b.read(ctx, job.ID)
	if err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	s := j.status()
	if !s.State.Terminal() || j.Output.S3.URI == "" {
		return s, nil
	}
	objects, err := b.store.list(ctx, j.results())
	if err != nil {
		return provider.Status{}, fmt.Errorf("check: %w", err)
	}
	for _, o := range objects { // the manifest is none of them
		if name := path.Base(o.uri); strings.HasSuffix(name, ".jsonl.out") && o.size > 0 {
			s.Parts = append(s.Parts, provider.Part{Name: name, Kind: provider.PartResults, Ref: o.uri, Size: o.size})
		}
	}
	return s, nil
}

// read reads a job. Its whole name is one segment of the path.
func (b *bedrock) read(ctx context.Context, arn string) (*bedrockJob, error) {
	var j bedrockJob
	_, err := b.api.JSON(ctx, provider.Call{Path: jobPath(arn)}, &j)
	return &j, err
}

func jobPath(arn string) string { return "/model-invocation-job/" + objects.Segment(arn) }

// Cancel asks for the end of the job. What it has done by then is billed.
func (b *bedrock) Cancel(ctx context.Context, job provider.Job) error {
	return post(ctx, b.api, jobPath(job.ID)+"/stop")
}

// Remove deletes the uploaded records and all that the job wrote.
func (b *bedrock) Remove(ctx context.Context, job provider.Job) error {
	j, err := b.read(ctx, job.ID) // its name holds the attempt
	if err != nil && !gone(err) {
		return fmt.Errorf("remove: %w", err)
	}
	return b.remove(ctx, job.Handle, j.Name)
}

// List walks the jobs of the account in this region, newest first.
func (b *bedrock) List(ctx context.Context) iter.Seq2[provider.Status, error] {
	return b.search(ctx, "")
}

func (b *bedrock) search(ctx context.Context, name string) iter.Seq2[provider.Status, error] {
	return pages(func(after string) (page, error) {
		q := url.Values{"maxResults": {"100"}, "sortBy": {"CreationTime"}, "sortOrder": {"Descending"}}
		if after != "" {
			q.Set("nextToken", after)
		}
		if name != "" {
			q.Set("nameContains", name)
		}
		var l bedrockJobs
		if _, err := b.api.JSON(ctx, provider.Call{Path: "/model-invocation-jobs", Query: q}, &l); err != nil {
			return page{}, fmt.Errorf("list: %w", err)
		}
		p := page{next: l.Next}
		for _, j := range l.Jobs {
			p.jobs = append(p.jobs, j.status())
		}
		return p, nil
	})
}

// Find lets the server look for the name: this attempt's, and those of the attempts before.
func (b *bedrock) Find(ctx context.Context, s provider.Search) (provider.Found, error) {
	return b.find(s, func(name string) iter.Seq2[provider.Status, error] { return b.search(ctx, name) })
}

// Made returns the job's full name.
func (m *bedrockMade) Made() (string, time.Time) { return m.ARN, time.Time{} }

// Valid wants a name.
func (m *bedrockMade) Valid() bool { return m.ARN != "" }

// Valid wants a name.
func (j *bedrockJob) Valid() bool { return j.ARN != "" }

// results returns the folder that Bedrock makes for the job inside the one it was given.
func (j *bedrockJob) results() string {
	return strings.TrimSuffix(j.Output.S3.URI, "/") + "/" + path.Base(j.ARN)
}

func (j *bedrockJob) status() provider.Status {
	s := provider.Status{
		Job: j.ARN, Name: j.Name, Word: j.State, State: bedrockState(j.State), Model: path.Base(j.Model),
		Created: j.Created.Time, Ended: j.Ended.Time, Expires: j.Expires.Time,
	}
	s.Stamp, _ = provider.ParseName(j.Name)
	total, ok, bad := max(0, int64(j.Total)), max(0, int64(j.Succeeded)), max(0, int64(j.Failed))
	if total > 0 { // it is 0 until the job has begun, and where it never did
		s.Counts = provider.Counts{Known: true, Total: total, Succeeded: ok, Failed: bad, Pending: max(0, total-ok-bad)}
	}
	if s.State == provider.StateFailed {
		s.Fault = &assay.Fault{Class: assay.FaultUnknown, Code: "batch_failed", Message: clean(j.Message)}
	}
	return s
}

// bedrockState reads a state. A job that expired never began; one that is partially completed ran out of time, and what it did
// is there and billed.
func bedrockState(word string) provider.State {
	switch word {
	case "Submitted", "Validating", "Scheduled":
		return provider.StateQueued
	case "InProgress":
		return provider.StateRunning
	case "Stopping":
		return provider.StateEnding
	case "Completed":
		return provider.StateEnded
	case "PartiallyCompleted", "Expired":
		return provider.StateExpired
	case "Failed":
		return provider.StateFailed
	case "Stopped":
		return provider.StateCancelled
	}
	return provider.StateUnknown
}

type bedrockInput struct {
	S3 struct {
		URI    string `json:"s3Uri"`
		Format string `json:"s3InputFormat,omitempty"`
	} `json:"s3InputDataConfig"`
}

type bedrockOutput struct {
	S3 struct {
		URI string `json:"s3Uri"`
	} `json:"s3OutputDataConfig"`
}

type bedrockCreate struct {
	Name   string         `json:"jobName"`
	Token  string         `json:"clientRequestToken"`
	Role   string         `json:"roleArn"`
	Model  string         `json:"modelId"`
	Type   string         `json:"modelInvocationType"`
	Input  *bedrockInput  `json:"inputDataConfig"`
	Output *bedrockOutput `json:"outputDataConfig"`
	Hours  int            `json:"timeoutDurationInHours,omitempty"`
}

type bedrockMade struct {
	ARN string `json:"jobArn"`
}

type bedrockJob struct {
	ARN       string          `json:"jobArn"`
	Name      string          `json:"jobName"`
	Model     string          `json:"modelId"`
	State     string          `json:"status"`
	Message   string          `json:"message"`
	Output    bedrockOutput   `json:"outputDataConfig"`
	Created   provider.Moment `json:"submitTime"`
	Ended     provider.Moment `json:"endTime"`
	Expires   provider.Moment `json:"jobExpirationTime"`
	Total     provider.Number `json:"totalRecordCount"`
	Succeeded provider.Number `json:"successRecordCount"`
	Failed    provider.Number `json:"errorRecordCount"`
}

type bedrockJobs struct {
	Jobs []bedrockJob  `json:"invocationJobSummaries"`
	Next string        `json:"nextToken"`
	Type provider.Text `json:"__type"`
}

// Valid is false for an error.
func (l *bedrockJobs) Valid() bool { return l.Type == "" }

type bedrockModels struct {
	Models []struct {
		ID string `json:"modelId"`
	} `json:"modelSummaries"`
}

// Valid wants the list.
func (l *bedrockModels) Valid() bool { return l.Models != nil }

type bedrockProfiles struct {
	Profiles []struct {
		ID string `json:"inferenceProfileId"`
	} `json:"inferenceProfileSummaries"`
}

// Valid wants the list.
func (l *bedrockProfiles) Valid() bool { return l.Profiles != nil }
