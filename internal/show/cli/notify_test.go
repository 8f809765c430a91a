package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"assay/internal/simulator"
)

func TestNewsHaveCountsAndCostAndComeOnlyWhenThereAreAny(t *testing.T) {
	t.Parallel()
	b := newBench(t, simulator.Options{Seed: 1})
	news := make(chan string, 10)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		news <- string(text)
	}))
	t.Cleanup(hook.Close)
	b.env["HOOK"] = "generic+" + hook.URL + "/secret"
	b.write("s.yaml", `study: newsy
mode: live
inputs: {q: {items: [one, two, three]}}
lane_defaults: {max_tokens: 50}
lanes: {a: {model: openai/gpt-4.1-mini}}
stages: [{name: answers, ask: q, prompt: "{{ text }}"}]
notify: ["${HOOK}"]
`)
	next := func() string {
		t.Helper()
		select {
		case text := <-news:
			return text
		default:
			t.Error("no news was sent")
			return ""
		}
	}
	r := b.must(0, "notify", "s.yaml")
	if len(news) > 0 || !strings.Contains(r.out, "HOOK is set") {
		t.Errorf("%d sent without --test: %s", len(news), r.out)
	}
	r = b.must(0, "notify", "s.yaml", "--test")
	if text := next(); !strings.Contains(text, "a test message of study newsy") || strings.Contains(r.out+r.errors, "secret") {
		t.Errorf("%s\n%s%s", text, r.out, r.errors)
	}
	b.must(4, "run", "s.yaml", "--yes", "--no-canary", "--budget", "0.000001")
	if text := next(); !strings.Contains(text, "0 of 3 requests have an answer") ||
		!strings.Contains(text, "does not fit into the budget: $0.000001 of $0.000001 is left, one more item of every lane needs $0.0000") {
		t.Error(text)
	}
	b.must(0, "tune", "--pause", "a", "--budget", "1 USD")
	b.must(3, "resume", "--once")
	if text := next(); !strings.Contains(text, "Paused: a. Next: `assay tune ") {
		t.Error(text)
	}
	b.must(0, "tune", "--unpause", "a")
	b.must(0, "resume")
	if text := next(); !strings.Contains(text, "is done: 3 of 3 requests have an answer; $0.00") {
		t.Error(text)
	}
	if len(news) > 0 {
		t.Errorf("further news: %s", <-news)
	}
}
