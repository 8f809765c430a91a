package storetest

import (
	"context"
	"iter"
	"sync"
	"testing"
	"time"

	"assay/internal/keep/store"
)

// walking reads rows in more loops at a time than there are connections, and writes and walks over others in each of them.
func walking(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.staged(store.Batch, 2)
	const loops = 24
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	var inside, done sync.WaitGroup
	inside.Add(loops)
	for range loops {
		done.Go(func() {
			first := true
			for _, err := range b.s.Reader.Attempts(ctx, g.No) {
				if err != nil {
					t.Errorf("read: %v", err)
				}
				if first {
					inside.Done()
					inside.Wait()
					first = false
					if n := count(t, b.s.Reader.Attempts(ctx, g.No)); n != 2 {
						t.Errorf("%d rows within a loop", n)
					}
				}
				if err := b.s.Work.Note(ctx, b.run.No, g.No, "test", "written in a loop"); err != nil {
					t.Errorf("write: %v", err)
				}
				if _, err := b.s.Reader.Segment(ctx, g.No); err != nil {
					t.Errorf("read in a loop: %v", err)
				}
			}
		})
	}
	done.Wait()
}

func count[T any](t *testing.T, rows iter.Seq2[T, error]) (n int) {
	for _, err := range rows {
		if err != nil {
			t.Errorf("walk within a walk: %v", err)
		}
		n++
	}
	return n
}
