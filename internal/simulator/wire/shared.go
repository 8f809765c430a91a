package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/rules"
)

// What several vendors share: documents of errors, headers of limits, the list of models, times.

// openAIShape is {"error":{message,type,param,code}}.
func openAIShape(_ *backend.Call, r *rules.Rejection) any {
	return map[string]any{"error": openAIError(r)}
}

func openAIError(r *rules.Rejection) map[string]any {
	return map[string]any{
		"message": r.Message, "type": openAIType(r), "param": bodies.Nullable(r.Param), "code": bodies.Nullable(r.Code),
	}
}

// openAIType returns the type that OpenAI gives an error.
func openAIType(r *rules.Rejection) string {
	switch {
	case r.Type != "":
		return r.Type
	case r.Code == "insufficient_quota":
		return "insufficient_quota"
	case r.Status == http.StatusTooManyRequests:
		return "requests"
	case r.Status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// googleShape is {"error":{code,message,status,details}}; the time to wait is among the details.
func googleShape(_ *backend.Call, r *rules.Rejection) any {
	details := []any{}
	if r.Status == http.StatusTooManyRequests {
		details = append(details, map[string]any{
			"@type":      "type.googleapis.com/google.rpc.QuotaFailure",
			"violations": []any{map[string]any{"quotaMetric": "generativelanguage.googleapis.com/generate_requests"}},
		})
	}
	if r.RetryAfter > 0 {
		details = append(details, map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", r.RetryAfter.Seconds()),
		})
	}
	e := map[string]any{"code": r.Status, "message": r.Message, "status": googleStatus(r)}
	if len(details) > 0 {
		e["details"] = details
	}
	return map[string]any{"error": e}
}

func googleStatus(r *rules.Rejection) string {
	names := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ALREADY_EXISTS",
		412: "FAILED_PRECONDITION", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}
	return cmp.Or(r.Type, names[r.Status], "INTERNAL")
}

// grpcCode returns the number that gRPC has for an HTTP status.
func grpcCode(status int) int {
	codes := map[int]int{400: 3, 401: 16, 403: 7, 404: 5, 409: 6, 412: 9, 429: 8, 499: 1, 503: 14, 504: 4}
	return cmp.Or(codes[status], 13)
}

// failureMessage returns why a job failed, with the line of the request that is wrong.
func failureMessage(j *backend.Job) string {
	if i := j.Failure[0]; i.Line > 0 {
		return fmt.Sprintf("Line %d: %s", i.Line, i.Message)
	}
	return j.Failure[0].Message
}

// openAIRate writes x-ratelimit-*; resets are durations as Go writes them.
func openAIRate(h http.Header, m backend.Meter) {
	if m.Requests > 0 {
		h.Set("X-Ratelimit-Limit-Requests", strconv.Itoa(m.Requests))
		h.Set("X-Ratelimit-Remaining-Requests", strconv.Itoa(m.RequestsLeft))
		h.Set("X-Ratelimit-Reset-Requests", m.Reset.String())
	}
	if m.Tokens > 0 {
		h.Set("X-Ratelimit-Limit-Tokens", strconv.Itoa(m.Tokens))
		h.Set("X-Ratelimit-Remaining-Tokens", strconv.Itoa(m.TokensLeft))
		h.Set("X-Ratelimit-Reset-Tokens", m.Reset.String())
	}
}

// modelsRoutes answer which models there are: any that is asked for by name.
func modelsRoutes(rt backend.Routes, path string) {
	rt.On(fault.Models, "GET", path+"/models", func(c *backend.Call) {
		list := []any{}
		for _, name := range []string{"sim-large", "sim-small"} {
			list = append(list, modelObject(c, name))
		}
		c.Reply(http.StatusOK, map[string]any{"object": "list", "data": list})
	})
	rt.On(fault.Models, "GET", path+"/models/{model...}", func(c *backend.Call) {
		name := c.Request.PathValue("model")
		if rej := rules.CheckModel(name); rej != nil {
			c.Fail(rej)
			return
		}
		c.Reply(http.StatusOK, modelObject(c, name))
	})
}

func modelObject(c *backend.Call, name string) map[string]any {
	out := map[string]any{"id": name, "object": "model", "created": 1_700_000_000, "owned_by": c.Vendor.Name}
	if c.Vendor.Name == "mistral" {
		out["type"], out["capabilities"] = "base", map[string]bool{"completion_chat": true, "function_calling": true, "vision": true}
	}
	return out
}

// rfc writes a time as Anthropic and Google do; nil for none.
func rfc(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
}

// unix writes a time in seconds; nil for none.
func unix(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

const day = 24 * time.Hour

// A job's result files.
const (
	resultsFile = iota
	errorsFile
)

// setMember sets the field of a document that a member of its JSON has.
func setMember(document any, key string, value json.RawMessage) error {
	return json.Unmarshal(bodies.AppendJSON(nil, map[string]any{key: value}), document)
}
