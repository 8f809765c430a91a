package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/show/cli"
)

// caller is a provider whose model calls a tool with the city of the question, without a text.
type caller struct{ bodies []string }

// RoundTrip answers one request.
func (c *caller) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.bodies = append(c.bodies, string(body))
	city := "Rome"
	if strings.Contains(string(body), "Is it raining in Paris?") {
		city = "Paris"
	}
	reply := `{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4.1-mini","choices":[{"index":0,"finish_reason":"tool_calls",
		"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",
		"function":{"name":"get_weather","arguments":"{\"city\":\"` + city + `\",\"days\":1}"}}]}}],
		"usage":{"prompt_tokens":60,"completion_tokens":15,"total_tokens":75}}`
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: r, Body: io.NopCloser(strings.NewReader(reply)),
		Header: http.Header{"Content-Type": {"application/json"}}}, nil
}

const toolStudy = `study: weather
canary: false
inputs:
  q: {items: [{id: a, city: Paris}, {id: b, city: Oslo}]}
lanes:
  g: {model: openai/gpt-4.1-mini, api: chat, temperature: 0, max_tokens: 100, mode: live}
stages:
  - name: calls
    ask: q
    prompt: "Is it raining in {{ city }}?"
    tools:
      - name: get_weather
        description: Weather of a city
        parameters: {type: object, properties: {city: {type: string}, days: {type: integer}}, required: [city]}
    tool_choice: any
  - name: right
    judge: calls
    rubric: {rule: {tool: {name: get_weather, arguments: {city: "{{ city }}", days: 1}}}}
  - name: whole
    judge: calls
    rubric: {rule: {tool: {name: get_weather, arguments: {city: "{{ city }}"}, whole: true}}}
`

// TestACallIsAnAnswer asks a model that calls a tool and writes no text: the call is kept, judged and exported.
func TestACallIsAnAnswer(t *testing.T) {
	t.Parallel()
	dir, provider := t.TempDir(), &caller{}
	if err := os.WriteFile(filepath.Join(dir, "s.yaml"), []byte(toolStudy), 0o600); err != nil {
		t.Fatal(err)
	}
	assay := func(args ...string) string {
		t.Helper()
		var out bytes.Buffer
		w := worldIn(dir, &out, &out, args...)
		w.HTTP, w.Env = provider, keyed
		if code := cli.Main(t.Context(), w); code != 0 {
			t.Fatalf("assay %s: exit code %d\n%s", strings.Join(args, " "), code, out.String())
		}
		return out.String()
	}
	assay("run", "s.yaml", "--yes")
	if len(provider.bodies) != 2 || !strings.Contains(provider.bodies[0], `"tool_choice":"required"`) ||
		!strings.Contains(provider.bodies[0], `"tools":[{"type":"function","function":{"name":"get_weather"`) {
		t.Errorf("sent: %q", provider.bodies)
	}
	assay("export", "weather", "--format", "jsonl", "--out", "out")
	answers := read(t, filepath.Join(dir, "out", "answers.jsonl"))
	for _, want := range []string{`"ending":"answered"`, `"text":"[calls get_weather {\"city\":\"Paris\",\"days\":1}]"`,
		`"tool_calls":[{"id":"call_1","name":"get_weather","arguments":{"city":"Paris","days":1}}]`} {
		if !strings.Contains(answers, want) {
			t.Errorf("no %s in\n%s", want, answers)
		}
	}
	assay("report", "weather", "--out", "report.html")
	report := read(t, filepath.Join(dir, "report.html"))
	const laid = `<div class="md call"><p class="language">calls <b>get_weather</b></p><pre class="code">{
  &#34;city&#34;: &#34;Paris&#34;,
  &#34;days&#34;: 1
}</pre></div>`
	if n := strings.Count(report, laid); n < 2 {
		t.Errorf("the call is laid out %d times in the report: want it in an example and behind its cell", n)
	}
	verdicts := read(t, filepath.Join(dir, "out", "verdicts.jsonl"))
	if right, wrong := strings.Count(verdicts, `"label":"right"`), strings.Count(verdicts, `"label":"wrong"`); right != 1 || wrong != 3 {
		t.Errorf("%d right, %d wrong in\n%s", right, wrong, verdicts)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
