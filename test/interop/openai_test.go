package interop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// openAIFamily returns every provider whose files and batches OpenAI's library can drive: the base URL to give it, and a model.
func openAIFamily(r rig) map[string]openAIPlace {
	return map[string]openAIPlace{
		"openai":  {r.urls["openai"], "gpt-5.6"},
		"azure":   {r.urls["azure"], "gpt-5.6"},
		"groq":    {r.urls["groq"] + "/openai/v1", "openai/gpt-oss-120b"},
		"generic": {r.urls["generic"], "some-model"},
	}
}

type openAIPlace struct{ base, model string }

func (p openAIPlace) client(opts ...option.RequestOption) openai.Client {
	return openai.NewClient(append([]option.RequestOption{
		option.WithBaseURL(p.base), option.WithAPIKey("sim"), option.WithMaxRetries(0),
	}, opts...)...)
}

// lines returns an input file of so many chat requests, q0 and on.
func (p openAIPlace) lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"custom_id":"q%d","method":"POST","url":"/v1/chat/completions","body":{"model":%q,"messages":[{"role":"user","content":"Question %d?"}]}}`+"\n", i, p.model, i)
	}
	return b.String()
}

func (p openAIPlace) upload(t *testing.T, text string) *openai.FileObject {
	t.Helper()
	c := p.client()
	return must(c.Files.New(t.Context(), openai.FileNewParams{
		File: openai.File(strings.NewReader(text), "questions.jsonl", "application/jsonl"), Purpose: openai.FilePurposeBatch,
	}))(t)
}

func (p openAIPlace) create(t *testing.T, file string) *openai.Batch {
	t.Helper()
	c := p.client()
	return must(c.Batches.New(t.Context(), openai.BatchNewParams{
		InputFileID: file, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions,
		CompletionWindow: openai.BatchNewParamsCompletionWindow24h, Metadata: shared.Metadata{"run": "r1"},
	}))(t)
}

// eachOfTheFamily runs a test against every provider of the family, each with a simulator of its own.
func eachOfTheFamily(t *testing.T, f func(t *testing.T, r rig, p openAIPlace)) {
	for name := range openAIFamily(rig{}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := simulate(t)
			f(t, r, openAIFamily(r)[name])
		})
	}
}

func TestOpenAIFilesAreUploadedFoundListedReadAndDeleted(t *testing.T) {
	t.Parallel()
	eachOfTheFamily(t, func(t *testing.T, r rig, p openAIPlace) {
		ctx, c, text := t.Context(), p.client(), p.lines(3)
		var ids []string
		for range 3 {
			f := p.upload(t, text)
			wantWhole(t, f)
			if f.Filename != "questions.jsonl" || f.Bytes != int64(len(text)) || f.Purpose != openai.FileObjectPurposeBatch {
				t.Errorf("uploaded %d bytes, got %s", len(text), f.RawJSON())
			}
			ids = append(ids, f.ID)
		}
		wantWhole(t, must(c.Files.Get(ctx, ids[0]))(t))

		var listed []string
		for pages := c.Files.ListAutoPaging(ctx, openai.FileListParams{Limit: openai.Int(2), Order: openai.FileListParamsOrderAsc}); ; {
			if !pages.Next() {
				must(0, pages.Err())(t)
				break
			}
			wantWhole(t, pages.Current())
			listed = append(listed, pages.Current().ID)
		}
		if diff := cmp.Diff(ids, listed); diff != "" {
			t.Errorf("all files, in pages of two, oldest first (-want +got):\n%s", diff)
		}

		if diff := cmp.Diff(text, p.read(t, ids[0])); diff != "" {
			t.Errorf("the file read back (-want +got):\n%s", diff)
		}
		gone := must(c.Files.Delete(ctx, ids[0]))(t)
		wantWhole(t, gone)
		if gone.ID != ids[0] || !gone.Deleted {
			t.Errorf("deleted %s, got %s", ids[0], gone.RawJSON())
		}
		_, err := c.Files.Get(ctx, ids[0])
		wantOpenAIError(t, err, http.StatusNotFound, "")
	})
}

func (p openAIPlace) read(t *testing.T, file string) string {
	t.Helper()
	c := p.client()
	resp := must(c.Files.Content(t.Context(), file))(t)
	defer resp.Body.Close()
	return string(must(io.ReadAll(resp.Body))(t))
}

func TestAnOpenAIBatchGoesFromValidatingToItsResults(t *testing.T) {
	t.Parallel()
	eachOfTheFamily(t, func(t *testing.T, r rig, p openAIPlace) {
		ctx, c := t.Context(), p.client()
		f := p.upload(t, p.lines(4))
		r.pass(t, queue/2) // Azure takes a while to process a file

		b := p.create(t, f.ID)
		wantWhole(t, b)
		if diff := cmp.Diff(openai.BatchStatusValidating, b.Status); diff != "" {
			t.Errorf("status after create (-want +got):\n%s", diff)
		}
		for name, m := range map[string]field{
			"output_file_id": b.JSON.OutputFileID, "error_file_id": b.JSON.ErrorFileID, "errors": b.JSON.Errors,
			"completed_at": b.JSON.CompletedAt, "cancelled_at": b.JSON.CancelledAt,
		} {
			if m.Raw() != "null" {
				t.Errorf("%s of a new batch: want null, got %q", name, m.Raw())
			}
		}

		r.pass(t, untilRunning)
		b = must(c.Batches.Get(ctx, b.ID))(t)
		wantWhole(t, b)
		if b.Status != openai.BatchStatusInProgress || b.RequestCounts.Total != 4 {
			t.Errorf("while it runs: %s", b.RawJSON())
		}

		r.pass(t, untilOver)
		b = must(c.Batches.Get(ctx, b.ID))(t)
		wantWhole(t, b)
		if b.Status != openai.BatchStatusCompleted || b.RequestCounts.Completed != 4 || b.Metadata["run"] != "r1" ||
			b.Usage.TotalTokens == 0 {
			t.Errorf("in the end: %s", b.RawJSON())
		}
		wantWhole(t, must(c.Files.Get(ctx, b.OutputFileID))(t))
		wantAnswers(t, p.read(t, b.OutputFileID), []string{"q0", "q1", "q2", "q3"})
	})
}

// wantAnswers reads result lines with the library's own types.
func wantAnswers(t *testing.T, text string, ids []string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(text) {
		var result struct {
			CustomID string `json:"custom_id"`
			Response struct {
				StatusCode int                   `json:"status_code"`
				RequestID  string                `json:"request_id"`
				Body       openai.ChatCompletion `json:"body"`
			}
		}
		must(0, json.Unmarshal([]byte(line), &result))(t)
		wantWhole(t, result.Response.Body, "choices.logprobs", "choices.message.refusal")
		if result.Response.StatusCode != http.StatusOK || result.Response.RequestID == "" ||
			result.Response.Body.Choices[0].Message.Content == "" {
			t.Errorf("result line %s", line)
		}
		got = append(got, result.CustomID)
	}
	slices.Sort(got)
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("ids of the results (-want +got):\n%s", diff)
	}
}

func TestOpenAIBatchesAreListedPageByPageNewestFirst(t *testing.T) {
	t.Parallel()
	eachOfTheFamily(t, func(t *testing.T, r rig, p openAIPlace) {
		c := p.client()
		f := p.upload(t, p.lines(1))
		r.pass(t, queue/2)
		var want, got []string
		for range 5 {
			want = append(want, p.create(t, f.ID).ID)
		}
		slices.Reverse(want)
		for pages := c.Batches.ListAutoPaging(t.Context(), openai.BatchListParams{Limit: openai.Int(2)}); ; {
			if !pages.Next() {
				must(0, pages.Err())(t)
				break
			}
			b := pages.Current()
			wantWhole(t, b)
			got = append(got, b.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("all batches, in pages of two (-want +got):\n%s", diff)
		}
	})
}

func TestAnOpenAIPageHoldsWhatWasAskedForAndSaysThatMoreFollows(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	p := openAIFamily(r)["openai"]
	c := p.client()
	f := p.upload(t, p.lines(1))
	for range 3 {
		p.create(t, f.ID)
	}
	page := must(c.Batches.List(t.Context(), openai.BatchListParams{Limit: openai.Int(2)}))(t)
	if len(page.Data) != 2 || !page.HasMore {
		t.Fatalf("first page of three by two: %s", page.RawJSON())
	}
	page = must(page.GetNextPage())(t)
	if len(page.Data) != 1 || page.HasMore {
		t.Errorf("last page of three by two: %s", page.RawJSON())
	}
}

func TestACancelledOpenAIBatchIsCancellingThenCancelled(t *testing.T) {
	t.Parallel()
	eachOfTheFamily(t, func(t *testing.T, r rig, p openAIPlace) {
		ctx, c := t.Context(), p.client()
		f := p.upload(t, p.lines(2))
		r.pass(t, queue/2)
		b := p.create(t, f.ID)
		r.pass(t, untilRunning)
		b = must(c.Batches.Cancel(ctx, b.ID))(t)
		wantWhole(t, b)
		if b.Status != openai.BatchStatusCancelling || b.CancellingAt == 0 {
			t.Errorf("after cancel: %s", b.RawJSON())
		}
		r.pass(t, untilOver)
		b = must(c.Batches.Get(ctx, b.ID))(t)
		wantWhole(t, b)
		if b.Status != openai.BatchStatusCancelled || b.CancelledAt == 0 {
			t.Errorf("later: %s", b.RawJSON())
		}
		_, err := c.Batches.Cancel(ctx, b.ID)
		wantOpenAIError(t, err, http.StatusConflict, "")
	})
}

func TestAnInvalidOpenAIBatchFailsAfterItWasTaken(t *testing.T) {
	t.Parallel()
	eachOfTheFamily(t, func(t *testing.T, r rig, p openAIPlace) {
		ctx, c := t.Context(), p.client()
		f := p.upload(t, p.lines(2)+p.lines(1))
		r.pass(t, queue/2)
		b := p.create(t, f.ID)
		r.pass(t, untilOver)
		b = must(c.Batches.Get(ctx, b.ID))(t)
		wantWhole(t, b)
		if b.Status != openai.BatchStatusFailed || len(b.Errors.Data) != 1 || b.Errors.Data[0].Code != "duplicate_custom_id" ||
			b.Errors.Data[0].Line != 3 {
			t.Errorf("a batch with one id twice: %s", b.RawJSON())
		}
	})
}

func TestChatCompletionsAreAnsweredLive(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	places := openAIFamily(r)
	for name, p := range map[string]openAIPlace{
		"together":   {r.urls["together"], "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		"mistral":    {r.urls["mistral"] + "/v1", "mistral-small-latest"},
		"xai":        {r.urls["xai"], "grok-4.5"},
		"fireworks":  {r.urls["fireworks"] + "/inference/v1", "accounts/fireworks/models/gpt-oss-120b"},
		"openrouter": {r.urls["openrouter"], "openai/gpt-5.6"},
		"deepseek":   {r.urls["deepseek"], "deepseek-v4-flash"},
		"ollama":     {r.urls["ollama"] + "/v1", "sim:latest"},
	} {
		places[name] = p
	}
	for name, p := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := p.client()
			got := must(c.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
				Model: p.model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Why is the sky blue?")},
			}))(t)
			wantWhole(t, got, "choices.logprobs", "choices.message.refusal")
			if got.Choices[0].Message.Content == "" || got.Choices[0].FinishReason != "stop" || got.Usage.TotalTokens == 0 {
				t.Errorf("answer: %s", got.RawJSON())
			}
		})
	}
}

func TestResponsesAreAnsweredLive(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	c := openAIFamily(r)["openai"].client()
	got := must(c.Responses.New(t.Context(), responses.ResponseNewParams{
		Model: "gpt-5.6", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Why is the sky blue?")},
	}))(t)
	wantWhole(t, got, "access_programs", "error", "incomplete_details", "instructions")
	if got.OutputText() == "" || got.Status != responses.ResponseStatusCompleted || got.Usage.TotalTokens == 0 {
		t.Errorf("answer: %s", got.RawJSON())
	}
}

func TestOpenAIEmbeddingsAreAnsweredLive(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	c := openAIFamily(r)["openai"].client()
	got := must(c.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
		Model: openai.EmbeddingModelTextEmbedding3Small, Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a", "b"}},
	}))(t)
	wantWhole(t, got)
	if len(got.Data) != 2 || len(got.Data[1].Embedding) == 0 {
		t.Errorf("embeddings: %s", got.RawJSON())
	}
}

func TestOpenAIErrorsAreReadByTheLibrary(t *testing.T) {
	t.Parallel()
	r := simulate(t, "openai list 429=30s once")
	p := openAIFamily(r)["openai"]
	c := p.client()

	_, err := c.Batches.List(t.Context(), openai.BatchListParams{})
	e := wantOpenAIError(t, err, http.StatusTooManyRequests, "rate_limit_exceeded")
	if diff := cmp.Diff("30", e.Response.Header.Get("Retry-After")); diff != "" {
		t.Errorf("Retry-After (-want +got):\n%s", diff)
	}

	_, err = c.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{
		Model: "gpt-5.6", Temperature: openai.Float(0.2), Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hello")},
	})
	e = wantOpenAIError(t, err, http.StatusBadRequest, "unsupported_value")
	if diff := cmp.Diff("temperature", e.Param); diff != "" {
		t.Errorf("param (-want +got):\n%s", diff)
	}

	_, err = c.Batches.List(t.Context(), openai.BatchListParams{}, option.WithAPIKey("bad-key"))
	wantOpenAIError(t, err, http.StatusUnauthorized, "invalid_api_key")
}

// wantOpenAIError checks what the library makes of an error; any code will do where none is wanted.
func wantOpenAIError(t *testing.T, err error, status int, code string) *openai.Error {
	t.Helper()
	var e *openai.Error
	if !errors.As(err, &e) {
		t.Fatalf("want an error of the API, got %v", err)
	}
	if e.StatusCode != status || code != "" && e.Code != code || e.Message == "" || e.Type == "" {
		t.Errorf("want %d %s, got %d %s", status, code, e.StatusCode, e.RawJSON())
	}
	return e
}
