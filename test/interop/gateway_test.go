package interop

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"assay/internal/simulator"
)

const gatewayToken = "a-token-of-sixteen-letters"

// gatewayClient is OpenAI's library in front of a gateway, the program itself, which is in front of the simulator.
func gatewayClient(t *testing.T) openai.Client {
	t.Helper()
	sim, err := simulator.New(simulator.Options{Seed: 1, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(sim)
	t.Cleanup(func() { server.Close(); sim.Close() })
	dir := t.TempDir()
	program := filepath.Join(dir, "assay")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/assay")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "tokens"), []byte("anna "+gatewayToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	urls := sim.BaseURLs(server.URL)
	gate := exec.Command(program, "gateway", "--listen", "127.0.0.1:0", "--token-file", "tokens", "--home", "home", "--interval", "50ms")
	gate.Dir, gate.Stderr = dir, t.Output()
	gate.Env = append(os.Environ(), "OPENAI_BASE_URL="+urls["openai"], "ANTHROPIC_BASE_URL="+urls["anthropic"],
		"GOOGLE_GEMINI_BASE_URL="+urls["gemini"], "OPENAI_API_KEY=sim", "ANTHROPIC_API_KEY=sim", "GOOGLE_API_KEY=sim")
	out, err := gate.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := gate.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		gate.Process.Signal(os.Interrupt)
		if err := gate.Wait(); err != nil {
			t.Errorf("the gateway ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the gateway prints no address: %v", err)
	}
	return openai.NewClient(option.WithBaseURL(strings.TrimPrefix(strings.TrimSpace(line), "OPENAI_BASE_URL=")),
		option.WithAPIKey(gatewayToken))
}

func gatewayModels() []string {
	return []string{"gpt-4o-mini", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"}
}

func TestOpenAIsClientGoesThroughTheGateway(t *testing.T) {
	t.Parallel()
	c := gatewayClient(t)
	t.Run("batches", func(t *testing.T) { batchesThroughTheGateway(t, c) })
	t.Run("chats", func(t *testing.T) { chatsThroughTheGateway(t, c) })
}

func batchesThroughTheGateway(t *testing.T, c openai.Client) {
	var text strings.Builder
	var want []string
	for i, m := range gatewayModels() {
		want = append(want, fmt.Sprintf("q%d", i))
		fmt.Fprintf(&text, `{"custom_id":"q%d","method":"POST","url":"/v1/chat/completions","body":{"model":%q,"messages":[{"role":"user","content":"Question %d?"}]}}`+"\n", i, m, i)
	}
	file := must(c.Files.New(t.Context(),
		openai.FileNewParams{File: strings.NewReader(text.String()), Purpose: openai.FilePurposeBatch}))(t)
	b := must(c.Batches.New(t.Context(),
		openai.BatchNewParams{InputFileID: file.ID, Endpoint: openai.BatchNewParamsEndpointV1ChatCompletions,
			CompletionWindow: openai.BatchNewParamsCompletionWindow24h, Metadata: shared.Metadata{"run": "r1"}}))(t)
	for end := time.Now().Add(3 * time.Minute); b.Status != openai.BatchStatusCompleted; time.Sleep(20 * time.Millisecond) {
		if b = must(c.Batches.Get(t.Context(), b.ID))(t); time.Now().After(end) {
			t.Fatalf("the batch is %s", b.RawJSON())
		}
	}
	if b.RequestCounts.Completed != 3 || b.RequestCounts.Failed != 0 || b.Metadata["run"] != "r1" || b.ErrorFileID != "" {
		t.Errorf("the batch came to %s", b.RawJSON())
	}
	content := must(c.Files.Content(t.Context(), b.OutputFileID))(t)
	defer content.Body.Close()
	lines := must(io.ReadAll(content.Body))(t)
	var got []string
	for line := range strings.Lines(string(lines)) {
		got = append(got, line[strings.Index(line, `"custom_id":"`)+13:][:2])
	}
	if slices.Sort(got); !cmp.Equal(want, got) {
		t.Errorf("results of %v, want %v", got, want)
	}
	pages := c.Batches.ListAutoPaging(t.Context(), openai.BatchListParams{Limit: openai.Int(1)})
	n := 0
	for pages.Next() {
		n++
	}
	if pages.Err() != nil || n != 1 {
		t.Errorf("%d batches are listed: %v", n, pages.Err())
	}
	if gone := must(c.Files.Delete(t.Context(), file.ID))(t); !gone.Deleted {
		t.Errorf("the file is not deleted: %s", gone.RawJSON())
	}
	_, err := c.Files.Get(t.Context(), file.ID)
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 404 || e.Type != "invalid_request_error" {
		t.Errorf("a deleted file: %v", err)
	}
	if models := must(c.Models.List(t.Context()))(t); len(models.Data) < 10 {
		t.Errorf("%d models are listed", len(models.Data))
	}
}

func chatsThroughTheGateway(t *testing.T, c openai.Client) {
	for _, m := range gatewayModels() {
		ask := openai.ChatCompletionNewParams{Model: m,
			Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("What is 2+2?")}}
		whole := must(c.Chat.Completions.New(t.Context(), ask))(t)
		if len(whole.Choices) != 1 || whole.Choices[0].Message.Content == "" || whole.Choices[0].FinishReason != "stop" ||
			whole.Usage.TotalTokens == 0 {
			t.Errorf("%s: %s", m, whole.RawJSON())
		}
		ask.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
		stream := c.Chat.Completions.NewStreaming(t.Context(), ask)
		acc := openai.ChatCompletionAccumulator{}
		for stream.Next() {
			if !acc.AddChunk(stream.Current()) {
				t.Errorf("%s: a chunk does not fit: %s", m, stream.Current().RawJSON())
			}
		}
		if stream.Err() != nil || len(acc.Choices) != 1 || acc.Choices[0].Message.Content == "" || acc.Choices[0].FinishReason != "stop" ||
			acc.Usage.TotalTokens == 0 {
			t.Errorf("%s, streamed: %v %+v", m, stream.Err(), acc)
		}
		ask2 := responses.ResponseNewParams{Model: m, Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("What is 2+2?")}}
		if r := must(c.Responses.New(t.Context(), ask2))(t); r.OutputText() == "" || r.Status != "completed" {
			t.Errorf("%s: %s", m, r.RawJSON())
		}
		events := c.Responses.NewStreaming(t.Context(), ask2)
		said, final := "", ""
		for events.Next() {
			switch e := events.Current().AsAny().(type) {
			case responses.ResponseTextDeltaEvent:
				said += e.Delta
			case responses.ResponseCompletedEvent:
				final = e.Response.OutputText()
			}
		}
		if events.Err() != nil || said == "" || said != final {
			t.Errorf("%s: %v: %q streamed, %q at the end", m, events.Err(), said, final)
		}
	}
	_, err := c.Chat.Completions.New(t.Context(),
		openai.ChatCompletionNewParams{Model: "nosuchmodel", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("x")}})
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != 404 || e.Code != "model_not_found" || e.Param != "model" {
		t.Errorf("an unknown model: %v", err)
	}
}
