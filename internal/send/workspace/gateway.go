package workspace

import (
	"context"
	"io"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchfile"
	"assay/internal/send/batchrun"
)

// GatewayStudy is the name under which the runs of gateways are listed.
const GatewayStudy = "gateway"

// RoutedBatch is a batch that a client sent to a gateway, ready to be begun.
type RoutedBatch struct {
	ID      string // of the run
	Name    string // of the client's file
	By      string // the user
	Batch   batchrun.Batch
	Refused []batchfile.Refusal
	Budget  *assay.Money
	Within  store.Allowance               // covers the budget, or it is not begun
	Open    func() (io.ReadCloser, error) // what the router wrote
}

// BeginRouted records a client's batch; from then on it is safe.
func (h *Home) BeginRouted(ctx context.Context, r RoutedBatch) (store.Run, error) {
	return h.Planner.Batches.BeginWithin(ctx, store.NewRun{
		ID: r.ID, Study: GatewayStudy, Digest: r.Batch.Digest(), Note: r.Name, By: r.By, Rehearsal: h.Rehearsal, Budget: r.Budget,
	}, r.Batch, r.Within, r.Open, r.Refused...)
}
