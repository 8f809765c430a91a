package dialect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

func TestEveryProvidersErrorsAreClassified(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   assay.Fault
	}{
		{"OpenAI, rate", 429, `{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
			assay.Fault{Class: assay.FaultBusy, Status: 429, Code: "rate_limit_exceeded", Message: "Rate limit reached"}},
		{"Google, a limit by the minute", 429, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"RequestsPerMinute"}]},{"retryDelay":"34s"}]}}`,
			assay.Fault{Class: assay.FaultBusy, Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "You exceeded your current quota",
				RetryAfter: 34 * time.Second}},
		{"OpenAI, money", 429,
			`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`,
			assay.Fault{Class: assay.FaultQuota, Status: 429, Code: "insufficient_quota", Message: "You exceeded your current quota"}},
		{"OpenAI, key", 401, `{"error":{"message":"Incorrect API key provided: sk-abcdefghijklmnopqrstuvwxyz.","type":"invalid_request_error","code":"invalid_api_key"}}`,
			assay.Fault{Class: assay.FaultDenied, Status: 401, Code: "invalid_api_key", Message: "Incorrect API key provided: [secret]"}},
		{"OpenAI, parameter", 400,
			`{"error":{"message":"Unsupported value","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 400, Code: "unsupported_value", Message: "Unsupported value",
				Param: "temperature"}},
		{"OpenAI, model", 404, `{"error":{"message":"The model does not exist","type":"invalid_request_error","code":"model_not_found"}}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 404, Code: "model_not_found", Message: "The model does not exist"}},
		{"OpenAI, batch", 404, `{"error":{"message":"No batch found with id 'batch_x'.","type":"invalid_request_error","code":null}}`,
			assay.Fault{Class: assay.FaultGone, Status: 404, Code: "invalid_request_error", Message: "No batch found with id 'batch_x'."}},
		{"OpenAI, server", 500, `{"error":{"message":"The server had an error","type":"server_error"}}`,
			assay.Fault{Class: assay.FaultBusy, Status: 500, Code: "server_error", Message: "The server had an error"}},
		{"OpenAI, enqueued tokens", 400, `{"error":{"code":"token_limit_exceeded","message":"Enqueued token limit reached"}}`,
			assay.Fault{Class: assay.FaultBusy, Status: 400, Code: "token_limit_exceeded", Message: "Enqueued token limit reached"}},
		{"Azure, filter", 400,
			`{"error":{"code":"content_filter","message":"filtered","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 400, Code: "content_filter", Message: "filtered"}},
		{"Anthropic, overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`,
			assay.Fault{Class: assay.FaultBusy, Status: 529, Code: "overloaded_error", Message: "Overloaded", RequestID: "req_1"}},
		{"Anthropic, size", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`,
			assay.Fault{Class: assay.FaultLarge, Status: 413, Code: "request_too_large", Message: "Request exceeds the maximum size"}},
		{"Anthropic, money", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`,
			assay.Fault{Class: assay.FaultQuota, Status: 400, Code: "invalid_request_error",
				Message: "Your credit balance is too low to access the Anthropic API."}},
		{"Anthropic, billing", 402, `{"type":"error","error":{"type":"billing_error","message":"pay"}}`,
			assay.Fault{Class: assay.FaultQuota, Status: 402, Code: "billing_error", Message: "pay"}},
		{"Anthropic, model", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 404, Code: "not_found_error", Message: "model: claude-x"}},
		{"Anthropic without a status", 0, `{"type":"error","error":{"type":"permission_error","message":"no"}}`,
			assay.Fault{Class: assay.FaultDenied, Code: "permission_error", Message: "no"}},
		{"Gemini, rate", 429, `{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED","details":[` +
			`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel"}]},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074824224s"}]}}`,
			assay.Fault{Class: assay.FaultBusy, Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "Resource has been exhausted",
				RetryAfter: 34074824224}},
		{"Gemini, day", 429, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}`,
			assay.Fault{Class: assay.FaultQuota, Status: 429, Code: "RESOURCE_EXHAUSTED", Message: "quota"}},
		{"Gemini, key", 400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`,
			assay.Fault{Class: assay.FaultDenied, Status: 400, Code: "INVALID_ARGUMENT",
				Message: "API key not valid. Please pass a valid API key."}},
		{"Gemini, model", 404,
			`{"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta","status":"NOT_FOUND"}}`, assay.Fault{
				Class: assay.FaultInvalid, Status: 404, Code: "NOT_FOUND", Message: "models/gemini-9 is not found for API version v1beta"}},
		{"Gemini, a list, as a success", 200, `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`,
			assay.Fault{Class: assay.FaultBusy, Status: 503, Code: "UNAVAILABLE", Message: "overloaded"}},
		{"Gemini, absurd delay", 503, `{"error":{"code":503,"status":"UNAVAILABLE","message":"x","details":[{"retryDelay":"99999999s"},{"retryDelay":"-3s"},{"retryDelay":7}]}}`,
			assay.Fault{Class: assay.FaultBusy, Status: 503, Code: "UNAVAILABLE", Message: "x", RetryAfter: 24 * time.Hour}},
		{"Mistral", 400, `{"object":"error","message":"Invalid model: x","type":"invalid_model","param":null,"code":"1500"}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 400, Code: "1500", Message: "Invalid model: x"}},
		{"Mistral, nested", 422, `{"object":"error","message":{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]},"type":"invalid_request_error"}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 422, Code: "invalid_request_error", Message: "Field required",
				Param: "body.messages"}},
		{"FastAPI", 422, `{"detail":[{"loc":["body","temperature",0],"msg":"ensure this value is less than 2","type":"value_error"}]}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 422, Message: "ensure this value is less than 2", Param: "body.temperature.0"}},
		{"FastAPI, text", 401, `{"detail":"Unauthorized"}`, assay.Fault{Class: assay.FaultDenied, Status: 401, Message: "Unauthorized"}},
		{"xAI, words", 400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xai-abcdefghijklmnop"}`,
			assay.Fault{Class: assay.FaultDenied, Status: 400, Code: "Client specified an invalid argument",
				Message: "Incorrect API key provided: [secret]"}},
		{"xAI, gRPC", 0, `{"error":{"code":8,"message":"exhausted"}}`,
			assay.Fault{Class: assay.FaultBusy, Code: "8", Message: "exhausted"}},
		{"gRPC gateway", 0, `{"code":7,"message":"no","details":[]}`, assay.Fault{Class: assay.FaultDenied, Code: "7", Message: "no"}},
		{"Ollama", 404, `{"error":"model 'x' not found"}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 404, Message: "model 'x' not found"}},
		{"OpenRouter", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`,
			assay.Fault{Class: assay.FaultQuota, Status: 402, Code: "402", Message: "Insufficient credits"}},
		{"plain words", 502, "Bad Gateway\n", assay.Fault{Class: assay.FaultBusy, Status: 502, Message: "Bad Gateway"}},
		{"a page", 403, "<html>\n<b>no</b>", assay.Fault{Class: assay.FaultDenied, Status: 403, Message: `<html>\n<b>no</b>`}},
		{"nothing", 504, "", assay.Fault{Class: assay.FaultBusy, Status: 504, Message: "the provider gave no reason"}},
		{"nothing at all", 0, "{}", assay.Fault{Class: assay.FaultUnknown, Message: "the provider gave no reason"}},
		{"a JSON string", 400, `"nope"`, assay.Fault{Class: assay.FaultInvalid, Status: 400, Message: "nope"}},
		{"conflict", 409, `{}`, assay.Fault{Class: assay.FaultBusy, Status: 409, Message: "the provider gave no reason"}},
		{"archived", 410, `{"error":{"message":"expired"}}`, assay.Fault{Class: assay.FaultGone, Status: 410, Message: "expired"}},
		{"Groq, flex", 498, `{"error":{"message":"capacity","type":"x"}}`,
			assay.Fault{Class: assay.FaultBusy, Status: 498, Code: "x", Message: "capacity"}},
		{"a URL with a key", 400, `{"error":{"message":"GET https://x.test/v1?key=AIzaSyabcdefghijk: bad"}}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 400, Message: "GET https://x.test/v1?[secret] bad"}},
		{"a word that only looks like a key", 400, `{"error":{"message":"no task-abcdefghijklmnopqrstuvwxyz"}}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 400, Message: "no task-abcdefghijklmnopqrstuvwxyz"}},
		{"a status and another in the body", 400, `{"error":{"code":503,"message":"x"}}`,
			assay.Fault{Class: assay.FaultInvalid, Status: 400, Code: "503", Message: "x"}},
		{"a teapot redirected", 302, "moved", assay.Fault{Class: assay.FaultUnknown, Status: 302, Message: "moved"}},
	} {
		if diff := cmp.Diff(c.want, dialect.Classify(c.status, []byte(c.body))); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestFaultsDecideTheEnding(t *testing.T) {
	t.Parallel()
	for class, want := range map[assay.FaultClass]assay.Ending{
		assay.FaultInvalid: assay.Rejected, assay.FaultLarge: assay.Rejected,
		assay.FaultBusy: assay.Errored, assay.FaultQuota: assay.Errored, assay.FaultDenied: assay.Errored,
		assay.FaultGone: assay.Errored, assay.FaultUnknown: assay.Errored,
	} {
		if diff := cmp.Diff(want, dialect.EndingOf(assay.Fault{Class: class})); diff != "" {
			t.Errorf("%s: %s", class, diff)
		}
	}
	filtered := dialect.Classify(400, []byte(`{"error":{"code":"content_filter","message":"filtered"}}`))
	if diff := cmp.Diff(assay.Refused, dialect.EndingOf(filtered)); diff != "" {
		t.Error(diff)
	}
}

func TestLongWordsOfAFaultAreCut(t *testing.T) {
	t.Parallel()
	long := dialect.Classify(500,
		[]byte(`{"error":{"message":"`+strings.Repeat("long ", 10_000)+`","code":"`+strings.Repeat("c", 1000)+`"}}`))
	if len(long.Message) > 500 || len(long.Code) > 100 {
		t.Errorf("%d bytes of message, %d of code", len(long.Message), len(long.Code))
	}
}
