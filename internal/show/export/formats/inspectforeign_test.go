package formats_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"assay/internal/show/export"
)

// head is a log of another program, without its samples.
const foreignHead = `"version":2,"status":"success","eval":{"created":"2026-01-02T03:04:05+00:00","task":"lab/arith","model":"openai/gpt-4o","dataset":{},"config":{}}`

// foreignSamples are samples as Inspect writes them.
var foreignSamples = []string{
	`{"id":7,"epoch":1,"input":"2+2?","target":["4","four"],"choices":["3","4"],"metadata":{"topic":"sums"},
		"output":{"model":"gpt-4o-x","choices":[{"message":{"role":"assistant","content":"4"},"stop_reason":"stop"}],"usage":{"input_tokens":5,"input_tokens_cache_read":3,"output_tokens":2,"total_tokens":10,"total_cost":0.5}},
		"scores":{"match":{"value":"C","answer":"4","explanation":"fits"},"len":{"value":1.5},"both":{"value":{"x":true,"y":[1]}},"gone":{"value":NaN,"reason":"grader_failed"}}}`,
	`{"id":7,"epoch":2,"input":"2+2?","target":["4","four"],"output":{"choices":[{"message":{"role":"assistant","content":[{"type":"reasoning","reasoning":"hm"},{"type":"text","text":"fo"},{"type":"text","text":"ur"}]},"stop_reason":"max_tokens"}]},
		"model_usage":{"openai/gpt-4o":{"input_tokens":9,"output_tokens":1,"total_tokens":10}},"scores":{"match":{"value":"I","history":[{"value":"C"}]}}}`,
	`{"id":"talk","epoch":1,"input":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],"target":"",
		"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"},{"role":"user","content":"Sure?"},{"role":"assistant","content":"Yes"}],
		"output":{"choices":[{"message":{"role":"assistant","content":"Yes"},"stop_reason":"stop"}]},"scores":{"match":{"value":-Infinity}}}`,
	`{"id":"tool","epoch":1,"input":"Look it up","target":"x","messages":[{"role":"user","content":"Look it up"},{"role":"assistant","content":"","tool_calls":[{"id":"1"}]},{"role":"tool","content":"r"},{"role":"assistant","content":"found"}],
		"output":{"choices":[{"message":{"role":"assistant","content":"found"},"stop_reason":"stop"}]}}`,
	`{"id":"bad","epoch":1,"input":"q","target":"","output":{"completion":"half"},"error":{"message":"Timeout: no reply","traceback":"","traceback_ansi":""}}`,
	`{"id":"no","epoch":1,"input":"q","target":"","output":{"choices":[{"message":{"role":"assistant","content":""},"stop_reason":"content_filter"}]}}`,
	`{"id":"limit","epoch":1,"input":"q","target":"","output":{"completion":"to be"},"limit":{"type":"token","limit":5}}`,
	`{"id":"void","epoch":1,"input":"q","target":"","output":{"completion":"x"},"invalidation":{"author":"me"}}`,
	`{"id":7,"epoch":3,"input":"3+3?","target":"6","output":{"completion":"6"}}`,
	`{"id":"broken","epoch":1,
	 "input": oops}`,
}

var foreignRows = []string{
	`item items 7 expect "4\nfour" {"choices":["3","4"],"text":"2+2?","topic":"sums"}`,
	`answer arith 7 gpt-4o  1 1 answered "4" "" "" in 8 out 2 cost 0.5`,
	`verdict both_x on arith 7 gpt-4o 1 1 by both valid "" 1 ""`,
	`verdict both_y on arith 7 gpt-4o 1 1 by both malformed "" - "the score is neither a number nor a text"`,
	`verdict gone on arith 7 gpt-4o 1 1 by gone failed "" - "grader_failed"`,
	`verdict len on arith 7 gpt-4o 1 1 by len valid "" 1.5 ""`,
	`verdict match on arith 7 gpt-4o 1 1 by match valid "C" 1 "fits"`,
	`answer arith 7 gpt-4o  1 2 cut "fo\nur" "hm" "" in 9 out 1 cost -`,
	`verdict match on arith 7 gpt-4o 1 2 by match valid "I" 0 ""`,
	`item items talk expect "" {"messages":["Hi","Sure?"],"system":"Be brief.","text":"Hi"}`,
	`answer arith talk gpt-4o  1 1 answered "Hello" "" "" in - out - cost -`,
	`answer arith talk gpt-4o  2 1 answered "Yes" "" "" in - out - cost -`,
	`verdict match on arith talk gpt-4o 2 1 by match abstained "" - "not scored"`,
	`item items tool expect "x" {"text":"Look it up"}`,
	`answer arith tool gpt-4o  1 1 answered "found" "" "" in - out - cost -`,
	`item items bad expect "" {"text":"q"}`,
	`answer arith bad gpt-4o  1 1 errored "half" "" "Timeout: no reply" in - out - cost -`,
	`item items no expect "" {"text":"q"}`,
	`answer arith no gpt-4o  1 1 refused "" "" "" in - out - cost -`,
	`item items limit expect "" {"text":"q"}`,
	`answer arith limit gpt-4o  1 1 cut "to be" "" "" in - out - cost -`,
}

const stamped = "2026-01-02T03-04-05-00-00_arith_t1"

func foreignJSON(samples ...string) []byte {
	return []byte("{" + foreignHead + `,"plan":{},"results":{},"stats":{},"samples":[` + strings.Join(samples, ",\n") + "]}")
}

// foreignZip packs a log by one method. A member comes before what replaces it.
func foreignZip(t testing.TB, method uint16, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(93, zstd.ZipCompressor())
	for i := 0; i < len(members); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: members[i], Method: method})
		if err == nil {
			_, err = w.Write([]byte(members[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestLogsOfInspectAreTakenInWhateverIsWrongWithSomeSamples(t *testing.T) {
	t.Parallel()
	members := []string{"samples/7_epoch_1.json", `{"id":7,"epoch":1,"input":"an older try"}`}
	for i, s := range foreignSamples {
		members = append(members, "samples/"+
			[]string{"7_epoch_1", "7_epoch_2", "talk", "tool", "bad", "no", "limit", "void", "7_epoch_3", "broken"}[i]+".json", s)
	}
	members = append(members, "header.json", "{"+foreignHead+"}")
	cut := append(members[:len(members)-2:len(members)-2], "_journal/start.json",
		strings.Replace("{"+foreignHead+"}", "success", "started", 1))
	for name, c := range map[string]struct {
		file  string
		bytes []byte
		want  []string
	}{
		"json":    {stamped + ".json", foreignJSON(foreignSamples...), nil},
		"deflate": {"any.eval", foreignZip(t, zip.Deflate, members...), nil},
		"stored":  {"any.eval", foreignZip(t, zip.Store, members...), nil},
		"zstd":    {"any.eval", foreignZip(t, 93, members...), nil},
		"cut off": {"any.eval", foreignZip(t, zip.Deflate, cut...), []string{"note: d/any.eval is of a run that did not finish (started)"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, bad, err := imported(t, "inspect", fstest.MapFS{"d/" + c.file: {Data: c.bytes}, "d/logs.json": {Data: []byte("{")},
				"export.json": {Data: []byte("{}")}}, export.From{})
			ok(t, err)
			if diff := cmp.Diff(foreignRows, rows); diff != "" {
				t.Error(diff)
			}
			want := append(c.want, "note: 1 sample was left out: the log calls them invalid")
			for i, text := range []string{`asks something else than the one of this id in d/` + c.file, "invalid character 'o'"} {
				if !strings.Contains(bad[len(c.want)+i], text) {
					t.Errorf("%q does not say %q", bad[len(c.want)+i], text)
				}
			}
			last := bad[len(bad)-1]
			if !strings.Contains(last,
				"1 sample has tools, images or sound, such as this one (of these the last answer in words is taken)") {
				t.Errorf("%q", last)
			}
			if diff := cmp.Diff(want, append(bad[:len(c.want):len(c.want)], bad[len(bad)-2])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A broken sample is reported with file, member, line and column.
func TestBrokenLogsOfInspectAreReportedWithTheirPlace(t *testing.T) {
	t.Parallel()
	sound := `{"id":"a","epoch":1,"input":"q","target":"","output":{"completion":"x"}}`
	bomb := strings.Repeat("0", 200<<20)
	packed := foreignZip(t, zip.Deflate, "header.json", "{"+foreignHead+"}", "samples/a.json", bomb, "samples/b.json", sound)
	for name, c := range map[string]struct {
		file, text, want string
	}{
		"a sample": {stamped + ".json", string(foreignJSON(sound, "{\"id\":\"b\",\n \"epoch\": x}")),
			stamped + ".json:3:11: invalid character 'x'"},
		"a wrong kind": {stamped + ".json", string(foreignJSON(sound, `{"id":"b","epoch":"many"}`)),
			"epoch is a string, which cannot be"},
		"no id":     {stamped + ".json", string(foreignJSON(sound, `{"epoch":1}`)), stamped + ".json:2:1: the sample has no id"},
		"cut short": {stamped + ".json", string(foreignJSON(sound))[:len(foreignJSON(sound))-9], "does not end"},
		"a member": {"x.eval", string(foreignZip(t, zip.Deflate, "header.json", "{"+foreignHead+"}", "samples/a.json", sound,
			"samples/b.json", "{\n\n]")), "x.eval/samples/b.json:3:1: invalid character"},
		"a long member": {"x.eval", string(packed), "x.eval/samples/a.json: it has more than 64 MB"},
		"no header": {"x.eval", string(foreignZip(t, zip.Deflate, "samples/a.json", sound)),
			"x.eval: it is no log of Inspect: it has no header.json"},
		"no zip":         {"x.eval", "PK\x03\x04 and no more", "x.eval: zip: not a valid zip file"},
		"no log":         {stamped + ".json", `{"hello":"world"}`, "it is no log of Inspect: it names no task"},
		"a wrong header": {stamped + ".json", "{\"eval\":\n 7}", stamped + ".json: eval is a number, which cannot be"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, bad, err := imported(t, "inspect", fstest.MapFS{c.file: {Data: []byte(c.text)}}, export.From{})
			if err != nil && !errors.Is(err, export.ErrNothing) {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(bad, "\n"), c.want) {
				t.Errorf("%q does not say %q", bad, c.want)
			}
		})
	}
}

// Of the tries of one task and lane the newest counts; lanes and tasks that share a name get names of their own.
func TestLogsOfInspectGetStagesAndLanes(t *testing.T) {
	t.Parallel()
	log := func(created, task, model, config, text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(`{"version":2,"status":"success","eval":{"created":"` + created + `","task":"` + task +
			`","model":"` + model + `","model_generate_config":` + config +
			`,"dataset":{},"config":{}},"samples":[{"id":1,"epoch":1,"input":"q","target":"","output":{"completion":"` + text +
			`"},"scores":{"ok":{"value":1}}}]}`)}
	}
	rows, bad, err := imported(t, "inspect", fstest.MapFS{
		"2026-01-01T00-00-00_a.json": log("2026-01-01", "t", "x/m", `{"temperature":0}`, "old"),
		"2026-01-02T00-00-00_a.json": log("2026-01-02", "t", "x/m", `{"temperature":0}`, "new"),
		"2026-01-03T00-00-00_b.json": log("2026-01-03", "t", "x/m", `{"temperature":1}`, "hot"),
		"2026-01-04T00-00-00_c.json": log("2026-01-04", "t", "y/m", `{"temperature":1}`, "other"),
		"2026-01-05T00-00-00_d.json": log("2026-01-05", "lab/t", "x/m", `{}`, "task"),
	}, export.From{})
	ok(t, err)
	var answers []string
	for _, r := range rows {
		if f := strings.Fields(r); f[0] == "answer" {
			answers = append(answers, strings.Join(append(f[1:4], f[7]), " "))
		} else if f[0] == "verdict" && f[1] != f[3]+"_ok" {
			t.Errorf("verdict of stage %s on %s", f[1], f[3])
		}
	}
	want := []string{`t 1 m-model-x-temperature-0 "new"`, `t 1 m-model-x-temperature-1 "hot"`, `t 1 m-model-y-temperature-1 "other"`,
		`t_2 1 m "task"`}
	if diff := cmp.Diff(want, answers); diff != "" {
		t.Error(diff)
	}
	if len(bad) != 1 || !strings.Contains(bad[0], "2026-01-01T00-00-00_a.json is left out: 2026-01-02T00-00-00_a.json is a newer log") {
		t.Errorf("%q", bad)
	}
}

const promptfooFile = `{"evalId":"e","results":{"version":3,"results":[
 {"provider":{"id":"openai:gpt-4o","label":""},"vars":{"q":"2+2?"},"promptIdx":0,"prompt":{"label":"plain","raw":"What is 2+2?"},"response":{"output":"4","tokenUsage":{"prompt":5,"completion":1,"total":6},"cost":0.01},
  "error":"no match","failureReason":1,"gradingResult":{"componentResults":[{"pass":true,"score":1,"reason":"ok","assertion":{"type":"equals"}},{"pass":false,"score":0.25,"reason":"dull","assertion":{"type":"llm-rubric","metric":"style"}}]}},
 {"provider":{"id":"openai:gpt-4o"},"vars":{"q":"2+2?"},"promptIdx":0,"prompt":{"label":"plain","raw":"What is 2+2?"},"response":{"output":{"n":4}},"cost":0,"failureReason":0},
 {"provider":"echo","vars":{"q":"2+2?"},"promptIdx":1,"prompt":{"label":"Really: what?","raw":"Really: what?"},"response":{"output":"I cannot","isRefusal":true},"failureReason":0},
 {"provider":"echo","vars":{"q":"3+3?"},"promptIdx":1,"prompt":{"label":"Really: what?","raw":"Really: what?"},"error":"429 too many","failureReason":2},
 {"provider": 7, "vars": no}
]}}`

func TestResultsOfPromptfooAreTakenIn(t *testing.T) {
	t.Parallel()
	var lines []string // the same as JSON lines
	for _, line := range strings.SplitAfter(promptfooFile, "\n") {
		lines = append(lines, strings.TrimRight(line, "\n"))
	}
	jsonl := strings.TrimSuffix(strings.TrimSpace(lines[1]+lines[2]), ",") + "\n\n" +
		strings.TrimSuffix(strings.Join(lines[3:6], "\n"), ",") + "\n" + lines[6]
	jsonl = strings.ReplaceAll(jsonl, "},\n", "}\n")
	want := []string{
		`item items 5d692b696b76126512d2 expect "" {"q":"2+2?","text":"What is 2+2?"}`,
		`answer answers 5d692b696b76126512d2 openai-gpt-4o plain 1 1 answered "4" "" "" in 5 out 1 cost 0.01`,
		`verdict equals on answers 5d692b696b76126512d2 openai-gpt-4o 1 1 by equals valid "" 1 "ok"`,
		`verdict style on answers 5d692b696b76126512d2 openai-gpt-4o 1 1 by llm-rubric valid "" 0.25 "dull"`,
		`answer answers 5d692b696b76126512d2 openai-gpt-4o plain 1 2 answered "{\"n\":4}" "" "" in - out - cost -`,
		`answer answers 5d692b696b76126512d2 echo p2 1 1 refused "I cannot" "" "" in - out - cost -`,
		`item items 5f4fc6914d6f132b218b expect "" {"q":"3+3?","text":"Really: what?"}`,
		`answer answers 5f4fc6914d6f132b218b echo p2 1 1 errored "" "" "429 too many" in - out - cost -`,
	}
	for name, text := range map[string]string{"r.json": promptfooFile, "r.jsonl": jsonl} {
		rows, bad, err := imported(t, "promptfoo", fstest.MapFS{name: {Data: []byte(text)}}, export.From{File: name})
		ok(t, err)
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if len(bad) != 1 || !strings.Contains(bad[0], name+":") || !strings.Contains(bad[0], "invalid character 'o'") {
			t.Errorf("%s: %q", name, bad)
		}
	}
	if _, _, err := imported(t, "promptfoo", fstest.MapFS{"x.json": {Data: []byte(`{"a":1}`)}}, export.From{}); !errors.Is(err,
		export.ErrNothing) {
		t.Errorf("a file of something else: %v", err)
	}
}

func TestSamplesOfTheHarnessAreTakenIn(t *testing.T) {
	t.Parallel()
	row := func(id, filter, value string) string {
		return `{"doc_id":` + id + `,"doc":{"question":"2+2?"},"target":"4","arguments":{"gen_args_0":{"arg_0":"Q: 2+2?","arg_1":{"until":["\n"]}}},"resps":[["It is 4","5"]],"filtered_resps":["4"],"filter":"` +
			filter + `","metrics":["exact_match","all"],"exact_match":` + value + `,"all":[1]}` + "\n"
	}
	rows, bad, err := imported(t, "lm-eval", fstest.MapFS{
		"org__m-1/samples_sums_2026-01-01T00-00-00.000000.jsonl": {Data: []byte("{}\n")}, // an older try
		"org__m-1/samples_sums_2026-01-02T00-00-00.000000.jsonl": {Data: []byte(row("0", "strict", "0.0") +
			row("0", "flexible", "1.0") + "oops\n")},
		"org__m-1/results_2026-01-02T00-00-00.000000.json":       {Data: []byte(`{"model_name":"org/m-1","results":{"x":NaN}}`)},
		"org__m-2/samples_sums_2026-01-02T00-00-00.000000.jsonl": {Data: []byte(row("0", "strict", "true"))},
		"org__m-2/samples_pick_2026-01-02T00-00-00.000000.jsonl": {
			Data: []byte(`{"doc_id":0,"doc":{},"target":1,"resps":[[["-1.5","False"]],[["-0.5","True"]]]}` + "\n")},
	}, export.From{})
	ok(t, err)
	want := []string{
		`item sums_items 0 expect "4" {"question":"2+2?","text":"Q: 2+2?"}`,
		`answer sums 0 m-1  1 1 answered "It is 4" "" "" in - out - cost -`,
		`answer sums 0 m-1  1 2 answered "5" "" "" in - out - cost -`,
		`verdict sums_exact_match on sums 0 m-1 1 1 by strict valid "" 0 ""`,
		`verdict sums_exact_match on sums 0 m-1 1 1 by flexible valid "" 1 ""`,
		`answer sums 0 m-2  1 1 answered "It is 4" "" "" in - out - cost -`,
		`answer sums 0 m-2  1 2 answered "5" "" "" in - out - cost -`,
		`verdict sums_exact_match on sums 0 m-2 1 1 by strict valid "" 1 ""`,
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if len(bad) != 2 || !strings.Contains(bad[0], ".jsonl:3:1: invalid character 'o'") ||
		!strings.Contains(bad[1], "likelihoods of given texts and no answers") {
		t.Errorf("%q", bad)
	}
}

// Whatever a file holds, a reader ends, and reports what it could not read.
func FuzzLogsOfOthers(f *testing.F) {
	f.Add(0, foreignJSON(foreignSamples...))
	f.Add(1, foreignZip(f, zip.Deflate, "header.json", "{"+foreignHead+"}", "samples/a.json", foreignSamples[0]))
	f.Add(2, []byte(promptfooFile))
	f.Add(3, []byte(`{"doc_id":0,"resps":[["x"]],"metrics":["m"],"m":1}`))
	f.Fuzz(func(t *testing.T, kind int, text []byte) {
		name := []string{stamped + ".json", "a.eval", "a.json", "samples_a_2026-01-01T00-00-00.jsonl"}[uint(kind)%4]
		format := []string{"inspect", "inspect", "promptfoo", "lm-eval"}[uint(kind)%4]
		rows, bad, err := imported(t, format, fstest.MapFS{name: {Data: text}}, export.From{})
		if err != nil && !errors.Is(err, export.ErrNothing) && !errors.Is(err, export.ErrRuns) {
			t.Fatalf("%v after %d rows, %q", err, len(rows), bad)
		}
	})
}
