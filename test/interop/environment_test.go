package interop

import (
	"net/http"
	"testing"

	"assay/internal/study/catalog"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"
	"google.golang.org/genai"
)

// The environment that `assay sim` prints is all that a program needs to talk to the simulator. The environment belongs to
// the whole process: this test does not run beside others.
func TestClientsNeedNothingButTheEnvironment(t *testing.T) {
	r := simulate(t)
	for _, name := range []string{"openai", "anthropic", "gemini", "vertex"} {
		v, ok := catalog.Default().Vendor(name)
		if !ok || v.BaseURLEnv == "" {
			t.Fatalf("%s: no environment variable for its base URL", name)
		}
		t.Setenv(v.BaseURLEnv, r.urls[name])
		if len(v.KeyEnv) > 0 {
			t.Setenv(v.KeyEnv[0], "sim")
		}
	}
	for _, name := range []string{"GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_ENTERPRISE"} {
		t.Setenv(name, "false")
	}
	ctx := t.Context()

	openAI := openai.NewClient()
	must(openAI.Batches.List(ctx, openai.BatchListParams{}))(t)
	claude := anthropic.NewClient()
	must(claude.Messages.Batches.List(ctx, anthropic.MessageBatchListParams{}))(t)
	gemini := must(genai.NewClient(ctx, nil))(t)
	must(gemini.Batches.List(ctx, nil))(t)
	vertex := must(genai.NewClient(ctx, &genai.ClientConfig{
		Backend: genai.BackendVertexAI, Project: "p1", Location: "us-central1", HTTPClient: &http.Client{Transport: token("sim")},
	}))(t)
	must(vertex.Batches.List(ctx, nil))(t)
}
