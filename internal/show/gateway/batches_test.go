package gateway_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func TestABatchOfSeveralProvidersComesBackInOpenAIsForm(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	file := r.upload(anna, chat("one ü", "anthropic/claude-sonnet-4-5", "")+chat("two", "gpt-4o-mini", "")+
		chat("three", "gemini/gemini-2.5-flash", `,"temperature":0.5`)+
		chat("live", "deepseek/deepseek-chat", "")+
		chat("hot", "anthropic/claude-sonnet-4-5", `,"temperature":1.7`)+chat("none", "nosuchmodel", "")+
		chat("tools", "gemini/gemini-2.5-flash", `,"tools":[{"type":"function"}]`)+
		chat("keyless", "mistral/mistral-small-latest", ""))
	status, b := r.create(anna, file)
	if status != 200 || b.text("status") != "in_progress" || b.text("request_counts", "total") != "8" ||
		b.text("request_counts", "failed") != "4" || b.text("metadata", "who") != "me" {
		t.Errorf("the new batch: %d %v", status, b)
	}
	b = r.until(anna, b.text("id"), "completed")
	if d := cmp.Diff(map[string]any{"total": 8.0, "completed": 4.0, "failed": 4.0}, b["request_counts"]); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	got := map[string]string{}
	for id, row := range r.rows(anna, b.text("output_file_id")) {
		body := object(row["response"].(map[string]any)["body"].(map[string]any))
		choice := body["choices"].([]any)[0].(map[string]any)
		if body.text("object") != "chat.completion" || choice["finish_reason"] != "stop" ||
			fmt.Sprint(choice["message"].(map[string]any)["content"]) == "" || row["error"] != nil {
			t.Errorf("%s: %v", id, row)
		}
		if body.text("usage", "total_tokens") == "" {
			t.Errorf("%s has no usage: %v", id, body)
		}
		got[id] = row.text("response", "status_code") + " " + body.text("model")
	}
	want := map[string]string{"one ü": "200 claude-sonnet-4-5", "two": "200 gpt-4o-mini", "three": "200 gemini-2.5-flash",
		"live": "200 deepseek-chat"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("answers (-want +got):\n%s", d)
	}
	got = map[string]string{}
	for id, row := range r.rows(anna, b.text("error_file_id")) {
		e := object(row["response"].(map[string]any)["body"].(map[string]any)["error"].(map[string]any))
		got[id] = strings.Join([]string{row.text("response", "status_code"), e.text("type"), e.text("param"), e.text("code")}, " ")
	}
	want = map[string]string{"hot": "400 invalid_request_error temperature unsupported_value",
		"none": "404 invalid_request_error model model_not_found", "tools": "400 invalid_request_error tools unsupported_value",
		"keyless": "400 invalid_request_error model provider_not_configured"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
}

func TestResponsesLinesAreConvertedToo(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	line := func(id, model string) string {
		return fmt.Sprintf(`{"custom_id":%q,"method":"POST","url":"/v1/responses","body":{"model":%q,"instructions":"short","input":"What is 2+2?","store":false}}`+"\n", id, model)
	}
	_, b := r.createAt(anna, r.upload(anna, line("a", "anthropic/claude-sonnet-4-5")+line("o", "openai/gpt-5")), "/v1/responses")
	b = r.until(anna, b.text("id"), "completed", "failed")
	rows := r.rows(anna, b.text("output_file_id"))
	for _, id := range []string{"a", "o"} {
		body := object{}
		if resp, ok := rows[id]["response"].(map[string]any); ok {
			body = resp["body"].(map[string]any)
		}
		output, _ := body["output"].([]any)
		if len(output) == 0 || body.text("object") != "response" || body.text("status") != "completed" || body["tools"] == nil ||
			body.text("parallel_tool_calls") == "" {
			t.Errorf("%s: %v (%v)", id, rows[id], b)
			continue
		}
		last := output[len(output)-1].(map[string]any)
		if last["type"] != "message" || last["content"].([]any)[0].(map[string]any)["text"] == "" {
			t.Errorf("%s: %v", id, last)
		}
	}
}

func TestFilesThatCannotBeReadMakeFailedBatches(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for name, c := range map[string]struct{ file, code, param, line string }{
		"not JSON": {chat("a", "gpt-4o-mini", "") + "xx\n", "invalid_json_line", "", "2"},
		"twice":    {chat("a", "gpt-4o-mini", "") + chat("a", "gpt-4o-mini", ""), "duplicate_custom_id", "custom_id", "2"},
		"no id": {`{"method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o-mini"}}`, "missing_required_parameter",
			"custom_id", "1"},
		"another url": {`{"custom_id":"a","method":"POST","url":"/v1/responses","body":{"model":"gpt-4o-mini","input":"x"}}`,
			"invalid_url", "url", "1"},
		"no endpoint": {strings.Replace(chat("a", "gpt-4o-mini", ""), "/v1/chat/completions", "/v1/embeddings", 1), "invalid_url",
			"url", "1"},
		"a stream":      {chat("a", "gpt-4o-mini", `,"stream":true`), "streaming_unsupported", "body.stream", "1"},
		"nothing known": {chat("a", "nosuchmodel", ""), "model_not_found", "model", "1"},
	} {
		status, b := r.create(anna, r.upload(anna, c.file))
		errs, _ := b["errors"].(map[string]any)
		data, _ := errs["data"].([]any)
		if status != 200 || b.text("status") != "failed" || len(data) == 0 || b.text("request_counts", "total") != "0" ||
			b["output_file_id"] != nil || b["error_file_id"] != nil {
			t.Errorf("%s: %d %v", name, status, b)
			continue
		}
		first := object(data[0].(map[string]any))
		if got := [3]string{first.text("code"), first.text("param"), first.text("line")}; got != [3]string{c.code, c.param, c.line} {
			t.Errorf("%s: %v, want %v", name, got, c)
		}
	}
	var many strings.Builder
	for i := range 50_001 {
		fmt.Fprintf(&many, `{"custom_id":"%d","method":"POST","url":"/v1/chat/completions","body":{"model":"x","messages":[{}]}}`+"\n", i)
	}
	_, b := r.create(anna, r.upload(anna, many.String()))
	if errs, _ := b["errors"].(map[string]any); b.text("status") != "failed" || !strings.Contains(fmt.Sprint(errs), "too_many_tasks") {
		t.Errorf("50,001 lines: %.300v", b)
	}
}

func TestACallThatIsRepeatedMakesOneBatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	file := r.upload(anna, chat("a", "gpt-4o-mini", ""))
	_, first := r.create(anna, file)
	_, second := r.create(anna, file)
	if first.text("id") == second.text("id") {
		t.Error("two calls of a client that repeats nothing are one batch")
	}
	if _, again := r.create(anna, file, "X-Stainless-Retry-Count", "1"); again.text("id") != second.text("id") {
		t.Errorf("a call that was tried again made %v, want %v", again, second)
	}
	_, keyed := r.create(anna, file, "Idempotency-Key", "k")
	if _, again := r.create(anna, file, "Idempotency-Key", "k"); again.text("id") != keyed.text("id") ||
		keyed.text("id") == second.text("id") {
		t.Errorf("under one key: %v and %v", keyed, again)
	}
	if status, e := r.create(anna, r.upload(anna, chat("b", "gpt-4o-mini", "")), "Idempotency-Key", "k"); status != 400 ||
		e.text("error", "code") != "idempotency_key_reused" {
		t.Errorf("another call under the key: %d %v", status, e)
	}
	runs, err := r.home.Ledger.Reader.Runs(t.Context(), "gateway")
	if err != nil || len(runs) != 3 {
		t.Errorf("there are %d runs, want 3 (%v)", len(runs), err)
	}
}

func TestABatchThatIsCancelledKeepsWhatWasDone(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{rules: []string{"openai create stuck=100h"}})
	_, b := r.create(anna, r.upload(anna, chat("a", "anthropic/claude-sonnet-4-5", "")+chat("b", "gpt-4o-mini", "")))
	id := b.text("id")
	for end := time.Now().Add(patience); b.text("request_counts", "completed") != "1" &&
		time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		_, b = r.call(anna, "GET", "/batches/"+id, nil)
	}
	if b.text("status") != "in_progress" || b["output_file_id"] != nil {
		t.Errorf("before: %v", b)
	}
	if status, b := r.call(anna, "POST", "/batches/"+id+"/cancel", nil); status != 200 || b.text("status") != "cancelling" ||
		b["cancelling_at"] == nil {
		t.Errorf("the answer to cancel: %d %v", status, b)
	}
	b = r.until(anna, id, "cancelled", "completed")
	if b.text("status") != "cancelled" || b["cancelled_at"] == nil || b.text("request_counts", "completed") != "1" ||
		b.text("request_counts", "failed") != "1" {
		t.Errorf("after: %v", b)
	}
	if rows := r.rows(anna, b.text("output_file_id")); len(rows) != 1 || rows["a"] == nil {
		t.Errorf("the answers: %v", rows)
	}
	if rows := r.rows(anna, b.text("error_file_id")); rows["b"].text("error", "code") != "batch_cancelled" || rows["b"]["response"] != nil {
		t.Errorf("the errors: %v", rows)
	}
	if status, e := r.call(anna, "POST", "/batches/"+id+"/cancel", nil); status != 400 ||
		e.text("error", "type") != "invalid_request_error" {
		t.Errorf("a second cancel: %d %v", status, e)
	}
}

func TestANewGatewayGoesOnWithTheBatchesOfTheLast(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{queue: time.Hour})
	_, b := r.create(anna, r.upload(anna, chat("a", "anthropic/claude-sonnet-4-5", "")+chat("b", "gpt-4o-mini", "")))
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		runs, err := r.home.Ledger.Reader.Runs(t.Context(), "gateway")
		if err != nil {
			t.Fatal(err)
		}
		if sent, err := r.home.Ledger.Reader.Segments(t.Context(), runs[0].No, store.Launched); err != nil || len(sent) == 2 {
			break
		}
	}
	r.stop()
	r.pass("3h")
	r.start(rigOptions{})
	b = r.until(anna, b.text("id"), "completed")
	if rows := r.rows(anna, b.text("output_file_id")); len(rows) != 2 {
		t.Errorf("the answers: %v", rows)
	}
	if n := len(r.sim.Ledger().Jobs); n != 2 {
		t.Errorf("%d jobs were made, want 2", n)
	}
}

func TestAUserWhoseBudgetIsSpentIsToldSo(t *testing.T) {
	t.Parallel()
	budget := assay.Dollars(0.01)
	r := newRig(t, rigOptions{budget: &budget})
	var large strings.Builder
	for i := range 400 {
		large.WriteString(chat(fmt.Sprint(i), "anthropic/claude-sonnet-4-5", ""))
	}
	if status, e := r.create(bert, r.upload(bert, large.String())); status != 429 || e.text("error", "type") != "insufficient_quota" ||
		e.text("error", "code") != "insufficient_quota" {
		t.Errorf("a batch beyond the budget: %d %v", status, e)
	}
	status, b := r.create(bert, r.upload(bert, chat("a", "gpt-4o-mini", `,"max_completion_tokens":50`)))
	if status != 200 {
		t.Fatalf("a batch within the budget: %d %v", status, b)
	}
	r.until(bert, b.text("id"), "completed")
}
