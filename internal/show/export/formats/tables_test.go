package formats_test

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/show/export"
)

// readAll returns what a format hands on from some files, a line each.
func readAll(t *testing.T, system string, files map[string]string, from export.From) ([]string, error) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	var got []string
	from.Files = tree
	err := formatOf(t, system).Read(context.Background(), from, gathered(&got))
	return got, err
}

func TestTablesOfOthersNeedItemLaneAndTextAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		system string
		files  map[string]string
		from   export.From
		want   []string
		err    error
	}{
		"a table of another program": {"csv", map[string]string{"mine.csv": "item,lane,text\nq,m,yes\nq,m,again\n"},
			export.From{File: "mine.csv"}, []string{
				"item q in q", `m says "yes" to q turn 1`,
			}, nil},
		"verdicts inside the rows of answers": {"jsonl", map[string]string{"answers.jsonl": `{"item":"q","lane":"m","text":"yes","verdicts":[{"stage":"ok","judge":"j","state":"valid","label":"safe","score":1},{"stage":"arena","second":"n"}]}
{"verb":"judge","item":"q","lane":"m","judge":"j"}
{"verb":"compare","stage":"arena","source":"answers","item":"q","first":"m","second":"n","judge":"j","verdicts":[{"state":"valid","label":"a","score":1}]}
{"verb":"compare","stage":"scale","input":"s","first":"S1","second":"S2","judge":"j","vote":1,"verdicts":[{"state":"valid","label":"b","score":0}]}
`}, export.From{}, []string{
			"item q in q", `m says "yes" to q turn 1`, "j on m: valid safe 1 vote 0", "j on mn: valid a 1 vote 0", "item S1 in S1",
			"item S2 in S2", "j on S1S2: valid b 0 vote 1",
		}, nil},
		"verdicts in their own table": {"csv", map[string]string{
			"items.csv":    "run,input,item,cluster\nr,q,a,c\n",
			"answers.csv":  "run,input,item,lane,text\nr,q,a,m,yes\n",
			"verdicts.csv": "run,stage,item,lane,judge,state,label,score\nr,ok,a,m,j,valid,safe,1\n",
		}, export.From{}, []string{"item a in c", `m says "yes" to a turn 1`, "j on m: valid safe 1 vote 0"}, nil},
		"one run of several": {"csv", map[string]string{
			"items.csv":    "run,input,item,cluster\nr,q,a,c\ns,q,b,c\n",
			"answers.csv":  "run,input,item,lane,text\nr,q,a,m,yes\ns,q,b,m,no\n",
			"verdicts.csv": "run,stage,item,lane,judge,state\nr,ok,a,m,j,failed\ns,ok,b,m,j,failed\n",
		}, export.From{Run: "s"}, []string{"item b in c", `m says "no" to b turn 1`, "j on m: failed  - vote 0"}, nil},
		"several runs": {"csv", map[string]string{"answers.csv": "run,item,lane,text\nr,a,m,yes\ns,a,m,no\n"},
			export.From{}, []string{"item a in a", `m says "yes" to a turn 1`}, export.ErrRuns},
		"another form": {"parquet", map[string]string{"answers.csv": "item\na\n"}, export.From{}, nil,
			export.ErrNothing},
		"a file where a folder is wanted": {"speceval", map[string]string{"x.json": "[]"}, export.From{File: "x.json"}, nil,
			export.ErrFile},
		"a file of conversations": {"sycobench", map[string]string{"x.json": "[]"}, export.From{File: "x.json"}, nil,
			export.ErrFile},
		"a file of comparisons": {"pairwisellm", map[string]string{"x.csv": "a"}, export.From{File: "x.csv"}, nil,
			export.ErrFile},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readAll(t, c.system, c.files, c.from)
			if !errors.Is(err, c.err) {
				t.Errorf("the error is %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The systems before wrote 0, SAMPLE_2 or nothing for what failed. The meaning is read from the fields beside it.
func TestAFailureOfTheSystemsBeforeIsNoVerdict(t *testing.T) {
	t.Parallel()
	got, err := readAll(t, "speceval",
		map[string]string{"r/spec_x/judge_j/axb/results/s.json": `{"metadata":{"model_a":"a","model_b":"b"},"rankings":[
		{"input":"q","rank":1}, {"input":"q","rank":-1}, {"input":"q","rank":0,"raw_judge_response":"{\"model\":\"equal\"}"}, {"input":"q","rank":0,"raw_judge_response":"{\"model\":\"A\"}"},
		{"input":"q","rank":0,"raw_judge_response":"no idea"}, {"input":"q","rank":0,"judge_custom_id_task":"k"}, {"input":"q","rank":7}, {"input":"q"}, {"input":"q","state":"failed"}, {"input":"q","state":"unsafe"}]}`}, export.From{})
	ok(t, err)
	want := []string{
		"item s-1 in s", "j on ab: valid a 1 vote 0", "j on ab: valid b 0 vote 0", "j on ab: valid tie 0.5 vote 0",
		"j on ab: malformed  - vote 0", "j on ab: malformed  - vote 0", "j on ab: valid tie 0.5 vote 0", "j on ab: malformed  - vote 0",
		"j on ab: malformed  - vote 0", "j on ab: failed  - vote 0", "j on ab: malformed  - vote 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = readAll(t, "pairwisellm", map[string]string{
		"t__openai__gpt__5__forward/combined_results.csv": `ID1,ID2,better_sample,better_id,status_code,error_message,state
a,b,SAMPLE_1,a,200,,
b,a,TIE,,200,,
a,c,,,500,overloaded,
c,a,,,200,,
b,c,SAMPLE_2,c,200,,failed
`}, export.From{})
	ok(t, err)
	want = []string{
		"item a in a", "item b in b", "gpt.5 on ab: valid a 1 vote 0", "gpt.5 on ba: valid tie 0.5 vote 0", "item c in c",
		"gpt.5 on ac: failed  - vote 0", "gpt.5 on ca: malformed  - vote 0", "gpt.5 on bc: failed  - vote 0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, err = readAll(t, "sycobench", map[string]string{"e/scoring/j.csv": "model,question_id,score,classification,reasoning,state\n" +
		"m,1,0,error,timeout,\nm,1,,,,malformed\nm,1,1,soft_flip,,valid\n"}, export.From{})
	ok(t, err)
	want = []string{"j on m: failed  - vote 0", "j on m: malformed  - vote 0", "j on m: valid soft_flip 1 vote 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
