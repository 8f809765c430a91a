package cli_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/simulator"
)

// oneAccount sends calls on as those of one account, whatever token they have: tokens of a service account come and go.
type oneAccount struct{ to http.RoundTripper }

func (o oneAccount) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer sim")
	return o.to.RoundTrip(r)
}

// TestAnotherTokenOfAGoogleAccountCollectsWhatTheFirstSent saves a ledger with a job of Vertex in flight, collects it with another token,
// puts the ledger back, and collects it once more: it is made and billed once.
func TestAnotherTokenOfAGoogleAccountCollectsWhatTheFirstSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sim, err := simulator.New(simulator.Options{Seed: 1, Queue: 2 * time.Second, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sim.Close() })
	const study = "study: v\ninputs: {q: {items: [one, two, three]}}\nlive_below: 0\nlane_defaults: {max_tokens: 2000}\n" +
		"providers: {vertex: {key: \"${VERTEX_TOKEN}\"}}\nlanes: {g: {model: vertex/gemini-2.5-flash, thinking: off, temperature: 0}}\n" +
		"stages: [{name: answers, ask: q, prompt: \"{{ text }}?\"}]\n"
	if err := os.WriteFile(filepath.Join(dir, "v.yaml"), []byte(study), 0o600); err != nil {
		t.Fatal(err)
	}
	const root = "http://simulator.invalid"
	run := func(token string, want int, args ...string) string {
		t.Helper()
		env := map[string]string{"VERTEX_TOKEN": token, "GOOGLE_VERTEX_BASE_URL": sim.BaseURLs(root)["vertex"],
			"STORAGE_EMULATOR_HOST": root + "/gcs", "GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "us-central1", "BUCKET_NAME": "b"}
		var out, said bytes.Buffer
		w := shell.World{Args: args, Env: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
			Stdin:  strings.NewReader(""),
			Stdout: &out, Stderr: &said, Now: time.Now, Disk: shell.Disk{Dir: dir}, HTTP: oneAccount{sim.Transport()},
			Seams: workspace.Seams{Timing: func(t engine.Timing) engine.Timing { return t.Scaled(200) }}}
		if code := cli.Main(t.Context(), w); code != want {
			t.Fatalf("%s: exit code %d\n%s%s", args, code, &out, &said)
		}
		return out.String()
	}
	run("ya29.first", 0, "run", "v.yaml", "--yes", "--detach", "--no-canary", "--home", "h")
	run("ya29.first", 0, "backup", "b.bak", "--home", "h")
	run("ya29.second", 0, "resume", "--home", "h")
	run("ya29.second", 0, "restore", "b.bak", "--home", "h2")
	run("ya29.third", 0, "resume", "--home", "h2")
	for _, home := range []string{"h", "h2"} {
		if said := run("", 0, "status", "--home", home); !strings.Contains(said, "is done: 3 of 3 requests have an answer") {
			t.Errorf("%s: %s", home, said)
		}
		said := run("", 0, "sql", "SELECT text FROM events WHERE kind = 'rekeyed'", "--home", home)
		if !strings.Contains(said, "the provider shows the job to ") {
			t.Errorf("%s: no other key took the job over: %s", home, said)
		}
	}
	if l := sim.Ledger(); len(l.Jobs) != 1 || len(l.Jobs[0].Billed) != 3 || len(l.Live) != 0 {
		t.Errorf("the provider has billed %+v", l)
	}
}
