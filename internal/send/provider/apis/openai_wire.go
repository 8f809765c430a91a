package apis

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
)

// fileHandle remembers an upload.
type fileHandle struct {
	File  string `json:"file"`
	Ready bool   `json:"ready,omitempty"`
}

// Made returns the batch's own id.
func (b *openAIBatch) Made() (string, time.Time) { return b.ID, b.Created.Time }

// Valid wants an id.
func (b *openAIBatch) Valid() bool { return b.ID != "" }

// Valid wants the list, be it empty.
func (l *openAIList) Valid() bool { return l.Data != nil }

// Valid wants an id.
func (f *openAIFile) Valid() bool { return f.ID != "" }

// listed returns the batch as a list shows it: without parts and problems.
func (b *openAIBatch) listed() provider.Status {
	s := provider.Status{
		Job: b.ID, State: fileState(b.Status), Word: b.Status, Model: b.Model, Input: b.Input, Stamp: b.Metadata.Stamp(),
		Created: b.Created.Time, Expires: b.Expires.Time,
		Ended: latest(b.Completed.Time, b.Failed.Time, b.Expired.Time, b.Cancelled.Time),
	}
	if total := int64(b.Counts.Total); total > 0 {
		s.Counts = provider.Counts{
			Known: true, Total: total, Succeeded: int64(b.Counts.Completed), Failed: int64(b.Counts.Failed),
		}
		if !s.State.Terminal() {
			s.Counts.Pending = max(0, total-s.Counts.Done())
		}
	}
	return s
}

// status returns the batch with all it reports. Result files are there in every terminal state, or not; either may be missing.
func (b *openAIBatch) status() provider.Status {
	s := b.listed()
	s.Parts = fileParts(b.Output, b.ErrorFile)
	for _, e := range b.Errors {
		s.Problems = append(s.Problems, provider.LineProblem{Line: int(e.Line), Fault: *e.fault()})
	}
	if len(b.Errors) > 0 {
		s.Fault = b.Errors[0].fault()
	} else if s.State == provider.StateFailed {
		s.Fault = &assay.Fault{Class: assay.FaultUnknown, Code: "batch_failed"}
	}
	return s
}

// fileState reads the words of all who copied OpenAI's life of a batch.
func fileState(word string) provider.State {
	switch strings.ToLower(word) {
	case "validating", "pending", "queued", "in_queue", "pre_schedule":
		return provider.StateQueued
	case "in_progress", "progress", "running":
		return provider.StateRunning
	case "finalizing", "cancelling", "canceling":
		return provider.StateEnding
	case "completed":
		return provider.StateEnded
	case "failed":
		return provider.StateFailed
	case "expired":
		return provider.StateExpired
	case "cancelled", "canceled":
		return provider.StateCancelled
	}
	return provider.StateUnknown
}

// fileParts returns the result files there are.
func fileParts(output, errors string) []provider.Part {
	var parts []provider.Part
	if output != "" {
		parts = append(parts, provider.Part{Name: "results", Kind: provider.PartResults, Ref: output})
	}
	if errors != "" {
		parts = append(parts, provider.Part{Name: "errors", Kind: provider.PartErrors, Ref: errors})
	}
	return parts
}

// fault classifies a validation problem. Only a full queue is worth another try with the same bytes.
func (e *openAIError) fault() *assay.Fault {
	code := string(e.Code)
	class := assay.FaultInvalid
	switch {
	case strings.Contains(code, "token_limit_exceeded"), strings.Contains(code, "rate_limit"):
		class = assay.FaultBusy
	case code == "invalid_request" && strings.Contains(string(e.Param), "file_id"): // the uploaded file is not there any more
		class = assay.FaultGone
	case code == "too_many_tasks", strings.Contains(code, "too_large"):
		class = assay.FaultLarge
	case strings.Contains(code, "quota"), strings.Contains(code, "billing"):
		class = assay.FaultQuota
	case strings.Contains(code, "server_error"), strings.Contains(code, "internal"):
		class = assay.FaultBusy
	}
	f := &assay.Fault{Class: class, Code: clean(code), Message: clean(string(e.Message)), Param: clean(string(e.Param))}
	if strings.Contains(code, "token_limit_exceeded") {
		f.Limit = enqueuedLimit(f.Message)
	}
	return f
}

// enqueuedLimit reads how many tokens may wait at a time from OpenAI's words, such as "Limit: 2,000,000 enqueued tokens".
func enqueuedLimit(message string) int64 {
	_, after, _ := strings.Cut(message, "Limit: ")
	end := strings.IndexFunc(after, func(r rune) bool { return r != ',' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(after)
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(after[:end], ",", ""), 10, 64)
	if err != nil || n <= 0 {
		return -1
	}
	return n
}

type openAIFile struct {
	ID            string          `json:"id"`
	Bytes         provider.Number `json:"bytes"`
	Name          string          `json:"filename"`
	Status        string          `json:"status"`
	StatusDetails provider.Text   `json:"status_details"`
	Expires       provider.Moment `json:"expires_at"`
}

type openAICreate struct {
	Input    string            `json:"input_file_id"`
	Endpoint string            `json:"endpoint"`
	Window   string            `json:"completion_window"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

type openAIList struct {
	Data    []openAIBatch `json:"data"`
	HasMore *bool         `json:"has_more"`
}

type openAIBatch struct {
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Model     string          `json:"model"`
	Input     string          `json:"input_file_id"`
	Output    string          `json:"output_file_id"`
	ErrorFile string          `json:"error_file_id"`
	Created   provider.Moment `json:"created_at"`
	Expires   provider.Moment `json:"expires_at"`
	Completed provider.Moment `json:"completed_at"`
	Failed    provider.Moment `json:"failed_at"`
	Expired   provider.Moment `json:"expired_at"`
	Cancelled provider.Moment `json:"cancelled_at"`
	Metadata  provider.Labels `json:"metadata"`
	Errors    openAIErrors    `json:"errors"`
	Counts    struct {
		Total     provider.Number `json:"total"`
		Completed provider.Number `json:"completed"`
		Failed    provider.Number `json:"failed"`
	} `json:"request_counts"`
}

type openAIError struct {
	Code    provider.Text   `json:"code"`
	Message provider.Text   `json:"message"`
	Param   provider.Text   `json:"param"`
	Line    provider.Number `json:"line"`
}

// openAIErrors are written as a list, or as an object that holds one.
type openAIErrors []openAIError

// UnmarshalJSON reads both; what is neither is no list.
func (e *openAIErrors) UnmarshalJSON(b []byte) error {
	var list []openAIError
	var held struct {
		Data []openAIError `json:"data"`
	}
	if json.Unmarshal(b, &list) != nil {
		_ = json.Unmarshal(b, &held)
	}
	*e = append(list, held.Data...)
	return nil
}
