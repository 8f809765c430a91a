package simulator

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// Rejection is what a provider says instead of doing what was asked. Each provider has its own document for it.
type Rejection struct {
	Status     int
	Type       string // the provider's class of errors; "": what goes with the status
	Code       string
	Param      string
	Message    string
	RetryAfter time.Duration
}

// Error is the message, for the simulator's own use.
func (r *Rejection) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

func invalid(param, code, format string, args ...any) *Rejection {
	return &Rejection{Status: http.StatusBadRequest, Param: param, Code: code, Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) *Rejection {
	return &Rejection{Status: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf(format, args...)}
}

// plain is the rejection that goes with a status when nothing more is known.
func plain(status int, retry time.Duration) *Rejection {
	r := &Rejection{Status: status, RetryAfter: retry, Message: cmp.Or(http.StatusText(status), "The service is overloaded.")}
	switch status {
	case http.StatusUnauthorized:
		r.Code, r.Message = "invalid_api_key", "Incorrect API key provided."
	case http.StatusNotFound:
		r.Code, r.Message = "not_found", "There is no such thing."
	case http.StatusTooManyRequests:
		r.Code, r.Message = "rate_limit_exceeded", "Rate limit reached. Please try again later."
	case http.StatusInternalServerError:
		r.Code, r.Message = "server_error", "The server had an error while processing your request."
	}
	return r
}

// nullable writes "" as null.
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// openAIShape is {"error":{message,type,param,code}}.
func openAIShape(_ *call, r *Rejection) any {
	return map[string]any{"error": openAIError(r)}
}

func openAIError(r *Rejection) map[string]any {
	return map[string]any{
		"message": r.Message, "type": openAIType(r), "param": nullable(r.Param), "code": nullable(r.Code),
	}
}

func openAIType(r *Rejection) string {
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

// anthropicShape is {"type":"error","error":{type,message},"request_id"}.
func anthropicShape(c *call, r *Rejection) any {
	return map[string]any{"type": "error", "error": anthropicError(r), "request_id": c.requestID()}
}

func anthropicError(r *Rejection) map[string]any {
	return map[string]any{"type": anthropicType(r), "message": r.Message}
}

func anthropicType(r *Rejection) string {
	if r.Type != "" {
		return r.Type
	}
	names := map[int]string{
		401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
		413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error", 529: "overloaded_error",
	}
	if r.Status >= 500 {
		return cmp.Or(names[r.Status], "api_error")
	}
	return cmp.Or(names[r.Status], "invalid_request_error")
}

// googleShape is {"error":{code,message,status,details}}; the time to wait is among the details.
func googleShape(_ *call, r *Rejection) any {
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

func googleStatus(r *Rejection) string {
	names := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ALREADY_EXISTS",
		412: "FAILED_PRECONDITION", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
	}
	return cmp.Or(r.Type, names[r.Status], "INTERNAL")
}

// grpcCode is the number that gRPC has for an HTTP status.
func grpcCode(status int) int {
	codes := map[int]int{400: 3, 401: 16, 403: 7, 404: 5, 409: 6, 412: 9, 429: 8, 499: 1, 503: 14, 504: 4}
	return cmp.Or(codes[status], 13)
}
