package rules

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Rejection is a refused request. Each provider has its own document for it.
type Rejection struct {
	Status     int
	Type       string // the provider's class of errors; "": what goes with the status
	Code       string
	Param      string
	Message    string
	RetryAfter time.Duration
}

// Error returns the message, for the simulator's own use.
func (r *Rejection) Error() string { return fmt.Sprintf("%d %s: %s", r.Status, r.Code, r.Message) }

// Invalid returns a request that is wrong in itself.
func Invalid(param, code, format string, args ...any) *Rejection {
	return &Rejection{Status: http.StatusBadRequest, Param: param, Code: code, Message: fmt.Sprintf(format, args...)}
}

// NotFound returns a request for something that is not there.
func NotFound(format string, args ...any) *Rejection {
	return &Rejection{Status: http.StatusNotFound, Code: "not_found", Message: fmt.Sprintf(format, args...)}
}

// Plain returns the rejection that goes with a status when nothing more is known.
func Plain(status int, retry time.Duration) *Rejection {
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

// CheckModel refuses a name that no model has: none at all, and those that begin with "missing-".
func CheckModel(name string) *Rejection {
	if name == "" {
		return Invalid("model", "missing_required_parameter", "you must provide a model parameter")
	}
	if strings.HasPrefix(name[strings.LastIndex(name, "/")+1:], "missing-") {
		return &Rejection{Status: http.StatusNotFound, Code: "model_not_found",
			Message: "The model `" + name + "` does not exist or you do not have access to it."}
	}
	return nil
}
