package storetest

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
)

// clientFiles: files of a gateway are found by their owner alone, listed newest first, recorded once, and gone when deleted.
func clientFiles(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	put := func(id, owner, purpose string, run int64) {
		b.ok(b.s.Clients.PutClientFiles(b.ctx,
			store.ClientFile{ID: id, Owner: owner, Name: id + ".jsonl", Purpose: purpose, Run: run, Bytes: int64(len(id))}))
	}
	put("one", "anna", "batch", 0)
	put("two", "anna", "batch", 0)
	put("three", "anna", "batch_output", b.run.No)
	put("other", "bert", "batch", 0)
	put("one", "bert", "batch", 0) // recorded already: it stays anna's
	names := func(owner, purpose string, before int64, limit int) (ids []string) {
		all, err := b.s.Clients.ClientFiles(b.ctx, owner, purpose, before, limit)
		b.ok(err)
		for _, u := range all {
			ids = append(ids, u.ID)
		}
		return ids
	}
	same := func(what string, got []string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	same("all of anna", names("anna", "", 0, 10), "three", "two", "one")
	same("of a purpose", names("anna", "batch", 0, 10), "two", "one")
	same("two of them", names("anna", "", 0, 2), "three", "two")
	two, err := b.s.Clients.ClientFile(b.ctx, "anna", "two")
	b.ok(err)
	same("after the second", names("anna", "", two.No, 10), "one")
	if two.Bytes != 3 || two.Name != "two.jsonl" || two.Run != 0 || !two.Created.Equal(b.clock.now()) {
		t.Errorf("two is %+v", two)
	}
	if _, err := b.s.Clients.ClientFile(b.ctx, "anna", "t\x00wo"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an id that no database can hold: %v", err)
	}
	if _, err := b.s.Clients.ClientFile(b.ctx, "bert", "two"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("bert's look at anna's file: %v", err)
	}
	if err := b.s.Clients.DeleteClientFile(b.ctx, "bert", "two"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("bert deletes anna's file: %v", err)
	}
	b.ok(b.s.Clients.DeleteClientFile(b.ctx, "anna", "two"))
	b.ok(b.s.Clients.DeleteClientFile(b.ctx, "anna", "three"))
	if err := b.s.Clients.DeleteClientFile(b.ctx, "anna", "two"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	same("what is left", names("anna", "", 0, 10), "one")
	b.ok(b.s.Clients.BeginClientFile(b.ctx, "anna", "four"))
	same("while one is sent", names("anna", "", 0, 10), "one")
	if left, err := b.s.Clients.UnfinishedClientFiles(b.ctx, b.clock.now()); err != nil || len(left) != 0 {
		t.Errorf("begun before it began: %+v, %v", left, err)
	}
	if left, err := b.s.Clients.UnfinishedClientFiles(b.ctx, b.clock.now().Add(1e9)); err != nil || len(left) != 1 ||
		left[0].ID != "four" || left[0].Owner != "anna" {
		t.Errorf("unfinished: %+v, %v", left, err)
	}
	four := store.ClientFile{ID: "four", Owner: "anna", Name: "4", Purpose: "batch", Bytes: 8}
	if err := b.s.Clients.KeepClientFile(b.ctx, four, 10); !errors.Is(err, store.ErrStorage) { // one has 3
		t.Errorf("11 bytes of 10: %v", err)
	}
	b.ok(b.s.Clients.KeepClientFile(b.ctx, four, 11))
	if err := b.s.Clients.KeepClientFile(b.ctx, four, 0); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("kept twice: %v", err)
	}
	same("when it is whole", names("anna", "", 0, 10), "four", "one")
	if n, err := b.s.Clients.StoredBytes(b.ctx, "anna"); err != nil || n != 11 {
		t.Errorf("anna has %d bytes (%v), want 11", n, err)
	}
	of, err := b.s.Clients.ClientFilesOf(b.ctx, b.run.No)
	b.ok(err)
	if len(of) != 1 || of[0].ID != "three" {
		t.Errorf("results of the run: %+v", of)
	}
}
