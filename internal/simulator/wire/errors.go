package wire

import (
	"cmp"
	"fmt"
	"net/http"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/bodies"
)

// openAIShape is {"error":{message,type,param,code}}.
func openAIShape(_ *backend.Call, r *bodies.Rejection) any {
	return map[string]any{"error": openAIError(r)}
}

func openAIError(r *bodies.Rejection) map[string]any {
	return map[string]any{
		"message": r.Message, "type": openAIType(r), "param": bodies.Nullable(r.Param), "code": bodies.Nullable(r.Code),
	}
}

func openAIType(r *bodies.Rejection) string {
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
func googleShape(_ *backend.Call, r *bodies.Rejection) any {
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

func googleStatus(r *bodies.Rejection) string {
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

func geminiFailure(j *backend.Job) string {
	if i := j.Failure[0]; i.Line > 0 {
		return fmt.Sprintf("Line %d: %s", i.Line, i.Message)
	}
	return j.Failure[0].Message
}
