package batchrun_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/batchrun"
	"assay/internal/study/catalog"
)

func resolver(env map[string]string) batchrun.Resolver {
	return batchrun.Resolver{Catalog: catalog.Default(), Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok }}
}

func TestAWishBecomesATarget(t *testing.T) {
	t.Parallel()
	env := map[string]string{"PROJECT_ID": "p", "GOOGLE_CLOUD_LOCATION": "l", "BUCKET_NAME": "gs://b/x/"}
	server := "http://localhost:8000/v1"
	for _, c := range []struct {
		name string
		wish batchrun.Wish
		want batchrun.Target
	}{
		{"nothing", batchrun.Wish{}, batchrun.Target{Mode: assay.ModeBatch}},
		{"a name", batchrun.Wish{Provider: "Claude", KeyEnv: "${MINE}"},
			batchrun.Target{Name: "anthropic", Kind: "anthropic", Mode: assay.ModeBatch, Reach: batchrun.Reach{Key: "${MINE}"}}},
		{"live", batchrun.Wish{Provider: "groq", Live: true}, batchrun.Target{Name: "groq", Kind: "groq", Mode: assay.ModeLive}},
		{"no batches there", batchrun.Wish{Provider: "ollama"}, batchrun.Target{Name: "ollama", Kind: "ollama", Mode: assay.ModeLive}},
		{"a server", batchrun.Wish{BaseURL: server},
			batchrun.Target{Name: "openai", Kind: "vllm", Mode: assay.ModeLive, Reach: batchrun.Reach{BaseURL: server}}},
		{"a server with batches", batchrun.Wish{BaseURL: server, BatchAPI: true},
			batchrun.Target{Name: "openai", Kind: catalog.Compatible, Mode: assay.ModeBatch, Reach: batchrun.Reach{BaseURL: server}}},
		{"a proxy of a vendor", batchrun.Wish{Provider: "mistral", BaseURL: server},
			batchrun.Target{Name: "mistral", Kind: "mistral", Mode: assay.ModeBatch, Reach: batchrun.Reach{BaseURL: server}}},
		{"settings", batchrun.Wish{Provider: "vertex", Settings: map[string]string{"location": "mine", "account": "not asked for"}},
			batchrun.Target{Name: "vertex", Kind: "vertex", Mode: assay.ModeBatch,
				Reach: batchrun.Reach{Project: "p", Location: "mine", Input: "gs://b/x/input/", Output: "gs://b/x/output/"}}},
	} {
		got, err := resolver(env).Target(c.wish)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	for wish, want := range map[string]string{
		"opanai": `no provider is called "opanai" (did you mean openai?)`,
	} {
		if _, err := resolver(nil).Target(batchrun.Wish{Provider: wish}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", wish, err, want)
		}
	}
	var names []string
	for _, v := range catalog.Default().Vendors() {
		names = append(names, v.Name)
	}
	want := `no provider is called "zzz" (there are ` + strings.Join(names, ", ") + ")"
	if _, err := resolver(nil).Target(batchrun.Wish{Provider: "zzz"}); err == nil || err.Error() != want {
		t.Errorf("zzz: %v, want %s", err, want)
	}
	for _, bad := range []string{"localhost", "ftp://x/", "http://me:secret@x/", "http://\x00"} {
		if _, err := resolver(nil).Target(batchrun.Wish{BaseURL: bad}); err == nil {
			t.Errorf("%q was taken for a server", bad)
		}
	}
}

func TestWhatAVendorNeedsIsNamedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		wish batchrun.Wish
		want string
	}{
		{batchrun.Wish{Provider: "vertex"}, "Vertex AI needs the project, the region and the bucket or gs:// folder for files (say " +
			"--project, --location and --bucket, or set GOOGLE_CLOUD_PROJECT, GOOGLE_CLOUD_LOCATION and BUCKET_NAME)"},
		{batchrun.Wish{Provider: "vertex", Live: true, Settings: map[string]string{"project": "p"}},
			"Vertex AI needs the region (say --location, or set GOOGLE_CLOUD_LOCATION)"},
		{batchrun.Wish{Provider: "fireworks"}, "Fireworks AI needs the account (say --account, or set FIREWORKS_ACCOUNT_ID)"},
		{batchrun.Wish{Provider: "fireworks", Settings: map[string]string{"account": "a"}}, ""},
		{batchrun.Wish{Provider: "openai"}, ""},
	} {
		target, err := resolver(nil).Target(c.wish)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := resolver(nil).Lacks(target); err != nil {
			got = err.Error()
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.wish.Provider, diff)
		}
	}
}

func TestJobsMadeElsewhereAreLookedForWhereKeysAreSet(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k", "GROQ_API_KEY": "", "FIREWORKS_API_KEY": "k",
		"DEEPSEEK_API_KEY": "k"}
	keyed := func(w batchrun.Wish) []string {
		targets, err := resolver(env).Keyed(w)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, target := range targets {
			names = append(names, target.Name)
		}
		return names
	}
	// Fireworks lacks its account, Vertex its project, and DeepSeek has no batches.
	if diff := cmp.Diff([]string{"openai", "gemini"}, keyed(batchrun.Wish{})); diff != "" {
		t.Errorf("by keys (-want +got):\n%s", diff)
	}
	env["GOOGLE_CLOUD_PROJECT"], env["REGION"], env["BUCKET_NAME"] = "p", "r", "b"
	if diff := cmp.Diff([]string{"openai", "gemini", "vertex"}, keyed(batchrun.Wish{})); diff != "" {
		t.Errorf("with a project (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"xai"}, keyed(batchrun.Wish{Provider: "grok"})); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
}
