package studyfile_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"assay/internal/study"
	"assay/internal/study/studyfile"
)

// validator checks YAML against the schema with a library that had no part in making it.
func validator(t *testing.T) func(text []byte) error {
	t.Helper()
	text, err := study.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("study.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("study.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		j, err := yaml.YAMLToJSON(text)
		if err != nil {
			return err
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
		if err != nil {
			return err
		}
		return schema.Validate(v)
	}
}

func TestEveryExampleValidatesAgainstTheSchema(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	files, err := filepath.Glob("../../../examples/*/study.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(text); err != nil {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func TestTheSchemaAndTheReaderAgree(t *testing.T) {
	t.Parallel()
	valid := validator(t)
	base := "study: s\ninputs: {q: {items: [hello]}}\nlanes: {a: {model: openai/gpt-4o}, j: {model: openai/gpt-4.1}}\nstages:\n" +
		"  - {name: one, ask: q, prompt: hi}\n"
	for text, good := range map[string]bool{
		base: true,
		strings.Replace(base, "study: s", "study: s\nbudgit: 3", 1):       false,
		base + "budget: 40 USD\n":                                         true,
		base + "mode: bacth\n":                                            false,
		base + "batch: {size: many}\n":                                    false,
		base + "  - {name: two, judge: one, rubric: flip, judges: [j]}\n": true,
		base + "  - {name: two, judge: [one], rubric: {prompt: hi, labels: {a: 1, b: 0}}, judges: j}\n":              true,
		base + "  - {name: two, compare: one, among: [a, j], pairs: all, rubric: better, judges: j}\n":               true,
		base + "  - {name: two, compare: one, among: [a, j], pairs: {smple: 3}, rubric: better, judges: j}\n":        false,
		base + "  - {name: two, ask: q, turns: [hi, {each: {x: a, y: b}}], control: {say: hm, draws: 2}}\n":          true,
		base + "  - {name: two, ask: q, turns: [{eech: {x: a}}]}\n":                                                  false,
		strings.Replace(base, "openai/gpt-4o}", "openai/gpt-4o, temperature: [0.1, 1.0], stop: [x], seed: null}", 1): true,
		strings.Replace(base, "openai/gpt-4o}", "openai/gpt-4o, temprature: 1}", 1):                                  false,
		strings.Replace(base, "openai/gpt-4o}", "openai/gpt-5, thinking: off, variants: {x: {effort: low}}}", 1):     true,
		base + "deadline: {after: soon}\n":                                false,
		base + "reuse: {study: s, for: 30d}\n":                            true,
		base + "profiles: {small: {inputs.q.limit: 1}}\n":                 true,
		base + "prices: {openai/gpt-4o: {input: 1, output: 2}}\n":         true,
		base + "live_below: 5\nnotify: [\"${X}\"]\nrequire: [\"true\"]\n": true,
	} {
		_, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, "s.yaml", studyfile.Options{})
		if got := len(problems.Errors()) == 0; got != good {
			t.Errorf("reader says %v, want %v:\n%s\n%v", got, good, text, problems)
		}
		if err := valid([]byte(text)); (err == nil) != good {
			t.Errorf("schema says %v, want good=%v:\n%s", err, good, text)
		}
	}
}

func TestLanesAreExpandedAndNamedAsWritten(t *testing.T) {
	t.Parallel()
	s, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(`
study: s
lane_defaults: {max_tokens: 10, temperature: 0.2}
lanes:
  a: {model: openai/gpt-4o, temperature: [0.6, 1.0], top_p: [0.9, 1]}
  b: {model: together/meta-llama/Llama-3, temperature: null, variants: {x: {effort: low}, y: {effort: [high, max]}}}
  c: {model: [openai/o3, together/x/y]}
inputs: {q: {items: [hello]}}
stages: [{name: one, ask: q, prompt: hi}]
`)}}, "s.yaml", studyfile.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	type lane struct {
		Name, Provider, Model, Effort string
		Temperature                   float64
		MaxTokens                     int
	}
	var got []lane
	for _, l := range s.Lanes {
		g := lane{Name: l.Name, Provider: l.Provider, Model: l.Model, Effort: l.Params.Effort, MaxTokens: l.Params.MaxTokens,
			Temperature: -1}
		if l.Params.Temperature != nil {
			g.Temperature = *l.Params.Temperature
		}
		got = append(got, g)
	}
	want := []lane{
		{"a.0.6.0.9", "openai", "gpt-4o", "", 0.6, 10}, {"a.0.6.1", "openai", "gpt-4o", "", 0.6, 10},
		{"a.1.0.0.9", "openai", "gpt-4o", "", 1, 10}, {"a.1.0.1", "openai", "gpt-4o", "", 1, 10},
		{"b.x", "together", "meta-llama/Llama-3", "low", -1, 10},
		{"b.y.high", "together", "meta-llama/Llama-3", "high", -1, 10}, {"b.y.max", "together", "meta-llama/Llama-3", "max", -1, 10},
		{"c.o3", "openai", "o3", "", 0.2, 10}, {"c.y", "together", "x/y", "", 0.2, 10},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBytesThatAreNoStudyAreReportedWithAPlace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"study: a\x00b":     "s.yaml:1:9: a NUL byte: this is not a text file (save the file as UTF-8 text)",
		"study: a\nx: \xff": "s.yaml:2:4: byte 0xff is not UTF-8 (save the file as UTF-8 text)",
		"# " +
			strings.Repeat("x", 9<<20): "s.yaml:1:1: the study has more than 8 MB (move the items to a .csv or .jsonl file under `inputs`)",
		strings.Repeat("[", 100):                                   "not valid YAML",
		strings.Repeat("{a: ", 70) + "1" + strings.Repeat("}", 70): "nested deeper than 64 levels",
	} {
		_, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: []byte(text)}}, "s.yaml", studyfile.Options{})
		if !strings.Contains(problems.Error(), want) {
			t.Errorf("%.40q: got %s, want %s", text, problems, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	examples, err := filepath.Glob("../../../examples/*/study.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"", "study: x", "a: &a [*a]", "<<: {a: 1}", "study: !!binary x", "? a\n: b", "lanes: {a: {model: [[x]], stop: [[a], [b]]}}",
		"stages: [{name: a, judge: [], turns: [{each: q}]}]", "profiles: 3", "inputs: {q: {rows: [1-, x], sample: {n: 0}, join: [3]}}",
		"study: |\n  a\n b", "a: >+2\n   x", "%YAML 1.1\n---\na: 0o17", "lanes: {a: {variants: {b: {variants: {}}}}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, problems := studyfile.Read(fstest.MapFS{"s.yaml": {Data: text}}, "s.yaml", studyfile.Options{Set: []string{"study=fuzz"}})
		if s == nil && len(problems.Errors()) == 0 {
			t.Error("no study and no problem")
		}
	})
}

func TestStopIfIsAShareOfErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]study.StopIf{
		"error_rate > 0.1": 0.1, "error_rate>25%": 0.25, "error_rate > 100%": 1, "error_rate > 1.5": 0, "errors > 3": 0,
		"error_rate > -1": 0, "error_rate > x": 0,
	} {
		files := fstest.MapFS{"s.yaml": {Data: []byte("study: s\nstop_if: " + text + "\ninputs: {q: {items: [one]}}\n" +
			"lanes: {a: {model: openai/gpt-4.1, stop_if: error_rate > 0.5}}\nstages: [{name: x, ask: q, prompt: hi}]\n")}}
		s, problems := studyfile.Read(files, "s.yaml", studyfile.Options{})
		if (len(problems.Errors()) == 0) != (want > 0) {
			t.Errorf("%q: %v", text, problems)
		}
		if want > 0 && (s.StopIf != want || s.Lanes[0].StopIf != 0.5) {
			t.Errorf("%q: %v, lane %v", text, s.StopIf, s.Lanes[0].StopIf)
		}
	}
}
