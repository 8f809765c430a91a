package apis

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/send/provider"
)

// FuzzAnyAnswerIsReadOrRefused feeds every vendor the same bytes as the answer to every call. Whatever they are: no panic, no
// endless walk, no success out of nothing, and no key in an error.
func FuzzAnyAnswerIsReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		`{"id":"b1","object":"batch","status":"completed","output_file_id":"f1","error_file_id":"","request_counts":{"total":3,"completed":3},"metadata":{"assay_run":"r"}}`,
		`{"object":"list","data":[{"id":"b1","status":"failed","errors":{"data":[{"code":"x","line":1}]}}],"has_more":true,"last_id":"b1"}`,
		`{"id":"msgbatch_1","processing_status":"ended","request_counts":{"succeeded":1},"created_at":"2026-11-15T12:00:00Z"}`,
		`{"name":"batches/1","metadata":{"state":"BATCH_STATE_SUCCEEDED","output":{"responsesFile":"files/x"},"batchStats":{"requestCount":"3"}},"done":true}`,
		`{"operations":[{"name":"batches/1","metadata":{"displayName":"assay-r-s-000000000000"}}],"nextPageToken":"x"}`,
		`{"name":"projects/p/locations/l/batchPredictionJobs/1","state":"JOB_STATE_SUCCEEDED","outputInfo":{"gcsOutputDirectory":"gs://b/o"},"completionStats":{"incompleteCount":"-1"}}`,
		`{"batch_id":"b1","state":{"num_requests":1,"num_pending":0},"batches":[{"batch_id":"x"}],"results":[{"batch_request_id":"a"}],"pagination_token":"t"}`,
		`[{"id":"b1","status":"COMPLETED","input_file_id":"f"}]`, `{"job":{"id":"b1","status":"VALIDATING"}}`,
		`{"name":"accounts/a/batchInferenceJobs/j","state":"JOB_STATE_COMPLETED","outputDatasetId":"accounts/a/datasets/o","filenameToSignedUrls":{"a/b":"https://x/y"}}`,
		`{"error":{"message":"m","code":7}}`, `{"items":[{"name":"predictions.jsonl","size":"7"}]}`,
		`{"jobArn":"arn:x/y","jobName":"assay-r-s-0-000000000000","status":"Completed","outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://b/out"}}}`,
		`<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a.jsonl.out</Key><Size>7</Size></Contents></ListBucketResult>`,
		`{"invocationJobSummaries":[{"jobArn":"a","jobName":"assay-r-s-0-000000000000"}],"nextToken":"a"}`, `null`, `[]`, `""`, `{`, ``,
	} {
		f.Add(200, seed)
		f.Add(429, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		calls := 0
		n := network(func(r *http.Request) *http.Response {
			calls++
			resp := answer(status, body)
			resp.Header.Set("Location", "https://api.example/"+r.URL.Path)
			resp.Header.Set("X-Goog-Upload-Status", "active")
			resp.Header.Set("X-Goog-Upload-Size-Received", "1")
			return resp
		})
		for _, e := range Vendors() {
			a, err := Open(config(e.Kind, n))
			if err != nil {
				t.Fatal(err)
			}
			if a.Batch != nil {
				calls = 0
				exercise(t, e.Kind, a.Batch, body)
				if calls > 200 {
					t.Errorf("%s made %d calls", e.Kind, calls)
				}
			}
		}
	})
}

func exercise(t *testing.T, kind string, p provider.Provider, body string) {
	ctx := context.Background()
	stamp := provider.Stamp{Run: "r", Segment: "s", SHA256: strings.Repeat("0", 64)}
	job := provider.Job{ID: "j", Stamp: stamp}
	var errs []error
	for _, h := range []provider.Handle{`{"file":"f","ready":true}`, `{"uri":"s3://b/in/x.jsonl"}`, `{"session":"https://x/u?upload_id=1"}`,
		provider.Handle(body)} {
		job.Handle = h
		r := p.Launch(ctx, provider.BatchInput{Stamp: stamp, Body: noBytes()}, h)
		if (r.Status == provider.Accepted) != (r.Job != "" && r.Err == nil) {
			t.Errorf("%s: receipt %+v", kind, r)
		}
		_, _, err := p.Prepare(ctx, provider.BatchInput{Stamp: stamp, Body: noBytes()}, h)
		errs = append(errs, r.Err, err)
	}
	st, err := p.Check(ctx, job)
	errs = append(errs, err)
	if err == nil && st.Job == "" {
		t.Errorf("%s: a job out of nothing: %+v", kind, st)
	}
	for _, part := range st.Parts[:min(3, len(st.Parts))] {
		errs = append(errs, p.Fetch(ctx, job, part, provider.Fresh(&strings.Builder{})))
	}
	if f, ok := p.(provider.Finder); ok {
		found, err := f.Find(ctx, provider.Search{Stamp: stamp, Count: 3, NotBefore: time.Unix(1, 0)})
		errs = append(errs, err)
		if err == nil && (found.Sighting == provider.Located) != (len(found.Jobs) > 0 && !slices.Contains(found.Jobs, "")) {
			t.Errorf("%s: found %+v", kind, found)
		}
	}
	for _, err := range errs {
		if err != nil && strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
