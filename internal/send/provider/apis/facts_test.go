package apis

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// The facts below were seen in calls to the providers themselves.

func TestOpenAIsValidationCodesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]assay.FaultClass{
		"invalid_json_line": assay.FaultInvalid, "duplicate_custom_id": assay.FaultInvalid,
		"missing_required_parameter": assay.FaultInvalid, "mismatched_model": assay.FaultInvalid, "invalid_url": assay.FaultInvalid,
		"model_not_found": assay.FaultInvalid, "streaming_unsupported": assay.FaultInvalid, "invalid_request": assay.FaultInvalid,
		"token_limit_exceeded": assay.FaultBusy,
	} {
		a := open(t, "openai", func(*http.Request) *http.Response {
			return answer(200, fmt.Sprintf(`{"id":"b","status":"failed","errors":{"object":"list","data":[{"code":%q,"message":"m","param":"body.model","line":3}]},"request_counts":{"total":0,"completed":0,"failed":0}}`, code))
		})
		st, err := a.Batch.Check(context.Background(), provider.Job{ID: "b"})
		if err != nil || st.State != provider.StateFailed || st.Fault.Class != want || st.Problems[0].Line != 3 || st.Counts.Known {
			t.Errorf("%s: %+v, %v", code, st, err)
		}
	}
	a := open(t, "openai", func(*http.Request) *http.Response {
		return answer(200, `{"id":"b","status":"failed","errors":{"data":[{"code":"invalid_request","message":"Cannot find file.","param":"file_id","line":null}]}}`)
	})
	if st, err := a.Batch.Check(context.Background(), provider.Job{ID: "b"}); err != nil || st.Fault.Class != assay.FaultGone {
		t.Errorf("a file that is gone: %+v, %v", st, err)
	}
}

func TestAnthropicSaysWhenToLookAgain(t *testing.T) {
	t.Parallel()
	a := open(t, "anthropic", func(*http.Request) *http.Response {
		resp := answer(200, `{"id":"b","processing_status":"in_progress"}`)
		resp.Header.Set("Retry-After", "10")
		return resp
	})
	st, err := a.Batch.Check(context.Background(), provider.Job{ID: "b"})
	if err != nil || st.LookAfter != 10*time.Second {
		t.Errorf("%+v, %v", st, err)
	}
}

func TestTogetherCancelsWithOneLAndNotTwice(t *testing.T) {
	t.Parallel()
	a := open(t, "together", func(r *http.Request) *http.Response {
		if r.Method == http.MethodPost {
			return answer(409, `{"error":{"message":"it has ended"}}`)
		}
		return answer(200, `{"id":"b","status":"CANCELING"}`)
	})
	if err := a.Batch.(provider.Canceler).Cancel(context.Background(), provider.Job{ID: "b"}); err != nil {
		t.Errorf("a job that has ended is cancelled: %v", err)
	}
	st, err := a.Batch.Check(context.Background(), provider.Job{ID: "b"})
	if err != nil || st.State != provider.StateEnding || st.Counts.Known {
		t.Errorf("%+v, %v", st, err)
	}
	a = open(t, "together", func(*http.Request) *http.Response {
		return answer(200, `{"id":"b","status":"FAILED","error":"input file file-1 not found"}`)
	})
	if st, err := a.Batch.Check(context.Background(), provider.Job{ID: "b"}); err != nil || st.Fault.Class != assay.FaultGone {
		t.Errorf("a file that is gone: %+v, %v", st, err)
	}
	line := decoded(t, "together", assay.Wire{Dialect: assay.DialectChat, Carrier: assay.CarrierBare},
		`{"id":"1","custom_id":"x","error":{"code":"batch_client_error","message":"bad"}}`)
	if line.CustomID != "x" || line.Malformed || line.Outcome.Ending != assay.Errored || line.Outcome.Fault.Code != "batch_client_error" {
		t.Errorf("%+v", line)
	}
}

func TestMistralRefusesLinesAtTheUpload(t *testing.T) {
	t.Parallel()
	a := open(t, "mistral", func(*http.Request) *http.Response { return answer(422, `{"detail":"Invalid file format."}`) })
	_, _, err := a.Batch.Prepare(context.Background(), inputOf("x"), "")
	if f := provider.FaultOf(err); f == nil || f.Class != assay.FaultInvalid || f.Status != 422 {
		t.Errorf("%v", err)
	}
}

func TestXAISaysNoInItsOwnWay(t *testing.T) {
	t.Parallel()
	a := open(t, "xai", func(*http.Request) *http.Response {
		return answer(400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***89. You can obtain an API key from https://console.x.ai."}`)
	})
	_, err := a.Batch.Check(context.Background(), provider.Job{ID: "b"})
	if f := provider.FaultOf(err); f == nil || f.Class != assay.FaultDenied {
		t.Errorf("a bad key: %v", err)
	}
	wire := assay.Wire{Dialect: assay.DialectResponses, Carrier: assay.CarrierOpenAI}
	line := decoded(t, "xai", wire, `{"batch_request_id":"x","batch_result":{"error":"max_tokens is too large"}}`)
	if line.CustomID != "x" || line.Malformed || line.Outcome.Ending.Stands() || line.Outcome.Fault.Message != "max_tokens is too large" {
		t.Errorf("a bare text: %+v", line)
	}
	line = decoded(t, "xai", wire, `{"batch_request_id":"x","batch_result":{"response":{"chat_get_completion":{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}}}}`)
	if line.Outcome.Ending != assay.Answered || line.Outcome.Text != "yes" {
		t.Errorf("a chat completion for a request of the other API: %+v", line)
	}
}

func TestVertexEchoesTheIDBesideTheRequest(t *testing.T) {
	t.Parallel()
	line := decoded(t, "vertex", assay.Wire{Dialect: assay.DialectGenerate, Carrier: assay.CarrierVertex},
		`{"custom_id":"x","request":{"contents":[]},"status":"","response":{"candidates":[{"content":{"parts":[{"text":"yes"}]},"finishReason":"STOP"}]}}`)
	if line.CustomID != "x" || line.Outcome.Text != "yes" {
		t.Errorf("%+v", line)
	}
}

// decoded reads one result line.
func decoded(t *testing.T, kind string, wire assay.Wire, text string) provider.Line {
	t.Helper()
	a := open(t, kind, func(*http.Request) *http.Response { return answer(500, "") })
	for line, err := range a.Batch.Decode(provider.Job{Wire: wire}, provider.Part{}, strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	t.Fatal("no line")
	return provider.Line{}
}
