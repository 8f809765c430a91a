package db

import (
	"path/filepath"
	"testing"
)

// TestTheIndexOfKeysIsMadeForLargeRunsAtRest asks for it beside a run at work, for a small run, and for a large one.
func TestTheIndexOfKeysIsMadeForLargeRunsAtRest(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "l.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do := func(text string, args ...any) {
		t.Helper()
		err := s.Tx(ctx, "test", Relaxed, func(x *Txn) error { _, err := x.ExecContext(ctx, text, args...); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	there := func() (n int) {
		t.Helper()
		err := s.QueryRow(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE name = 'attempts_key'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for run, requests := range []int{manyAttempts, manyAttempts + 1} {
		do(`INSERT INTO runs (no, id, study, folder, digest, settings, note, started_by, rehearsal, state, created_ms)
			VALUES ($1, $1, '', '', '', '', '', '', 0, 'open', 0)`, run+1)
		do(`INSERT INTO segments (run_no, stage, lane, turn, mode, purpose, provider, model, state, moved_ms, created_ms, nonce, requests)
			VALUES ($1, '', '', 1, 'batch', 'wave', '', '', 'planned', 0, 0, '', $2)`, run+1, requests)
	}
	ask := func(run int64, want int) {
		t.Helper()
		if err := s.IndexKeys(ctx, run); err != nil {
			t.Fatal(err)
		}
		if got := there(); got != want {
			t.Errorf("%d indexes for run %d, want %d", got, run, want)
		}
	}
	ask(2, 0) // it could not write meanwhile
	do(`UPDATE runs SET state = 'closed', result = 'done', closed_ms = 1`)
	ask(1, 0) // reading it takes less than making an index
	ask(2, 1)
	ask(2, 1)
	if err := s.Tx(ctx, "test", Relaxed, func(x *Txn) error { return x.DropKeys(ctx) }); err != nil {
		t.Fatal(err)
	}
	if there() != 0 {
		t.Error("the index is there when a run begins")
	}
}
