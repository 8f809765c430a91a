package batchrun

import (
	"context"
	"iter"

	"assay/internal/keep/store"
)

// Failure is a line of a file that has no answer, and why.
type Failure struct {
	Batch    string `json:"batch"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	ID       string `json:"custom_id"`
	Model    string `json:"model"`
	Status   string `json:"status"`
	Class    string `json:"class,omitempty"`
	HTTP     int    `json:"http_status,omitempty"`
	Code     string `json:"code,omitempty"`
	Message  string `json:"message,omitempty"`
	Attempts int64  `json:"attempts"`
}

// Failures walks over the lines of a run that ended without an answer, in the order of its file.
func (r *Reader) Failures(ctx context.Context, run store.Run) iter.Seq2[Failure, error] {
	return func(yield func(Failure, error) bool) {
		for a, err := range Answers(ctx, r.Ledger, run.No) {
			if err != nil {
				yield(Failure{}, err)
				return
			}
			if !a.Ended || a.Outcome.Ending.Stands() {
				continue
			}
			doc := Failure{Batch: run.ID, File: run.Study, Line: a.Line.No, ID: a.Line.ID, Model: a.Line.Lane,
				Status: string(a.Outcome.Ending), Attempts: a.Try}
			if f := a.Outcome.Fault; f != nil {
				doc.Class, doc.HTTP, doc.Code, doc.Message = string(f.Class), f.Status, f.Code, f.Message
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}
