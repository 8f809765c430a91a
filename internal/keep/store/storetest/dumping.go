package storetest

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// dumps: what a ledger knows of a run goes into another ledger, whatever the database, and nothing of this place with it.
func dumps(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	b.ok(b.s.Runs.PutPart(b.ctx, b.run.No, "file/x", strings.NewReader("study")))
	block := store.Import{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}, Provider: "openai",
		Model: "gpt-5", File: "/home/anna/a.csv"}
	for i := range 3 {
		a := b.attempt(int64(i), 10+i)
		block.Attempts, block.Outcomes = append(block.Attempts, a), append(block.Outcomes, settlement(a, assay.Answered))
	}
	b.ok(b.s.Imports.Import(b.ctx, block))
	b.segment(store.Batch, 2)
	score := 0.5
	_, err := b.s.Runs.AddVerdicts(b.ctx, []store.Verdict{{
		Run: b.run.No, At: assay.Coordinates{Stage: "fine", Item: "q1", Judge: "j"}, Subject: block.Attempts[0].Key,
		State: assay.VerdictValid, Score: &score, Reason: "é",
	}})
	b.ok(err)

	other := open(t, filepath.Join(t.TempDir(), "other.db"), b.clock)
	for _, table := range store.DumpTables() {
		b.ok(other.Runs.Restore(b.ctx, table, b.s.Reader.Dump(b.ctx, b.run.No, table)))
		for row, err := range other.Reader.Dump(b.ctx, b.run.No, table) {
			b.ok(err)
			if text := fmt.Sprint(row.Values...); strings.Contains(text, "/home/anna") || strings.Contains(text, "me ") {
				t.Errorf("%s holds something of this place: %s", table, text)
			}
		}
	}
	// A table that is new has to be one or the other: what analyses read goes along.
	left := []string{"artifacts", "client_calls", "client_files", "client_sums", "client_users", "doubts", "drivers", "events", "gates",
		"headlines", "worker_keys", "jobs", "meta", "quotas", "resends", "shares", "strays", "taken_jobs", "uploads"}
	b.ok(other.Reader.Query(b.ctx, `SELECT name FROM sqlite_master WHERE type = 'table'`, func(_ []string, values []any) error {
		name := fmt.Sprint(values[0])
		if !slices.Contains(store.DumpTables(), name) && !slices.Contains(left, name) && !strings.HasPrefix(name, "sqlite_") &&
			!strings.HasPrefix(name, "goose") {
			t.Errorf("table %s is neither part of a dump nor left out of it: name it in DumpTables or here", name)
		}
		return nil
	}))
	said := func(s *ledger.Ledger) []string {
		var out []string
		for a, err := range s.Reader.Answers(b.ctx, b.run.No, "", "") {
			b.ok(err)
			out = append(out, fmt.Sprint(a.Key, a.Lane, a.Mode, a.At, a.Outcome, *a.Cost))
		}
		for v, err := range s.Reader.Verdicts(b.ctx, b.run.No, "") {
			b.ok(err)
			out = append(out, fmt.Sprint(v.At, v.Subject, v.State, *v.Score, v.Reason))
		}
		return out
	}
	if diff := cmp.Diff(said(b.s), said(other)); diff != "" || len(said(other)) != 4 {
		t.Errorf("answers and verdicts (-there +here):\n%s", diff)
	}
	if err := other.Runs.Restore(b.ctx, "runs", b.s.Reader.Dump(b.ctx, b.run.No, "runs")); err == nil {
		t.Error("a run was written twice")
	}
	strange := store.DumpRow{Columns: []string{"no", "mood"}, Values: []any{int64(1), "x"}}
	if err := other.Runs.Restore(b.ctx, "runs", rowsOf(strange)); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("an unknown column: %v", err)
	}
	if err := other.Runs.Restore(b.ctx, "doubts", rowsOf()); err == nil {
		t.Error("a table that is no part of a dump was written")
	}
}

func rowsOf(rows ...store.DumpRow) iter.Seq2[store.DumpRow, error] {
	return func(yield func(store.DumpRow, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}
