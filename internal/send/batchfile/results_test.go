package batchfile_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/study/catalog"
)

func TestResultLinesHaveTheFormOfTheirFile(t *testing.T) {
	t.Parallel()
	broken := assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{Status: 500, Code: "server_error", Message: "no luck"}}
	for _, c := range []struct {
		shape                                    batchfile.Shape
		reply, missing, expired, cancelled, open string
	}{
		{batchfile.ShapeCall,
			`{"id":"req","custom_id":"a","response":{"status_code":200,"request_id":"req","body":{"x":1}},"error":null}`,
			`{"id":"","custom_id":"a","response":null,"error":{"code":"server_error","message":"no luck"}}`,
			`{"id":"","custom_id":"a","response":null,"error":{"code":"expired","message":""}}`,
			`{"id":"","custom_id":"a","response":null,"error":{"code":"cancelled","message":""}}`,
			`{"id":"","custom_id":"a","response":null,"error":{"code":"open","message":"there is no answer yet"}}`},
		{batchfile.ShapeParams,
			`{"custom_id":"a","result":{"type":"succeeded","message":{"x":1}}}`,
			`{"custom_id":"a","result":{"type":"errored","error":{"type":"error","error":{"type":"server_error","message":"no luck"}}}}`,
			`{"custom_id":"a","result":{"type":"expired"}}`,
			`{"custom_id":"a","result":{"type":"canceled"}}`,
			`{"custom_id":"a","result":{"type":"errored","error":{"type":"error","error":{"type":"open","message":"there is no answer yet"}}}}`},
		{batchfile.ShapeRequest,
			`{"key":"a","response":{"x":1}}`,
			`{"key":"a","error":{"code":500,"status":"server_error","message":"no luck"}}`,
			`{"key":"a","error":{"status":"expired","message":""}}`,
			`{"key":"a","error":{"status":"cancelled","message":""}}`,
			`{"key":"a","error":{"status":"open","message":"there is no answer yet"}}`},
		{batchfile.ShapeRecord,
			`{"recordId":"a","modelOutput":{"x":1}}`,
			`{"recordId":"a","error":{"errorCode":500,"code":"server_error","errorMessage":"no luck"}}`,
			`{"recordId":"a","error":{"code":"expired","errorMessage":""}}`,
			`{"recordId":"a","error":{"code":"cancelled","errorMessage":""}}`,
			`{"recordId":"a","error":{"code":"open","errorMessage":"there is no answer yet"}}`},
	} {
		same := func(want string, got []byte, err error) {
			t.Helper()
			if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", c.shape, err, diff)
			}
		}
		got, err := batchfile.AppendReply(nil, c.shape, "a", "req", []byte(`{"x":1}`))
		same(c.reply, got, err)
		for want, o := range map[string]assay.Outcome{c.missing: broken, c.expired: {Ending: assay.Expired},
			c.cancelled: {Ending: assay.Cancelled}, c.open: {}} {
			got, err := batchfile.AppendMissing(nil, c.shape, "a", o)
			same(want, got, err)
		}
	}
	if _, err := batchfile.AppendReply(nil, batchfile.ShapeCall, "a", "", []byte("<html>")); err == nil {
		t.Error("a page was taken for a reply")
	}
	if got, err := batchfile.AppendResult(nil, []byte(`{"custom_id":"ours","x":1}`), "theirs"); err != nil ||
		string(got) != `{"custom_id":"theirs","x":1}` {
		t.Errorf("%s, %v", got, err)
	}
}

func TestEveryVendorHasAShape(t *testing.T) {
	t.Parallel()
	want := map[string]batchfile.Shape{
		"together": batchfile.ShapeBare, "mistral": batchfile.ShapeBare, "fireworks": batchfile.ShapeBare,
		"openrouter": batchfile.ShapeBare, "anthropic": batchfile.ShapeParams, "gemini": batchfile.ShapeRequest,
		"vertex": batchfile.ShapeRequest, "bedrock": batchfile.ShapeRecord,
	}
	for _, v := range catalog.Default().Vendors() {
		shape, ok := want[v.Name]
		if !ok {
			shape = batchfile.ShapeCall
		}
		if got := batchfile.ShapeOf(v); got != shape {
			t.Errorf("%s: %s, want %s", v.Name, got, shape)
		}
	}
}

func TestParametersAreReadFromEveryBody(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"custom_id":"a","params":{"model":"claude-opus-4-5","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"hi"}],"output_config":{"effort":"low"}}}`: `{"Mode":"tokens","Tokens":2000}`,
		`{"custom_id":"a","params":{"model":"claude-opus-4-5","max_tokens":9000,"thinking":{"type":"disabled"},"messages":[{"role":"user","content":"hi"}]}}`:                                                      `{"Mode":"off"}`,
		`{"key":"a","request":{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}}}`:                                                                                `{"Mode":"off"}`,
		`{"key":"a","request":{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"thinkingConfig":{"thinkingBudget":-1}}}}`:                                                                               `{"Mode":"on"}`,
		`{"key":"a","request":{"contents":[{"parts":[{"text":"hi"}]}],"generation_config":{"thinkingConfig":{"thinkingBudget":512}}}}`:                                                                             `{"Mode":"tokens","Tokens":512}`,
		`{"key":"a","request":{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"thinkingConfig":{"thinkingLevel":"HIGH"}}}}`:                                                                            `{"Mode":"level","Level":"high"}`,
	} {
		model := "gemini-2.5-flash"
		if strings.Contains(line, "HIGH") {
			model = "gemini-3-pro-preview"
		}
		f, problems := check(t, line, batchfile.Options{Model: model})
		if f == nil {
			t.Errorf("%s: %v", line, problems)
			continue
		}
		for e, err := range f.Entries(strings.NewReader(line)) {
			if err != nil {
				t.Fatal(err)
			}
			var wanted assay.Thinking
			if err := json.Unmarshal([]byte(want), &wanted); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wanted, e.Params.Thinking); diff != "" {
				t.Errorf("%s (-want +got):\n%s", line, diff)
			}
		}
	}
}
