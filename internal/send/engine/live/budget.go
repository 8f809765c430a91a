package live

import (
	"context"
	"errors"
	"sync/atomic"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// budgetWatch holds what the answers of a live segment cost against what is reserved for them.
type budgetWatch struct {
	limited  atomic.Bool // the run has a budget
	cost     assay.Money
	owed     atomic.Int64 // cost, and that of answers which are home and not written
	reserved atomic.Int64
	more     chan struct{} // more was reserved
}

func newBudgetWatch(w *work) *budgetWatch {
	t := &budgetWatch{cost: w.Seg.Cost.Sum, more: make(chan struct{}, 1)}
	t.limited.Store(w.Run.Budget != nil)
	t.owed.Store(int64(t.cost))
	t.reserved.Store(int64(w.Seg.Reserved))
	return t
}

// owes takes the cost of an answer that came back.
func (t *budgetWatch) owes(cost *assay.Money) {
	if cost != nil {
		t.owed.Add(int64(*cost))
	}
}

// paid takes the cost of an answer that is written.
func (t *budgetWatch) paid(cost *assay.Money) {
	if cost != nil {
		t.cost += *cost
	}
}

func (t *budgetWatch) overdrawn() bool { return t.limited.Load() && t.owed.Load() > t.reserved.Load() }

// wait keeps the next request back while the answers that are home cost more than is reserved: only those in flight can
// overdraw a budget.
func (t *budgetWatch) wait(ctx context.Context) {
	for t.overdrawn() {
		select {
		case <-t.more:
		case <-ctx.Done():
			return
		}
	}
}

// afford takes more money when the answers cost more than was reserved: for what came and for what is to come.
func (a *sender) afford(ctx context.Context) error {
	t := a.budget
	if !t.limited.Load() || t.cost <= a.Seg.Reserved || a.done == 0 {
		return nil
	}
	more := t.cost - a.Seg.Reserved + assay.Money(int64(t.cost)/a.done*(a.Seg.Requests-a.done))
	err := a.Insist(ctx, func() error { return a.Ledger.Work.ReserveMore(ctx, a.Lease, more) })
	if errors.Is(err, store.ErrBudget) {
		a.broke = err
		return nil
	}
	if err == nil {
		a.Seg.Reserved += more
		t.reserved.Store(int64(a.Seg.Reserved))
		select {
		case t.more <- struct{}{}:
		default:
		}
	}
	return err
}
