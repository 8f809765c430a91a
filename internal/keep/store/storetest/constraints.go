package storetest

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// constraints breaks the rules behind the store's back: the database itself has to refuse.
func constraints(t *testing.T, fresh Fresh) {
	b := &bench{t: t, ctx: context.Background(), clock: newClock()}
	where := fresh(t)
	b.s = open(t, where, b.clock)
	b.run = b.newRun("r1", nil)
	staged, launched := b.staged(store.Batch, 2), b.to(b.staged(store.Batch, 2), store.Launched)
	fetched := b.to(b.staged(store.Batch, 1), store.Fetched)
	b.settle(fetched, b.outcome(fetched, 0, assay.Answered))
	tests := []struct{ name, text string }{
		{"a move that skips", move(staged.No, "launched", "")},
		{"a move back in time", move(fetched.No, "planned", "")},
		{"a state without a name", move(staged.No, "flying", "")},
		{"launched without a job", move(staged.No, "launched", ", job = NULL")},
		{"ended without an end", move(launched.No, "ended", "")},
		{"settled with open attempts", move(fetched.No, "settled", ", settled_ms = 1, reserved_nano = 0, n_answered = 0")},
		{"settled with money reserved", move(fetched.No, "settled", ", settled_ms = 1")},
		{"held without a reason", move(launched.No, "held", ", held_from = 'launched'")},
		{"uploaded with a reservation", move(staged.No, "uploaded", ", handle = '{}', reserved_nano = 5")},
		{"more outcomes than attempts", fmt.Sprintf("UPDATE segments SET n_lost = 9 WHERE no = %d", launched.No)},
		{"a negative counter", fmt.Sprintf("UPDATE segments SET n_lost = -1, n_cut = 1 WHERE no = %d", launched.No)},
		{"a lease without an end", fmt.Sprintf("UPDATE segments SET lease_until_ms = NULL WHERE no = %d", launched.No)},
		{"a closed run without a result", "UPDATE runs SET state = 'closed', closed_ms = 1, due_ms = NULL"},
		{"a negative reservation", "UPDATE runs SET reserved_nano = -1"},
		{"an ending without a name", "UPDATE outcomes SET ending = 'fine'"},
		{"a failure that stands", "UPDATE outcomes SET ending = 'lost'"},
		{"surplus that stands", "UPDATE outcomes SET surplus = 1"},
		{"a line without a file", "UPDATE outcomes SET line_offset = 1"},
		{"two standing answers of a request", `INSERT INTO outcomes (segment_no, ord, late, run_no, key, ending, stands, surplus,
			over, finish, model, request_id, tier, at_ms, retried) SELECT segment_no, 77 + n, late, run_no, key, ending, stands, surplus,
			over, finish, model, request_id, tier, at_ms, 1 FROM outcomes, (SELECT 0 AS n UNION ALL SELECT 1) AS twice`},
		{"a try that is already there", "INSERT INTO attempts SELECT segment_no, ord + 50, run_no, key, try, digest, source, item, lane, " +
			"against, template, branch, draw, judge, prompt, trait, vote FROM attempts"},
		{"a stopped lane without a reason", "UPDATE lanes SET state = 'stopped'"},
	}
	db := raw(t, where)
	for _, tt := range tests {
		if _, err := db.ExecContext(b.ctx, tt.text); err == nil {
			t.Errorf("%s: the database took it", tt.name)
		}
	}
}

func move(no int64, to, set string) string {
	return fmt.Sprintf("UPDATE segments SET moved_from = state, state = '%s'%s WHERE no = %d", to, set, no)
}

// raw opens the database beneath a ledger.
func raw(t testing.TB, where string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(where, "postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, where)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
