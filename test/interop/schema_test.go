package interop

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// spoken is something that keeps its own JSON, as all replies of OpenAI's library do.
type spoken interface{ RawJSON() string }

// wantSchema checks a reply, byte for byte as it came, against OpenAI's published types.
func wantSchema(t *testing.T, name string, reply spoken) {
	t.Helper()
	schema := must(jsonschema.NewCompiler().Compile("testdata/openai.schema.json#/$defs/" + url.PathEscape(name)))(t)
	value := must(jsonschema.UnmarshalJSON(strings.NewReader(reply.RawJSON())))(t)
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", name, err, reply.RawJSON())
	}
}

func TestFilesAreWhatOpenAIPublishes(t *testing.T) {
	t.Parallel()
	r := simulate(t)
	p := openAIFamily(r)["openai"]
	ctx, c := t.Context(), p.client()
	wantSchema(t, "files", must(c.Files.List(ctx, openai.FileListParams{}))(t))
	f := p.upload(t, p.lines(1))
	wantSchema(t, "file", f)
	p.create(t, f.ID)
	r.pass(t, untilOver)
	wantSchema(t, "files", must(c.Files.List(ctx, openai.FileListParams{}))(t))
	wantSchema(t, "deleted", must(c.Files.Delete(ctx, f.ID))(t))
}

func TestBatchesAreWhatOpenAIPublishesInEveryState(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		rule  string
		steps []time.Duration
		want  []openai.BatchStatus
	}{
		"completed": {"", []time.Duration{0, untilRunning, queue/2 - 30*time.Second, queue},
			[]openai.BatchStatus{openai.BatchStatusValidating, openai.BatchStatusInProgress, openai.BatchStatusFinalizing,
				openai.BatchStatusCompleted}},
		"failed":       {"openai create fail=too_many_tasks", []time.Duration{untilOver}, []openai.BatchStatus{openai.BatchStatusFailed}},
		"expired":      {"openai create expire=50%", []time.Duration{25 * time.Hour}, []openai.BatchStatus{openai.BatchStatusExpired}},
		"all in error": {"openai create fail-lines=100%", []time.Duration{untilOver}, []openai.BatchStatus{openai.BatchStatusCompleted}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rules []string
			if tc.rule != "" {
				rules = append(rules, tc.rule)
			}
			r := simulate(t, rules...)
			p := openAIFamily(r)["openai"]
			ctx, c := t.Context(), p.client()
			wantSchema(t, "batches", must(c.Batches.List(ctx, openai.BatchListParams{}))(t))
			b := p.create(t, p.upload(t, p.lines(4)).ID)
			wantSchema(t, "batch", b)
			for i, d := range tc.steps {
				r.pass(t, d)
				b = must(c.Batches.Get(ctx, b.ID))(t)
				wantSchema(t, "batch", b)
				wantWhole(t, b)
				if b.Status != tc.want[i] {
					t.Errorf("step %d: want %s, got %s", i, tc.want[i], b.RawJSON())
				}
			}
			wantSchema(t, "batches", must(c.Batches.List(ctx, openai.BatchListParams{}))(t))
		})
	}
}

func TestAnswersAreWhatOpenAIPublishes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		rule string
		most int64 // output tokens
	}{"plain": {"", 0}, "cut short": {"", 16}, "refused": {"openai ask refuse=100%", 0}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rules []string
			if tc.rule != "" {
				rules = append(rules, tc.rule)
			}
			r := simulate(t, rules...)
			c := openAIFamily(r)["openai"].client()
			for _, model := range []string{"gpt-5.6", "gpt-4.1"} {
				chat := openai.ChatCompletionNewParams{Model: model,
					Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Why is the sky blue?")}}
				resp := responses.ResponseNewParams{Model: model,
					Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Why is the sky blue?")}}
				if tc.most > 0 {
					chat.MaxCompletionTokens, resp.MaxOutputTokens = openai.Int(tc.most), openai.Int(tc.most)
				}
				wantSchema(t, "chat", must(c.Chat.Completions.New(t.Context(), chat))(t))
				wantSchema(t, "response", must(c.Responses.New(t.Context(), resp))(t))
			}
		})
	}
}

func TestErrorsAreWhatOpenAIPublishes(t *testing.T) {
	t.Parallel()
	r := simulate(t, "openai list 503 nth=1", "openai list quota nth=2")
	c := openAIFamily(r)["openai"].client()
	for range 2 {
		_, err := c.Batches.List(t.Context(), openai.BatchListParams{})
		var e *openai.Error
		if !errors.As(err, &e) {
			t.Fatalf("want an error of the API, got %v", err)
		}
		wantSchema(t, "error", e)
	}
}
