package cli_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/internal/send/workspace"
	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
	"assay/internal/simulator"
)

func TestFirstAnswersAreAskedAboutAtATerminal(t *testing.T) {
	t.Parallel()
	b := newBench(t, simulator.Options{Seed: 1})
	b.write("s.yaml", `study: s
inputs: {q: {items: [one, two, three]}}
lanes: {a: {model: openai/gpt-4.1-2025-04-14, max_tokens: 400}}
stages: [{name: one, ask: q, prompt: "{{ text }}"}]
`)
	for said, want := range map[string]int{"y\n": 0, "n\n": 5} {
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), shell.World{
			Args: []string{"run", "s.yaml", "--yes", "--verify-first", "--home", "home-" + strings.TrimSpace(said)},
			Env:  func(name string) (string, bool) { v, ok := b.env[name]; return v, ok }, Stdin: strings.NewReader(said), Stdout: &out,
			Stderr: &errs, Terminal: term.Terminal{In: true}, Now: time.Now, Disk: shell.Disk{Dir: b.dir}, HTTP: http.DefaultTransport,
			Seams: workspace.Seams{Timing: hurry},
		})
		if code != want || !strings.Contains(errs.String(), "Send the rest? [y/N]") {
			t.Errorf("%q: exit code %d, want %d\n%s\n%s", said, code, want, out.String(), errs.String())
		}
	}
}
