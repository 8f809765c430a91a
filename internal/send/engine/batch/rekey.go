package batch

import (
	"context"
	"errors"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/engine/reconcile"
	"assay/internal/send/provider"
)

// sameAccount reports whether the key that is here may look after a job that another key made: the provider shows it the job, with our
// stamp where jobs carry one. Then it does from now on. A job whose own key a living process has is left to that one.
func sameAccount(ctx context.Context, w *hold.Work) (bool, error) {
	if w.Access.Fingerprint == w.Seg.Account {
		return true, nil
	}
	alive, err := w.Ledger.Leases.KeyAlive(ctx, store.WorkerKey{Run: w.Run.No, Provider: w.Seg.Provider, Account: w.Seg.Account})
	if err != nil || alive {
		return false, err
	}
	st, err := w.Access.Batch.Check(ctx, w.Job())
	if err != nil {
		return false, ctx.Err() // of another account, or a key that is refused: another process may have the right one
	}
	finder, ok := w.Access.Batch.(provider.Finder)
	if ok && finder.Stamped() && !reconcile.MadeBy(w.Run, w.Seg, st.Stamp) {
		return false, nil
	}
	return true, takeKey(ctx, w)
}

// keyElsewhere leaves a job to the key that made it, and has it looked at again soon, because the process that has the key may be the next
// to look. Where no process that is known to live has it, the error is engine.ErrOtherKey.
func (w *work) keyElsewhere(ctx context.Context, why string) error {
	alive, err := w.Ledger.Leases.KeyAlive(ctx, store.WorkerKey{Run: w.Run.No, Provider: w.Seg.Provider, Account: w.Seg.Account})
	if err = errors.Join(err, w.Ledger.Work.Wake(ctx, w.Lease, w.Clock.Now().Add(w.Timing.PollMax/5), why)); err != nil || alive {
		return err
	}
	return engine.ErrOtherKey
}

// takeKey notes that the key that is here looks after the segment's job from now on.
func takeKey(ctx context.Context, w *hold.Work) error {
	why := "the key that made it was " + w.Seg.Account + "; the provider shows the job to " + w.Access.Fingerprint + ", too"
	w.Seg.Account = w.Access.Fingerprint
	return errors.Join(w.Ledger.Work.Rekey(ctx, w.Lease, w.Access.Fingerprint, w.Clock.Now()),
		w.Ledger.Work.Note(ctx, w.Run.No, w.Seg.No, "rekeyed", why))
}
