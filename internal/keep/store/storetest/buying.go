package storetest

import (
	"errors"
	"iter"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// buyingItems buys items for some lanes of a run: once, under the lease, and all of it or nothing.
func buyingItems(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	items := func(ids ...string) iter.Seq2[assay.Item, error] {
		return func(yield func(assay.Item, error) bool) {
			for _, id := range ids {
				if !yield(assay.Item{ID: id, Cluster: id}, nil) {
					return
				}
			}
		}
	}
	b.ok(b.s.PutItems(b.ctx, b.run.No, "q", items("a", "b")))
	before, err := b.s.Lanes(b.ctx, b.run.No)
	b.ok(err)
	own := before[0]
	l, err := b.s.HoldRun(b.ctx, b.run.No, "me", time.Hour)
	b.ok(err)
	now, err := b.s.Run(b.ctx, b.run.No)
	b.ok(err)
	most := assay.Money(7)
	e := store.Extension{
		Run: b.run.No, Was: now.Settings, Is: `{"file":"s.yaml","added":[]}`, Items: store.MoreItems{Input: "q", From: 2, Items: items("c", "d")},
		Adds: []store.Share{{Stage: own.Stage, Lane: own.Name, Requests: 2}}, Cap: &most, What: "two items", Lease: l,
	}
	twice := e
	twice.Items.Items = items("c", "a") // one that is there
	if _, err := b.s.Buy(b.ctx, twice); !errors.Is(err, store.ErrDuplicate) {
		t.Fatalf("an item that is there: %v", err)
	}
	lost := e
	lost.Lease.Epoch++
	if _, err := b.s.Buy(b.ctx, lost); !errors.Is(err, store.ErrLeaseLost) {
		t.Fatalf("without the lease: %v", err)
	}
	for n, want := range []bool{true, false} { // the second finds other settings
		bought, err := b.s.Buy(b.ctx, e)
		if err != nil || bought != want {
			t.Fatalf("purchase %d: %v, %v", n+1, bought, err)
		}
	}
	now, err = b.s.Run(b.ctx, b.run.No)
	b.ok(err)
	if now.Settings != e.Is || now.Budget == nil || *now.Budget != most || now.State != store.RunOpen {
		t.Errorf("%+v", now)
	}
	got := ""
	for it, err := range b.s.Items(b.ctx, b.run.No, "q") {
		b.ok(err)
		got += it.ID
	}
	lanes, err := b.s.Lanes(b.ctx, b.run.No)
	b.ok(err)
	if got != "abcd" || lanes[0].Planned != own.Planned+2 {
		t.Errorf("items %s, %d planned", got, lanes[0].Planned)
	}
}
