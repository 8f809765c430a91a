package workspace

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/send/process"
)

// self returns who we are to other processes that use the same ledger.
func (w *World) self() process.Process {
	if w.Self != (process.Process{}) {
		return w.Self
	}
	return process.This()
}

// Holder returns a name for one holder of leases in this process.
func (h *Home) Holder() (string, error) {
	id, err := h.World.NewID()
	return h.World.self().String() + "." + id, err
}

// Gone reports whether a holder of leases was a process of this machine that has ended.
func (h *Home) Gone(holder string) bool {
	if h.World.Ended != nil {
		return h.World.Ended(holder)
	}
	among := process.OneMachine
	if h.Ledger.Postgres() {
		among = process.Machines
	}
	return process.Ended(holder, among)
}

// ReleaseEnded releases at once what ended processes of this machine held of a run, so that it need not wait until their leases
// end. It returns those holders.
func (h *Home) ReleaseEnded(ctx context.Context, run store.Run) ([]string, error) {
	drivers, err := h.Ledger.Leases.Drivers(ctx, run.No)
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, d := range drivers {
		if !h.Gone(d.Holder) {
			continue
		}
		if err := h.Ledger.Leases.ReleaseDead(ctx, d.Holder); err != nil {
			return gone, err
		}
		gone = append(gone, d.Holder)
	}
	return gone, nil
}

// abandoned reports whether nobody prepares a run any more: then it can never be opened.
func abandoned(ctx context.Context, h *Home, run store.Run) (bool, error) {
	if h.Gone(run.Lease.Holder) { // its maker was killed
		if err := h.Ledger.Leases.ReleaseDead(ctx, run.Lease.Holder); err != nil {
			return false, err
		}
	}
	return h.Ledger.Runs.AbandonRun(ctx, run.No)
}
