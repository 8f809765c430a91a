package batchfile

import (
	"encoding/json"
	"fmt"

	"assay"
	"assay/dialect"
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
	case ShapeAnthropic:
		v = anthropicResult{ID: id, Result: anthropicEnd{Type: "succeeded", Message: reply}}
	case ShapeGemini:
		v = geminiResult{Key: id, Response: reply}
	default:
		v = openResult{ID: requestID, CustomID: id, Response: &openResponse{Status: 200, RequestID: requestID, Body: reply}}
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
	case ShapeAnthropic:
		end := anthropicEnd{Type: "errored", Error: &anthropicError{Type: "error", Error: anthropicCause{code, message}}}
		switch o.Ending {
		case assay.Expired:
			end = anthropicEnd{Type: "expired"}
		case assay.Cancelled:
			end = anthropicEnd{Type: "canceled"}
		}
		v = anthropicResult{ID: id, Result: end}
	case ShapeGemini:
		v = geminiResult{Key: id, Error: &geminiError{Code: status, Status: code, Message: message}}
	default:
		v = openResult{CustomID: id, Error: &openError{code, message}}
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

type openResult struct {
	ID       string        `json:"id"`
	CustomID string        `json:"custom_id"`
	Response *openResponse `json:"response"`
	Error    *openError    `json:"error"`
}

type openResponse struct {
	Status    int             `json:"status_code"`
	RequestID string          `json:"request_id"`
	Body      json.RawMessage `json:"body"`
}

type openError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

type anthropicResult struct {
	ID     string       `json:"custom_id"`
	Result anthropicEnd `json:"result"`
}

type anthropicEnd struct {
	Type    string          `json:"type"`
	Message json.RawMessage `json:"message,omitempty"`
	Error   *anthropicError `json:"error,omitempty"`
}

type anthropicError struct {
	Type  string         `json:"type"`
	Error anthropicCause `json:"error"`
}

type anthropicCause struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type geminiResult struct {
	Key      string          `json:"key"`
	Response json.RawMessage `json:"response,omitempty"`
	Error    *geminiError    `json:"error,omitempty"`
}

type geminiError struct {
	Code    int    `json:"code,omitempty"`
	Status  string `json:"status"`
	Message string `json:"message"`
}
