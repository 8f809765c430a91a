package formats_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/formats"
	"assay/internal/study/catalog"
)

// sources are files of results.
func sources(texts ...string) []export.Source {
	var out []export.Source
	for i, text := range texts {
		out = append(out, export.Source{Name: fmt.Sprintf("%c.jsonl", 'a'+i),
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
	}
	return out
}

// taken returns what a reader makes of results, a line each.
func taken(t *testing.T, from export.From) []string {
	t.Helper()
	var out []string
	tokens := func(n *int64) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	sink := &export.Sink{
		Item: func(it *rows.Item) error {
			if it.Fields != "" {
				out = append(out, fmt.Sprintf("item %s %s", it.Item, it.Fields))
			}
			return nil
		},
		Answer: func(r *rows.Answer) error {
			if r.Cost != nil {
				t.Errorf("item %s has a cost that no line says", r.Item)
			}
			out = append(out, fmt.Sprintf("%s %s: %s %q %s/%s %s", r.Lane, r.Item, r.Ending, r.Text, tokens(r.InputTokens),
				tokens(r.OutputTokens), r.FaultMessage))
			return nil
		},
		Bad:  func(p assay.Problem) { out = append(out, "BAD "+p.String()) },
		Note: func(text string) { out = append(out, "note "+text) },
	}
	if err := formatOf(t, "batch").Read(context.Background(), from, sink); err != nil {
		t.Fatal(err)
	}
	return out
}

const (
	chatAnswer  = `{"custom_id":"q1","response":{"status_code":200,"body":{"object":"chat.completion","model":"gpt-4.1-mini","choices":[{"message":{"content":"no"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}},"error":null}`
	chatError   = `{"custom_id":"q2","response":{"status_code":400,"body":{"error":{"message":"too long","type":"invalid_request_error"}}},"error":null}`
	chatExpired = `{"custom_id":"q3","response":null,"error":{"code":"batch_expired","message":"out of time"}}`
	modelAnswer = `{"custom_id":"q1","response":{"status_code":200,"body":{"object":"response","model":"o3","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"yes"}]}]}}}`
)

func TestResultsOfBatchesAreReadWhoeverWroteThem(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		from export.From
		want []string
	}{
		"answers and errors in two files": {export.From{Sources: sources(chatAnswer+"\n\n"+chatExpired, chatError)}, []string{
			`gpt-4.1-mini q1: answered "no" 3/2 `, `gpt-4.1-mini q3: expired "" ?/? out of time`,
			`gpt-4.1-mini q2: rejected "" ?/? too long`,
		}},
		"the other API, without usage": {export.From{Sources: sources(modelAnswer)}, []string{`o3 q1: answered "yes" ?/? `}},
		"messages": {export.From{Sources: sources(
			`{"custom_id":"a","result":{"type":"succeeded","message":{"model":"claude-x","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":1}}}}` + "\n" +
				`{"custom_id":"b","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"no"}}}}` + "\n" +
				`{"custom_id":"c","result":{"type":"canceled"}}`,
		)}, []string{`claude-x a: answered "hi" 5/1 `, `claude-x b: rejected "" ?/? no`, `claude-x c: cancelled "" ?/? `}},
		"keyed, and with the id among labels": {export.From{Sources: sources(
			`{"key":"k","response":{"modelVersion":"gemini-x","candidates":[{"content":{"parts":[{"text":"hi"}]},"finishReason":"STOP"}]}}`+
				"\n"+`{"key":"l","error":{"code":3,"message":"bad"}}`,
			`{"status":"","request":{"contents":[]},"response":{"modelVersion":"gemini-x","candidates":[{"content":{"parts":[{"text":"nameless"}]},"finishReason":"STOP"}]}}`,
		)}, []string{`gemini-x k: answered "hi" ?/? `, "BAD b.jsonl:1: the line has no custom_id and no key (it cannot be told which " +
			"request it answers)", `gemini-x l: rejected "" ?/? bad`}},
		"an error whose answer came later": {export.From{Lane: "m",
			Sources: sources(chatError, strings.ReplaceAll(chatAnswer, "q1", "q2"))}, []string{
			`m q2: answered "no" 3/2 `, "note 1 error was left out: the same request has an answer",
		}},
		"the same lines twice, and one that disagrees": {
			export.From{Sources: sources(chatAnswer, chatAnswer, strings.Replace(chatAnswer, `"no"`, `"yes"`, 1))}, []string{
				`gpt-4.1-mini q1: answered "no" 3/2 `, `BAD c.jsonl:1: another line answers "q1" in other words (the first is kept)`,
				"note 1 line says what another line says as well, and counted once",
			}},
		"an error of no one": {export.From{Sources: sources(chatError)}, []string{
			"BAD a.jsonl:1: the error does not say which model was asked (name it with --lane NAME, or give the file of requests with " +
				"--requests FILE)",
		}},
		"what was asked": {export.From{Sources: sources(chatAnswer+"\n"+strings.ReplaceAll(chatAnswer, "q1",
			"x")+"\n"+strings.ReplaceAll(chatAnswer, "q1", "y"), chatError), Requests: &sources(
			`{"custom_id":"q2","method":"POST","url":"/v1/chat/completions","body":{"model":"m2","messages":[{"role":"user","content":"first"},{"role":"user","content":[{"type":"text","text":"two"}]}]}}` + "\n" +
				`{"custom_id":"q1","method":"POST","url":"/v1/responses","body":{"model":"a/m1","input":"one"}}` + "\n" +
				`{"custom_id":"q9","method":"POST","url":"/v1/responses","body":{"model":"m1","input":"nine"}}`)[0]}, []string{
			`item q2 {"text":"two"}`, `item q1 {"text":"one"}`, `item q9 {"text":"nine"}`, `m1 q1: answered "no" 3/2 `,
			`m2 q2: rejected "" ?/? too long`, `m1 q9:  "" ?/? `, "note 1 request of a.jsonl has no line in the results",
			`BAD a.jsonl:2: 2 ids are in no request of a.jsonl, such as "x" (they are left out)`,
		}},
		"lines of all other kinds": {
			export.From{Sources: sources("{\"custom_id\":\n[1]\n5\n{}\n{\"result\":5}\n{\"custom_id\":\"q\",\"params\":{}}\n" +
				"{\"custom_id\":\" \",\"response\":{\"status_code\":200,\"body\":{\"choices\":[]}}}\n" + chatAnswer)}, []string{
				"BAD a.jsonl:1: the line is cut off (the end of its JSON is missing)", "BAD a.jsonl:2: the line is not a JSON object",
				"BAD a.jsonl:3: the line is not a JSON object",
				"BAD a.jsonl:4: not a line of any provider's results (want response, result or error)",
				"BAD a.jsonl:5: not a line of any provider's results (want response, result or error)",
				"BAD a.jsonl:6: this is a line of requests, not of results (assay batch submit sends such a file; results are what the " +
					"provider gave back)", "BAD a.jsonl:7: its id is blank",
				`gpt-4.1-mini q1: answered "no" 3/2 `,
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, taken(t, c.from)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAVendorThatIsNamedMustFitTheLines(t *testing.T) {
	t.Parallel()
	v, _ := catalog.Default().Vendor("anthropic")
	got := taken(t, export.From{Sources: sources(chatAnswer), Vendor: &v})
	if diff := cmp.Diff([]string{
		"BAD a.jsonl:1: anthropic does not write results of this form (without --provider the form is recognised)"}, got); diff != "" {
		t.Error(diff)
	}
	v, _ = catalog.Default().Vendor("mistral")
	if got := taken(t, export.From{Sources: sources(chatAnswer), Vendor: &v}); len(got) != 1 || !strings.Contains(got[0], `answered "no"`) {
		t.Error(got)
	}
}

func TestColumnsOfATableMayHaveOtherNames(t *testing.T) {
	t.Parallel()
	read := func(format, text string, from export.From) ([]string, error) {
		var out []string
		from.Files, from.File = fstest.MapFS{"t": &fstest.MapFile{Data: []byte(text)}}, "t"
		err := formatOf(t, format).Read(context.Background(), from, &export.Sink{
			Item: func(*rows.Item) error { return nil },
			Answer: func(r *rows.Answer) error {
				cost := "?"
				if r.Cost != nil {
					cost = fmt.Sprint(*r.Cost)
				}
				out = append(out, fmt.Sprintf("%s %s %s %q %s %s", r.Lane, r.Item, r.Ending, r.Text, r.FaultMessage, cost))
				return nil
			},
			Bad: func(p assay.Problem) { out = append(out, "BAD "+p.String()) },
		})
		return out, err
	}
	mapped := export.From{Columns: map[string]string{"item": "id", "text": "answer"}, Lane: "m"}
	const collected = "custom_id,line,model,status,text,finish,input_tokens,output_tokens,cost_usd,error\n" +
		"q1,1,gpt,answered,'=1+1,stop,1,2,0.5,\nq2,2,gpt,rejected,,,,,,too long\nq3,3,gpt,open,,,,,,\n"
	for name, c := range map[string]struct {
		format, text string
		from         export.From
		want         []string
	}{
		"csv": {"csv", "id,answer,text\n1,yes,other\n,no,\n", mapped, []string{`m 1  "yes"  ?`, "BAD t: a row has no item"}},
		"jsonl": {"jsonl", `{"id":1,"answer":"yes"}` + "\n" + `{"id":"b","answer":"no","lane":"n"}`, mapped,
			[]string{`m 1  "yes"  ?`, `n b  "no"  ?`}},
		"no lane": {"csv", "item,lane,text\n1,,x\n", export.From{},
			[]string{`BAD t: the row of item "1" names no lane (give such rows one with --lane NAME)`}},
		"an ending": {"csv", "item,lane,text,ending\n1,m,x,completed\n2,m,y,answered\n", export.From{}, []string{`BAD t: the row of item "1": no ending is called "completed" (there are answered, cut, empty, refused, rejected, errored, expired, cancelled, lost)`, `m 2 answered "y"  ?`}},
		"what `batch collect` writes": {"csv", collected, export.From{}, []string{
			`gpt q1 answered "=1+1"  0.5`, `gpt q2 rejected "" too long ?`, `gpt q3  ""  ?`,
		}},
		"the same in JSON": {"jsonl",
			`{"custom_id":"q1","line":1,"model":"gpt","status":"answered","text":"a","input_tokens":null,"cost_usd":null}`, export.From{},
			[]string{`gpt q1 answered "a"  ?`}},
	} {
		got, err := read(c.format, c.text, c.from)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
	for want, c := range map[string]export.From{
		`t has no column "item" (it has custom_id, answer; name it with --columns item=COLUMN)`: {},
		`t has no column "answr" (did you mean answer?)`: {
			Columns: map[string]string{"text": "answr"}},
		`--columns: no column of ours is called "itm" (did you mean item?)`: {
			Columns: map[string]string{"itm": "custom_id"}},
		`t has no column "lane" (it has custom_id, answer; name it with --columns lane=COLUMN, or give all rows one with --lane NAME)`: {
			Columns: map[string]string{"item": "custom_id", "text": "answer"}},
	} {
		_, err := read("csv", "custom_id,answer\n1,x\n", c)
		var column *formats.ColumnError
		if !errors.As(err, &column) || fmt.Sprintf("%s (%s)", column.What, column.Hint) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
