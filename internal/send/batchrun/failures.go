package batchrun

import (
	"context"
	"iter"
	"slices"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
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
	Requests int64 // that ended without an answer
	Unsent   int64 // of lanes that were stopped or held
	Kept     int64 // answers that stand
	Expected assay.Cost
	High     assay.Cost
}

// Again counts what ended in one of some ways, and what it may cost to send it again.
func (r *Reader) Again(ctx context.Context, run store.Run, only []assay.Ending) (Again, error) {
	b, err := of(run)
	if err != nil {
		return Again{}, err
	}
	meters := map[string]*batchfile.Meter{}
	for _, l := range b.File.Lanes {
		meters[l.Name] = batchfile.NewMeter(r.Catalog, b.File.KindOf(l.Lane), l.Lane, b.modeOf(l))
	}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	if err != nil {
		return Again{}, err
	}
	shut := map[string]bool{}
	for _, l := range lanes {
		shut[l.Name] = l.State != store.LaneOpen && l.State != store.LanePaused
	}
	var out Again
	for a, err := range Answers(ctx, r.Ledger, run.No) {
		if err != nil {
			return out, err
		}
		switch {
		case a.Ended && slices.Contains(only, a.Outcome.Ending):
			out.Requests++
		case !a.Ended && shut[a.Line.Lane]:
			out.Unsent++
		case a.Ended && a.Outcome.Ending.Stands():
			out.Kept++
			continue
		default:
			continue
		}
		expected, high := meters[a.Line.Lane].Estimate(a.Line.Prompt, a.Line.Limit)
		out.Expected, out.High = out.Expected.Add(expected), out.High.Add(high)
	}
	return out, nil
}
