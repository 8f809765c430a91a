package storetest

import (
	"context"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// revisingTogether changes the study of a run twice at once: the second comes too late, and is no error.
func revisingTogether(t *testing.T, fresh Fresh) {
	b := &bench{t: t, ctx: context.Background(), clock: newClock()}
	where := fresh(t)
	b.s = open(t, where, b.clock)
	b.run = b.newRun("r1", nil)
	held, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "one", time.Hour)
	b.ok(err)
	type outcome struct {
		done bool
		err  error
	}
	second := make(chan outcome, 1)
	revision := func(is string) store.Revision {
		return store.Revision{Run: b.run.No, Was: b.run.Digest, Is: is, Settings: "{}", Parts: map[string][]byte{"file/a": []byte(is)}}
	}
	first := revision("first")
	first.Lease, first.More = held, &store.More{Items: []store.MoreItems{{Input: "q", Items: func(yield func(assay.Item, error) bool) {
		go func() {
			done, err := b.s.Runs.Revise(b.ctx, revision("second"))
			second <- outcome{done, err}
		}()
		b.awaitBlocked(where)
		yield(assay.Item{ID: "a", Fields: map[string]any{"text": "a"}}, nil)
	}}}}
	done, err := b.s.Runs.Revise(b.ctx, first)
	if !done || err != nil {
		t.Error("the first:", done, err)
	}
	if got := <-second; got.done || got.err != nil {
		t.Error("the second:", got.done, got.err)
	}
}

// awaitBlocked waits until a transaction waits for another one. SQLite has one writer at a time, which needs no look.
func (b *bench) awaitBlocked(where string) {
	if !b.s.Postgres() {
		return
	}
	db := raw(b.t, where)
	for n := 0; n == 0; {
		err := db.QueryRowContext(b.ctx,
			`SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
		if err != nil {
			b.t.Error(err)
			return
		}
	}
}
