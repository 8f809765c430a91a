package interop

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// token signs every call with an access token, as the library wants it of a client it is given.
type token string

func (k token) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(req)
}

func vertexClient(t *testing.T, r rig) *genai.Client {
	t.Helper()
	return must(genai.NewClient(t.Context(), &genai.ClientConfig{
		Backend: genai.BackendVertexAI, Project: "p1", Location: "us-central1",
		HTTPClient: &http.Client{Transport: token("sim")}, HTTPOptions: genai.HTTPOptions{BaseURL: r.urls["vertex"]},
	}))(t)
}

// store talks to the simulator's Cloud Storage.
func store(t *testing.T, r rig, method, path, body string) []byte {
	t.Helper()
	req := must(http.NewRequestWithContext(t.Context(), method, r.urls["gcs"]+path, strings.NewReader(body)))(t)
	resp := must((&http.Client{Transport: token("sim")}).Do(req))(t)
	defer resp.Body.Close()
	text := must(io.ReadAll(resp.Body))(t)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	return text
}

func TestAVertexBatchReadsAndWritesCloudStorage(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	ctx, c := t.Context(), vertexClient(t, r)
	store(t, r, "POST", "/upload/storage/v1/b/questions/o?uploadType=media&name=in.jsonl",
		`{"request":{"contents":[{"role":"user","parts":[{"text":"One?"}]}],"labels":{"id":"q0"}}}`+"\n"+
			`{"request":{"contents":[{"role":"user","parts":[{"text":"Two?"}]}],"labels":{"id":"q1"}}}`+"\n")
	j := must(c.Batches.Create(ctx, geminiModel,
		&genai.BatchJobSource{Format: "jsonl", GCSURI: []string{"gs://questions/in.jsonl"}},
		&genai.CreateBatchJobConfig{DisplayName: "run r1",
			Dest: &genai.BatchJobDestination{Format: "jsonl", GCSURI: "gs://answers/r1"}}))(t)
	if j.State != genai.JobStateQueued && j.State != genai.JobStatePending || j.DisplayName != "run r1" || j.Dest == nil ||
		j.Dest.GCSURI != "gs://answers/r1" ||
		j.Src == nil || !slices.Equal(j.Src.GCSURI, []string{"gs://questions/in.jsonl"}) {
		t.Errorf("after create: %+v", j)
	}
	r.pass(t, untilOver)
	j = must(c.Batches.Get(ctx, j.Name, nil))(t)
	if j.State != genai.JobStateSucceeded || j.CompletionStats == nil || j.CompletionStats.SuccessfulCount != 2 || j.StartTime.IsZero() ||
		j.EndTime.IsZero() ||
		j.OutputInfo == nil {
		t.Fatalf("in the end: %+v", j)
	}

	object := strings.TrimPrefix(j.OutputInfo.GCSOutputDirectory, "gs://answers/") + "/predictions.jsonl"
	var got []string
	for line := range bytes.Lines(store(t, r, "GET", "/storage/v1/b/answers/o/"+url.PathEscape(object)+"?alt=media", "")) {
		var result struct {
			Request  struct{ Labels map[string]string }
			Status   string
			Response *genai.GenerateContentResponse
		}
		must(0, json.Unmarshal(line, &result))(t)
		if result.Status != "" || result.Response == nil || result.Response.Text() == "" {
			t.Errorf("result line %s", line)
		}
		got = append(got, result.Request.Labels["id"])
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"q0", "q1"}, got); diff != "" {
		t.Errorf("labels of the results (-want +got):\n%s", diff)
	}
}

func TestVertexBatchesAreListedFilteredCancelledAndDeleted(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	ctx, c := t.Context(), vertexClient(t, r)
	store(t, r, "POST", "/upload/storage/v1/b/questions/o?uploadType=media&name=in.jsonl",
		`{"request":{"contents":[{"role":"user","parts":[{"text":"One?"}]}]}}`+"\n")
	var want, got []string
	for _, name := range []string{"first", "second", "third"} {
		want = append(want, must(c.Batches.Create(ctx, geminiModel,
			&genai.BatchJobSource{Format: "jsonl", GCSURI: []string{"gs://questions/in.jsonl"}},
			&genai.CreateBatchJobConfig{DisplayName: name,
				Dest: &genai.BatchJobDestination{Format: "jsonl", GCSURI: "gs://answers/" + name}}))(t).Name)
	}
	slices.Reverse(want)
	for j, err := range c.Batches.All(ctx) {
		got = append(got, must(j, err)(t).Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all jobs (-want +got):\n%s", diff)
	}
	page := must(c.Batches.List(ctx, &genai.ListBatchJobsConfig{PageSize: 2}))(t)
	if len(page.Items) != 2 || page.NextPageToken == "" {
		t.Errorf("first page of three by two: %+v", page)
	}
	page = must(c.Batches.List(ctx, &genai.ListBatchJobsConfig{Filter: `display_name="second"`}))(t)
	if len(page.Items) != 1 || page.Items[0].Name != want[1] {
		t.Errorf("jobs named second: %+v", page.Items)
	}

	must(0, c.Batches.Cancel(ctx, want[0], nil))(t)
	r.pass(t, untilOver)
	if j := must(c.Batches.Get(ctx, want[0], nil))(t); j.State != genai.JobStateCancelled {
		t.Errorf("after cancel: %+v", j)
	}
	if gone := must(c.Batches.Delete(ctx, want[0], nil))(t); !gone.Done {
		t.Errorf("deleted: %+v", gone)
	}
	_, err := c.Batches.Get(ctx, want[0], nil)
	wantGoogleError(t, err, http.StatusNotFound, "NOT_FOUND")
}

func TestVertexIsAskedLive(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	c := vertexClient(t, r)
	got := must(c.Models.GenerateContent(t.Context(), geminiModel, genai.Text("Why is the sky blue?"), nil))(t)
	if got.Text() == "" || got.UsageMetadata.TrafficType != genai.TrafficTypeOnDemand {
		t.Errorf("answer: %+v", got)
	}
}
