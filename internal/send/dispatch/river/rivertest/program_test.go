package rivertest

import (
	"bytes"
	"strings"
	"testing"

	"assay/internal/keep/store"
	"assay/internal/show/cli"
)

const scored = `study: scored
inputs:
  q: {items: [{id: a, text: one}, {id: b, text: two}]}
live_below: 0
canary: false
lane_defaults: {max_tokens: 200}
lanes:
  g: {model: openai/gpt-4.1-mini, temperature: 0}
stages:
  - {name: answers, ask: q, prompt: "{{ text }}"}
  - {name: scores, judge: answers, rubric: {command: [sh, -c, 'sed "s/^{\"id\":\"\([a-z2-7]*\)\".*/{\"id\":\"\1\",\"label\":\"good\"}/"'], labels: [good]}}
`

func TestAProgramJudgesOnlyWhereItMay(t *testing.T) {
	t.Parallel()
	s := newShop(t, scored)
	env := s.environment(root, "openai")
	plain := s.worker(env, nil)
	run := s.begin("openai")
	plain.said.await(s, "a worker with --programs has to do it")
	status := func(args ...string) string {
		w := s.world(env, append([]string{"status", run.ID}, args...)...)
		out := &bytes.Buffer{}
		w.Stdout = out
		if code := cli.Main(s.ctx, w); code != 0 {
			t.Fatalf("status: exit code %d\n%s", code, w.Stderr)
		}
		return out.String()
	}
	s.until("a word about what it waits for", func() bool { return strings.Contains(status(), "A program judges in scores") })
	if doc := status("--json"); !strings.Contains(doc, `"unjudged"`) {
		t.Error(doc)
	}
	s.worker(env, nil, "--programs")
	if run = s.closed(run.No); run.Result != store.ResultDone {
		t.Errorf("the run is %s\n%s", run.Result, s.history())
	}
	s.answeredOnce(run, 2)
	if text := status(); strings.Contains(text, "A program judges") {
		t.Error(text)
	}
	valid := 0
	s.ok(s.look.Reader.Query(s.ctx, "SELECT 1 FROM verdicts WHERE state = 'valid'", func([]string, []any) error { valid++; return nil }))
	if valid != 2 {
		t.Errorf("%d verdicts\n%s", valid, s.history())
	}
}
