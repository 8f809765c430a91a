package storetest

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"assay/internal/keep/store"
)

// cancelled writes under a context that is cancelled: what was reported as written is there, and the next write is not
// affected.
func cancelled(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	written := map[string]bool{}
	for i := range 400 {
		ctx, cancel := context.WithCancel(b.ctx)
		go func() {
			for range i { // sooner, and later
				runtime.Gosched()
			}
			cancel()
		}()
		text := fmt.Sprint("note ", i)
		if b.s.Work.Note(ctx, b.run.No, 0, "test", text) == nil {
			written[text] = true
		}
		if i%20 == 19 { // a commit of the other kind
			b.ok(b.s.Leases.RunDue(b.ctx, b.run.No, b.clock.now()))
			_, err := b.s.Runs.PutOrder(b.ctx, store.Order{Run: b.run.No, Kind: store.OrderCollect, Args: "{}", By: "me"})
			b.ok(err)
		}
		cancel()
	}
	events, err := b.s.Reader.Events(b.ctx, b.run.No, 0, 1000)
	b.ok(err)
	for _, e := range events {
		delete(written, e.Text)
	}
	if len(written) > 0 {
		t.Errorf("lost: %v", written)
	}
}
