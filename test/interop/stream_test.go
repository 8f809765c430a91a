package interop

import (
	"fmt"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"
)

// A stream is read with the client's own helper, from a simulator of its own: the first answer to a body is the same in each.

func TestChatCompletionsStreamAtEveryCopyOfOpenAI(t *testing.T) {
	t.Parallel()
	whole, flowing := simulate(t), simulate(t)
	for vendor, c := range map[string]struct{ path, model string }{
		"openai": {"", "gpt-4.1"}, "groq": {"/openai/v1", "llama-3.3-70b-versatile"}, "mistral": {"/v1", "mistral-large-latest"},
		"openrouter": {"", "openai/gpt-4.1"}, "together": {"", "meta-llama/Llama-3.3-70B-Instruct-Turbo"},
		"fireworks": {"/inference/v1", "accounts/fireworks/models/llama-v3p3-70b-instruct"}, "xai": {"", "grok-4"},
	} {
		t.Run(vendor, func(t *testing.T) {
			t.Parallel()
			ask := openai.ChatCompletionNewParams{Model: c.model,
				Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Is it safe?")}}
			client := func(r rig) openai.Client {
				return openai.NewClient(option.WithBaseURL(r.urls[vendor]+c.path), option.WithAPIKey("sim"), option.WithMaxRetries(0))
			}
			plain, other := client(whole), client(flowing)
			want := must(plain.Chat.Completions.New(t.Context(), ask))(t)
			ask.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
			stream := other.Chat.Completions.NewStreaming(t.Context(), ask)
			var all openai.ChatCompletionAccumulator
			n := 0
			for ; stream.Next(); n++ {
				if !all.AddChunk(stream.Current()) {
					t.Fatal("the client does not take the chunk")
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			got := all.Choices[0]
			if got.Message.Content != want.Choices[0].Message.Content || got.FinishReason != want.Choices[0].FinishReason || n < 4 {
				t.Errorf("%d chunks: %q (%s), want %q", n, got.Message.Content, got.FinishReason, want.Choices[0].Message.Content)
			}
			if d := cmp.Diff([]int64{want.Usage.PromptTokens, want.Usage.CompletionTokens, want.Usage.TotalTokens},
				[]int64{all.Usage.PromptTokens, all.Usage.CompletionTokens, all.Usage.TotalTokens}); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestResponsesStream(t *testing.T) {
	t.Parallel()
	ask := responses.ResponseNewParams{Model: "gpt-5-mini",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Is it safe?")}}
	client := func() openai.Client {
		return openai.NewClient(option.WithBaseURL(simulate(t).urls["openai"]), option.WithAPIKey("sim"), option.WithMaxRetries(0))
	}
	plain, other := client(), client()
	want := must(plain.Responses.New(t.Context(), ask))(t)
	stream := other.Responses.NewStreaming(t.Context(), ask)
	said, usage, next := "", "", int64(0)
	for ; stream.Next(); next++ {
		e := stream.Current()
		if e.SequenceNumber != next {
			t.Errorf("event %d has the number %d", next, e.SequenceNumber)
		}
		switch e := e.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			said += e.Delta
		case responses.ResponseCompletedEvent:
			usage = fmt.Sprint(e.Response.Usage.InputTokens, e.Response.Usage.OutputTokens)
			if e.Response.OutputText() != said {
				t.Errorf("at the end %q", e.Response.OutputText())
			}
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if said != want.OutputText() || said == "" || usage != fmt.Sprint(want.Usage.InputTokens, want.Usage.OutputTokens) {
		t.Errorf("%q with %s tokens, want %q", said, usage, want.OutputText())
	}
}

func TestMessagesStream(t *testing.T) {
	t.Parallel()
	ask := anthropic.MessageNewParams{Model: "claude-sonnet-4-5", MaxTokens: 6000, Messages: asksClaude("Is it safe?"),
		Thinking: anthropic.ThinkingConfigParamOfEnabled(2000)}
	plain, other := anthropicClient(simulate(t)), anthropicClient(simulate(t))
	want := must(plain.Messages.New(t.Context(), ask))(t)
	stream := other.Messages.NewStreaming(t.Context(), ask)
	var got anthropic.Message
	for stream.Next() {
		if err := got.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	shown := func(m *anthropic.Message) (out []string) {
		for _, b := range m.Content {
			out = append(out, b.Type, b.Text, b.Thinking, b.Signature)
		}
		return append(out, string(m.StopReason), fmt.Sprint(m.Usage.InputTokens, m.Usage.OutputTokens))
	}
	if d := cmp.Diff(shown(want), shown(&got)); d != "" || len(want.Content) != 2 {
		t.Error(d)
	}
}

func TestGeminiStreams(t *testing.T) {
	t.Parallel()
	client := func() *genai.Client {
		return must(genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "sim", Backend: genai.BackendGeminiAPI,
			HTTPOptions: genai.HTTPOptions{BaseURL: simulate(t).urls["gemini"]}}))(t)
	}
	plain, other := client(), client()
	want := must(plain.Models.GenerateContent(t.Context(), "gemini-2.5-flash", genai.Text("Is it safe?"), nil))(t)
	said, n := "", 0
	var last *genai.GenerateContentResponse
	for got, err := range other.Models.GenerateContentStream(t.Context(), "gemini-2.5-flash", genai.Text("Is it safe?"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		said, last, n = said+got.Text(), got, n+1
	}
	if said != want.Text() || said == "" || n < 2 {
		t.Errorf("%d pieces: %q, want %q", n, said, want.Text())
	}
	if d := cmp.Diff(want.UsageMetadata, last.UsageMetadata); d != "" ||
		last.Candidates[0].FinishReason != want.Candidates[0].FinishReason {
		t.Error(d)
	}
}
