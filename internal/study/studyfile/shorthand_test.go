package studyfile_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/studyfile"
)

const short = `study: short
inputs:
  q: questions.txt
  a: a.csv
  b: {file: b.csv, limit: 2}
  few: {of: [a, b], limit: 1}
lanes: {m: {model: ollama/llama3, mode: live, max_tokens: 10}}
stages:
  - {name: one, ask: q, prompt: "{{ text }}"}
  - {name: both, ask: [a, b], prompt: "{{ text }}"}
  - {name: again, ask: [a, b], prompt: "Again: {{ text }}"}
`

func TestWhatIsWrittenInShortMeansTheSame(t *testing.T) {
	t.Parallel()
	s, problems := studyfile.Read(fstest.MapFS{"study.yaml": {Data: []byte(short)}}, "study.yaml",
		studyfile.Options{Set: []string{"inputs.q.limit=3"}})
	if s == nil || len(problems.Errors()) > 0 {
		t.Fatal(problems)
	}
	specs := s.Specs()
	if q := specs["q"]; q.File != "questions.txt" || q.Limit != 3 {
		t.Errorf("a file alone: %+v", q)
	}
	if d := cmp.Diff([]string{"a", "b"}, specs["few"].All); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a", "b"}, specs["a_b"].All); d != "" {
		t.Error(d)
	}
	if len(specs) != 5 {
		t.Errorf("%d inputs", len(specs))
	}
	for _, name := range []string{"both", "again"} {
		if st, _ := s.Stage(name); st.Ask != "a_b" {
			t.Errorf("stage %s asks %s", name, st.Ask)
		}
	}
	if err := validator(t)([]byte(short)); err != nil {
		t.Errorf("the schema refuses it: %v", err)
	}
}

func TestAListOfInputsNamesThoseThatAreThere(t *testing.T) {
	t.Parallel()
	text := strings.Replace(short, "ask: [a, b], prompt: \"{{ text }}\"", "ask: [a, zoo], prompt: \"{{ text }}\"", 1)
	_, problems := studyfile.Read(fstest.MapFS{"study.yaml": {Data: []byte(text)}}, "study.yaml", studyfile.Options{})
	if !strings.Contains(problems.Error(), "zoo") {
		t.Errorf("got %v", problems)
	}
}
