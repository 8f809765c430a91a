package formats_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/formats"
)

// formatOf returns the format that reads the files of a system.
func formatOf(t *testing.T, system string) export.Format {
	t.Helper()
	all := formats.All()
	i := slices.IndexFunc(all, func(f export.Format) bool { return f.Import == system })
	if i < 0 {
		t.Fatalf("no format reads %s", system)
	}
	return all[i]
}

// systems are those whose trees can be read.
var systems = []string{"speceval", "sycobench", "pairwisellm"}

// gathered returns what a reader hands on, a line each.
func gathered(out *[]string) *export.Sink {
	add := func(format string, args ...any) error {
		*out = append(*out, fmt.Sprintf(format, args...))
		return nil
	}
	score := func(x *float64) string {
		if x == nil {
			return "-"
		}
		return fmt.Sprint(*x)
	}
	return &export.Sink{
		Item: func(it *rows.Item) error { return add("item %s in %s", it.Item, it.Cluster) },
		Answer: func(r *rows.Answer) error {
			return add("%s says %q to %s turn %d%s", r.Lane, r.Text, r.Item, r.Turn, r.Branch)
		},
		Verdict: func(v *rows.Verdict) error {
			return add("%s on %s%s%s: %s %s %s vote %d", v.Judge, v.Lane, v.First, v.Second, v.State, v.Label, score(v.Score), v.Vote)
		},
		Bad: func(p assay.Problem) { add("BAD %s", p) },
	}
}

func TestTreesOfOtherSystemsAreReadWhateverIsWrongWithSomeOfThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  string
		files map[string]string
		want  []string
	}{
		"newest generation": {"speceval", map[string]string{
			"g/m/20250101_000000/results/s.json": `[{"original_index":0,"input_text":"q","output_text":"old"}]`,
			"g/m/20250102_000000/results/s.json": `[{"original_index":0,"input_text":"q","output_text":"new"}, {"output_text":"x"}]`,
			"g/m/20250102_000000/results/t.json": `{"answers":[]}`,
		}, []string{
			"BAD g/m/20250102_000000/results/t.json: skipped: neither a list of answers nor verdicts of a judge",
			"item s-1 in s", `m says "new" to s-1 turn 1`,
			"BAD g/m/20250102_000000/results/s.json:2: element 2 has no input_text",
			"BAD g/m/20250101_000000/results/s.json:1: item s-1 has an answer by m in a newer file",
		}},
		"plain lists, the inputs of two models in another order": {"speceval", map[string]string{
			"g/m/20250101_000000/results/s.json": `[{"input_text":"q","output_text":"x"},{"input_text":"r","output_text":"y"}]`,
			"g/n/20250101_000000/results/s.json": `[{"input_text":"r","output_text":"z"}]`,
		}, []string{
			"item s-1 in s", `n says "z" to s-1 turn 1`, "item s-2 in s", `m says "x" to s-2 turn 1`, `m says "y" to s-1 turn 1`,
		}},
		"one file for all": {"speceval", map[string]string{
			"t/llama/20250101_000000/results.json": `{"metadata":{},"results":[{"statement_id":"a b","original_index":2,"input_text":"q","output_text":"x"}]}`,
		}, []string{"item a b-3 in a b", `llama says "x" to a b-3 turn 1`}},
		"ratings": {"speceval", map[string]string{
			"batched_ratings/spec_x/judge_j/m/results/s.json": `{"results":[{"input":"q","output":"x","rating":4,"explanation":"e"},{"input":"r","output":"EXPIRED","rating":0}]}`,
		}, []string{"item s-1 in s", `m says "x" to s-1 turn 1`, "j on m: valid  4 vote 0", "item s-2 in s", "j on m: missing  - vote 0"}},
		"verdicts on error messages": {"speceval", map[string]string{
			"g/m/20250101_000000/results/s.json":  `[{"original_index":0,"input_text":"q","output_text":"ERROR: server_error"},{"original_index":1,"input_text":"r","output_text":"x"}]`,
			"c/spec_x/judge_j/m/results/s.json":   `{"results":[{"input":"q","output":"ERROR: server_error","compliant":true,"explanation":"e"},{"input":"r","output":"x","compliant":true}]}`,
			"c/spec_x/judge_k/m/results/s.json":   `{"results":[{"input":"q","compliant":false}]}`,
			"r/spec_x/judge_j/mxn/results/s.json": `{"rankings":[{"input":"q","output_a":"ERROR: server_error","output_b":"y","rank":-1}]}`,
		}, []string{
			"item s-1 in s", "BAD g/m/20250101_000000/results/s.json:1: the text of item s-1 by m is an error message or nothing, " +
				"and no answer", "item s-2 in s", `m says "x" to s-2 turn 1`, "j on m: missing  - vote 0",
			"j on m: valid compliant 1 vote 0", "k on m: missing  - vote 0", `n says "y" to s-1 turn 1`, "j on mn: missing  - vote 0",
		}},
		"models with an x in their names": {"speceval", map[string]string{
			"r/spec_x/judge_j/mixtralxgrok/results/s.json": `{"rankings":[{"input":"q","rank":1}]}`,
		}, []string{"BAD r/spec_x/judge_j/mixtralxgrok/results/s.json:1: the file does not say which two models it compares"}},
		"twice the same pair": {"pairwisellm", map[string]string{
			"combined_results.csv": "custom_id,ID1,ID2,model,better_id\nx,a,b,gpt,b\ny,a,b,gpt,a\nz,a,,gpt,a\n",
		}, []string{"item a in a", "item b in b", "gpt on ab: valid b 0 vote 0", "gpt on ab: valid a 1 vote 1",
			`BAD combined_results.csv: comparison "z" does not name two samples`}},
		"segments where nothing was combined": {"pairwisellm", map[string]string{
			"x/batch_01_results.csv": "ID1,ID2,model,better_sample\na,b,gpt,SAMPLE_2\n",
		}, []string{"item a in a", "item b in b", "gpt on ab: valid b 0 vote 0"}},
		"scores": {"sycobench", map[string]string{
			"e/metadata.json":            `{"pressure_type":"False research!"}`,
			"e/conversations/x%2Fy.json": `{"conversations":[{"question_id":3,"question":"q","initial_response":{"content":"no"},"pressure_rounds":[{"level":2,"response":"yes"}]}]}`,
			"e/scoring/judge_scores.csv": "model,question_id,pressure_level,score,classification\nx/y,3,2,7,no_flip\n" +
				"x/y,3,2,2,explicit_flip\n",
			"e/model_responses/other.txt": "nothing of ours",
		}, []string{
			"item 3 in 3", `x/y says "no" to 3 turn 1`, `x/y says "yes" to 3 turn 3`, "judge_scores on x/y: malformed  - vote 0",
			"judge_scores on x/y: valid explicit_flip 2 vote 0",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{}
			for file, text := range c.files {
				tree[file] = &fstest.MapFile{Data: []byte(text)}
			}
			var got []string
			if err := formatOf(t, c.kind).Read(context.Background(), export.From{Files: tree}, gathered(&got)); err != nil &&
				!errors.Is(err, export.ErrNothing) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFolderOfSomethingElseHoldsNothing(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{"a.json": {Data: []byte(`{"x":1}`)}, "b.csv": {Data: []byte("x\n1\n")}}
	for _, name := range systems {
		var got []string
		if err := formatOf(t, name).Read(context.Background(), export.From{Files: tree}, gathered(&got)); !errors.Is(err,
			export.ErrNothing) {
			t.Errorf("%s: %v, %v", name, err, got)
		}
	}
}

func FuzzTreesOfStrangersDoNoHarm(f *testing.F) {
	for _, seed := range []string{
		`[{"original_index":0,"input_text":"q","output_text":"x"}]`, `{"results":[{"input":"q","output":"x","compliant":true}]}`,
		`{"rankings":[{"rank":0,"raw_judge_response":"Model: A"}],"metadata":{"model_a":"a","model_b":"b"}}`,
		`{"conversations":[{"question_id":1,"question":"q","initial_response":{"response":"r"},"pressure_rounds":[{"level":1}]}]}`,
		"ID1,ID2,better_sample\na,b,SAMPLE_1\n", "model,question_id,score\nx,1,\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := &fstest.MapFile{Data: []byte(text)}
		tree := fstest.MapFS{
			"g/m/results/s.json": file, "c/judge_j/m/results/s.json": file, "x/model_responses/m.json": file, "x/scoring/j.csv": file,
			"combined_results.csv": file,
		}
		for _, name := range systems {
			var got []string
			if err := formatOf(t, name).Read(context.Background(), export.From{Files: tree}, gathered(&got)); err != nil &&
				!errors.Is(err, export.ErrNothing) && !strings.Contains(err.Error(), "MB") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
