package batchfile

import (
	"encoding/json"
	"fmt"

	"assay/internal/assay"
	"assay/internal/send/dialect"
)

// AppendResult appends a provider's result line under its author's id; everything else of it stays as it came.
func AppendResult(dst, line []byte, id string) ([]byte, error) {
	return dialect.AppendRenamed(dst, line, id)
}

// AppendReply appends a live reply in the form of a result line of the same API.
func AppendReply(dst []byte, s Shape, id, requestID string, reply []byte) ([]byte, error) {
	if !json.Valid(reply) {
		return dst, fmt.Errorf("write the result of %q: the reply is not JSON", id)
	}
	var v any
	switch s {
	case ShapeParams:
		v = paramsResult{ID: id, Result: paramsEnd{Type: "succeeded", Message: reply}}
	case ShapeRequest:
		v = requestResult{Key: id, Response: reply}
	case ShapeRecord:
		v = recordResult{ID: id, Output: reply}
	default:
		v = callResult{ID: requestID, CustomID: id, Response: &callResponse{Status: 200, RequestID: requestID, Body: reply}}
	}
	return appendJSON(dst, v)
}

// AppendMissing appends the result line of a request for which the provider wrote none that is left.
func AppendMissing(dst []byte, s Shape, id string, o assay.Outcome) ([]byte, error) {
	code, message := string(o.Ending), ""
	status := 0
	if f := o.Fault; f != nil {
		message, status = f.Message, f.Status
		if f.Code != "" {
			code = f.Code
		}
	}
	if o.Ending == "" {
		code, message = "open", "there is no answer yet"
	}
	var v any
	switch s {
	case ShapeParams:
		end := paramsEnd{Type: "errored", Error: &paramsError{Type: "error", Error: paramsCause{code, message}}}
		switch o.Ending {
		case assay.Expired:
			end = paramsEnd{Type: "expired"}
		case assay.Cancelled:
			end = paramsEnd{Type: "canceled"}
		}
		v = paramsResult{ID: id, Result: end}
	case ShapeRequest:
		v = requestResult{Key: id, Error: &requestError{Code: status, Status: code, Message: message}}
	case ShapeRecord:
		v = recordResult{ID: id, Error: &recordError{Code: status, Word: code, Message: message}}
	default:
		v = callResult{CustomID: id, Error: &callError{code, message}}
	}
	return appendJSON(dst, v)
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return dst, fmt.Errorf("write a result: %w", err)
	}
	return append(dst, text...), nil
}

type callResult struct {
	ID       string        `json:"id"`
	CustomID string        `json:"custom_id"`
	Response *callResponse `json:"response"`
	Error    *callError    `json:"error"`
}

type callResponse struct {
	Status    int             `json:"status_code"`
	RequestID string          `json:"request_id"`
	Body      json.RawMessage `json:"body"`
}

type callError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type paramsResult struct {
	ID     string    `json:"custom_id"`
	Result paramsEnd `json:"result"`
}

type paramsEnd struct {
	Type    string          `json:"type"`
	Message json.RawMessage `json:"message,omitempty"`
	Error   *paramsError    `json:"error,omitempty"`
}

type paramsError struct {
	Type  string      `json:"type"`
	Error paramsCause `json:"error"`
}

type paramsCause struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type requestResult struct {
	Key      string          `json:"key"`
	Response json.RawMessage `json:"response,omitempty"`
	Error    *requestError   `json:"error,omitempty"`
}

type requestError struct {
	Code    int    `json:"code,omitempty"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

type recordResult struct {
	ID     string          `json:"recordId"`
	Output json.RawMessage `json:"modelOutput,omitempty"`
	Error  *recordError    `json:"error,omitempty"`
}

type recordError struct {
	Code    int    `json:"errorCode,omitempty"`
	Word    string `json:"code"`
	Message string `json:"errorMessage"`
}
