package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

const geminiModel = "gemini-2.5-flash"

func geminiClient(t *testing.T, r rig) *genai.Client {
	t.Helper()
	return must(genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "sim", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: r.urls["gemini"]},
	}))(t)
}

// geminiLines returns an input file of so many requests, q0 and on.
func geminiLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"key":"q%d","request":{"contents":[{"role":"user","parts":[{"text":"Question %d?"}]}]}}`+"\n", i, i)
	}
	return b.String()
}

// uploadActive uploads a file and waits until it can be used.
func uploadActive(t *testing.T, r rig, c *genai.Client, name, text string) *genai.File {
	t.Helper()
	f := must(c.Files.Upload(t.Context(), strings.NewReader(text), &genai.UploadFileConfig{
		Name: name, DisplayName: "questions", MIMEType: "application/jsonl",
	}))(t)
	r.pass(t, queue)
	return must(c.Files.Get(t.Context(), f.Name, nil))(t)
}

func TestGeminiFilesAreUploadedFoundListedAndDeleted(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	ctx, c := t.Context(), geminiClient(t, r)
	text := geminiLines(3)
	f := uploadActive(t, r, c, "questions-1", text)
	if f.Name != "files/questions-1" || f.SizeBytes == nil || *f.SizeBytes != int64(len(text)) || f.State != genai.FileStateActive ||
		f.MIMEType != "application/jsonl" || f.DisplayName != "questions" || f.URI == "" || f.Sha256Hash == "" {
		t.Errorf("uploaded %d bytes, got %+v", len(text), f)
	}
	if diff := cmp.Diff(48*time.Hour, f.ExpirationTime.Sub(f.CreateTime)); diff != "" {
		t.Errorf("life of a file (-want +got):\n%s", diff)
	}
	want := []string{"files/questions-3", "files/questions-2", "files/questions-1"}
	uploadActive(t, r, c, "questions-2", text)
	uploadActive(t, r, c, "questions-3", text)

	var got []string
	for page := must(c.Files.List(ctx, &genai.ListFilesConfig{PageSize: 2}))(t); ; {
		for _, f := range page.Items {
			got = append(got, f.Name)
		}
		next, err := page.Next(ctx)
		if errors.Is(err, genai.ErrPageDone) {
			break
		}
		page = must(next, err)(t)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files, in pages of two (-want +got):\n%s", diff)
	}

	must(c.Files.Delete(ctx, f.Name, nil))(t)
	_, err := c.Files.Get(ctx, f.Name, nil)
	wantGoogleError(t, err, http.StatusForbidden, "PERMISSION_DENIED")
}

func TestALargeFileGoesUpInChunks(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	c := geminiClient(t, r)
	size := 9 << 20 // the library sends 8 MiB at a time
	f := must(c.Files.Upload(t.Context(), bytes.NewReader(bytes.Repeat([]byte("a"), size)),
		&genai.UploadFileConfig{MIMEType: "text/plain"}))(t)
	if f.SizeBytes == nil || *f.SizeBytes != int64(size) {
		t.Errorf("uploaded %d bytes, got %+v", size, f)
	}
}

func TestAGeminiBatchReadsAFileAndWritesAFile(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	ctx, c := t.Context(), geminiClient(t, r)
	f := uploadActive(t, r, c, "questions", geminiLines(3))
	j := must(c.Batches.Create(ctx, geminiModel, &genai.BatchJobSource{FileName: f.Name},
		&genai.CreateBatchJobConfig{DisplayName: "run r1"}))(t)
	if j.State != genai.JobStatePending || j.DisplayName != "run r1" || j.Model != "models/"+geminiModel || j.CreateTime.IsZero() {
		t.Errorf("after create: %+v", j)
	}
	r.pass(t, untilOver)
	j = must(c.Batches.Get(ctx, j.Name, nil))(t)
	if j.State != genai.JobStateSucceeded || j.Dest == nil || j.Dest.FileName == "" || j.EndTime.IsZero() {
		t.Fatalf("in the end: %+v", j)
	}

	text := must(c.Files.Download(ctx, genai.NewDownloadURIFromFile(&genai.File{DownloadURI: j.Dest.FileName}), nil))(t)
	var got []string
	for line := range bytes.Lines(text) {
		var result struct {
			Key      string
			Response *genai.GenerateContentResponse
		}
		must(0, json.Unmarshal(line, &result))(t)
		if result.Response == nil || result.Response.Text() == "" {
			t.Errorf("result line %s", line)
		}
		got = append(got, result.Key)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"q0", "q1", "q2"}, got); diff != "" {
		t.Errorf("keys of the results (-want +got):\n%s", diff)
	}
}

func inlined(keys ...string) *genai.BatchJobSource {
	src := &genai.BatchJobSource{}
	for _, key := range keys {
		src.InlinedRequests = append(src.InlinedRequests, &genai.InlinedRequest{
			Contents: genai.Text("Question " + key + "?"), Metadata: map[string]string{"key": key},
			Config: &genai.GenerateContentConfig{MaxOutputTokens: 2000, Temperature: genai.Ptr[float32](1)},
		})
	}
	return src
}

func TestAGeminiBatchTakesItsRequestsAndGivesItsResultsInline(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	ctx, c := t.Context(), geminiClient(t, r)
	j := must(c.Batches.Create(ctx, geminiModel, inlined("a", "b"), &genai.CreateBatchJobConfig{DisplayName: "inline"}))(t)
	r.pass(t, untilOver)
	j = must(c.Batches.Get(ctx, j.Name, nil))(t)
	if j.State != genai.JobStateSucceeded || j.Dest == nil {
		t.Fatalf("in the end: %+v", j)
	}
	var got []string
	for _, in := range j.Dest.InlinedResponses {
		if in.Response == nil || in.Response.Text() == "" || in.Response.UsageMetadata.TotalTokenCount == 0 {
			t.Errorf("response: %+v", in)
		}
		got = append(got, in.Metadata["key"])
	}
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Errorf("keys of the results, in order (-want +got):\n%s", diff)
	}
}

func TestGeminiBatchesAreListedCancelledAndDeleted(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	ctx, c := t.Context(), geminiClient(t, r)
	var want, got []string
	for range 3 {
		want = append(want,
			must(c.Batches.Create(ctx, geminiModel, inlined("a"), &genai.CreateBatchJobConfig{DisplayName: "one of three"}))(t).Name)
	}
	slices.Reverse(want)
	page := must(c.Batches.List(ctx, &genai.ListBatchJobsConfig{PageSize: 2}))(t)
	if len(page.Items) != 2 || page.NextPageToken == "" {
		t.Errorf("first page of three by two: %+v", page)
	}
	for j, err := range c.Batches.All(ctx) {
		got = append(got, must(j, err)(t).Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all batches (-want +got):\n%s", diff)
	}

	must(0, c.Batches.Cancel(ctx, want[0], nil))(t)
	r.pass(t, untilOver)
	if j := must(c.Batches.Get(ctx, want[0], nil))(t); j.State != genai.JobStateCancelled {
		t.Errorf("after cancel: %+v", j)
	}
	must(c.Batches.Delete(ctx, want[0], nil))(t)
	_, err := c.Batches.Get(ctx, want[0], nil)
	wantGoogleError(t, err, http.StatusNotFound, "NOT_FOUND")
}

func TestGeminiIsAskedLive(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	ctx, c := t.Context(), geminiClient(t, r)
	got := must(c.Models.GenerateContent(ctx, geminiModel, genai.Text("Why is the sky blue?"), &genai.GenerateContentConfig{
		ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true},
	}))(t)
	cand := got.Candidates[0]
	if got.Text() == "" || cand.FinishReason != genai.FinishReasonStop || !cand.Content.Parts[0].Thought || got.ResponseID == "" ||
		got.ModelVersion != geminiModel || got.UsageMetadata.ThoughtsTokenCount == 0 {
		t.Errorf("answer: %+v", got)
	}
	count := must(c.Models.CountTokens(ctx, geminiModel, genai.Text("Why is the sky blue?"), nil))(t)
	if diff := cmp.Diff(got.UsageMetadata.PromptTokenCount, count.TotalTokens); diff != "" {
		t.Errorf("tokens of the prompt, as billed and as counted (-want +got):\n%s", diff)
	}
	vectors := must(c.Models.EmbedContent(ctx, "gemini-embedding-001", genai.Text("a"), nil))(t)
	if len(vectors.Embeddings) != 1 || len(vectors.Embeddings[0].Values) == 0 {
		t.Errorf("embeddings: %+v", vectors)
	}
}

func TestGoogleErrorsAreReadByTheLibrary(t *testing.T) {
	t.Parallel()
	r := simulate(t, "gemini list 429=30s once")
	ctx, c := t.Context(), geminiClient(t, r)
	_, err := c.Batches.List(ctx, nil)
	e := wantGoogleError(t, err, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED")
	waits := slices.ContainsFunc(e.Details, func(d map[string]any) bool { return d["retryDelay"] == "30s" })
	if !waits {
		t.Errorf("want a retryDelay of 30s, got %v", e.Details)
	}
	_, err = c.Models.GenerateContent(ctx, "missing-model", genai.Text("Hello"), nil)
	wantGoogleError(t, err, http.StatusNotFound, "NOT_FOUND")
}

func wantGoogleError(t *testing.T, err error, code int, status string) genai.APIError {
	t.Helper()
	var e genai.APIError
	if !errors.As(err, &e) {
		t.Fatalf("want an error of the API, got %v", err)
	}
	if e.Code != code || e.Status != status || e.Message == "" {
		t.Errorf("want %d %s, got %+v", code, status, e)
	}
	return e
}
