package batchrun

import (
	"context"
	"iter"
	"slices"

	"assay"
	"assay/batchfile"
	"assay/store"
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
			doc := Failure{Batch: run.ID, File: run.Study, Line: a.Line.No, ID: a.Line.ID, Model: a.Line.Lane, Status: string(a.Outcome.Ending), Attempts: a.Try}
			if f := a.Outcome.Fault; f != nil {
				doc.Class, doc.HTTP, doc.Code, doc.Message = string(f.Class), f.Status, f.Code, f.Message
			}
			if !yield(doc, nil) {
				return
			}
		}
	}
}

// Again is what another try of a run would send.
type Again struct {
	Requests int64
	Expected assay.Cost
	Waiting  bool // lanes that were stopped or held have requests left
}

// Again counts what ended in one of some ways, and what it may cost to send it again.
func (r *Reader) Again(ctx context.Context, run store.Run, only []assay.Ending) (Again, error) {
	b, err := of(run)
	if err != nil {
		return Again{}, err
	}
	meters := map[string]*batchfile.Meter{}
	for _, l := range b.File.Lanes {
		meters[l.Name] = batchfile.NewMeter(r.Catalog, b.File.Kind, l.Lane, b.File.Mode)
	}
	var out Again
	for a, err := range Answers(ctx, r.Ledger, run.No) {
		if err != nil {
			return out, err
		}
		if !a.Ended || !slices.Contains(only, a.Outcome.Ending) {
			continue
		}
		expected, _ := meters[a.Line.Lane].Estimate(a.Line.Prompt, a.Line.Limit)
		out.Requests, out.Expected = out.Requests+1, out.Expected.Add(expected)
	}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	for _, l := range lanes {
		out.Waiting = out.Waiting || l.State != store.LaneOpen && l.Open > 0
	}
	return out, err
}
