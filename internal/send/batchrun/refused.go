package batchrun

import (
	"context"
	"fmt"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
)

// refusedItems are requests that are not sent, as rows of the snapshot.
func refusedItems(all []batchfile.Refusal) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		for _, r := range all {
			it := assay.Item{ID: r.ID, Fields: map[string]any{
				"line": int64(r.Line), "status": int64(r.Status), "code": r.Code, "param": r.Param, "message": r.Message,
			}}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// Refused walks over the requests of a run that were refused before anything was sent, in the order of the file.
func (r *Reader) Refused(ctx context.Context, run store.Run) iter.Seq2[batchfile.Refusal, error] {
	return func(yield func(batchfile.Refusal, error) bool) {
		for it, err := range r.Ledger.Items(ctx, run.No, refusals) {
			if err != nil {
				yield(batchfile.Refusal{}, err)
				return
			}
			out := batchfile.Refusal{ID: it.ID}
			line, ok1 := it.Fields["line"].(int64)
			status, ok2 := it.Fields["status"].(int64)
			out.Code, _ = it.Fields["code"].(string)
			out.Param, _ = it.Fields["param"].(string)
			out.Message, _ = it.Fields["message"].(string)
			if out.Line, out.Status = int(line), int(status); !ok1 || !ok2 {
				yield(out, fmt.Errorf("the refused line %q of the snapshot cannot be read", it.ID))
				return
			}
			if !yield(out, nil) {
				return
			}
		}
	}
}

// Counts are the requests of a gateway's batch by state.
type Counts struct{ Total, Completed, Failed int64 }

// Counts counts the requests of a run by their current outcome. Those that were refused before have failed; those that
// may be sent again have not, before the run is closed.
func (r *Reader) Counts(ctx context.Context, run store.Run) (Counts, error) {
	b, err := of(run)
	if err != nil || b.Client == nil || len(b.Client.Broken) > 0 {
		return Counts{}, err
	}
	c := Counts{Total: b.File.Requests + b.Client.Refused, Failed: b.Client.Refused}
	lanes, err := r.Ledger.Lanes(ctx, run.No)
	for _, l := range lanes {
		for ending, n := range l.Endings {
			if good(ending) {
				c.Completed += n
			} else if ending == assay.Rejected {
				c.Failed += n
			}
		}
	}
	if run.State == store.RunClosed { // what was never sent has failed with it
		c.Failed = c.Total - c.Completed
	}
	return c, err
}

// good reports whether an ending brought a reply back, as OpenAI counts: a client sees in it that it is empty.
func good(e assay.Ending) bool { return e.Stands() || e == assay.Empty }
