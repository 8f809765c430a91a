package db_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"assay/internal/keep/store/db"
	"assay/internal/keep/store/storetest/pgtest"
)

// TestACopyWhoseProcessSleepsIsEnded begins a COPY in a transaction that holds a row, and sends nothing more, as a stopped process.
func TestACopyWhoseProcessSleepsIsEnded(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	where, err := server.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Open(t.Context(), where, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write, read := s.Pools()
	if _, err := write.ExecContext(t.Context(), `INSERT INTO meta (name, value) VALUES ('row', '1')`); err != nil {
		t.Fatal(err)
	}
	ended := asleep(t, where)
	waiting := func(ctx context.Context) bool {
		var n int
		err := read.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientRead' AND state = 'active'
			AND query LIKE 'copy %'`).Scan(&n)
		return err == nil && n == 1
	}
	for !waiting(t.Context()) { // it has been asked for, and is about to begin
	}
	s.Unblock(t.Context(), errors.New("another error"))
	s.Unblock(t.Context(), &pgconn.PgError{Code: "55P03"})
	if !waiting(t.Context()) {
		t.Fatal("a COPY that has not waited for long was ended")
	}
	if err := s.EndCopies(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the COPY went on")
	}
	err = s.Tx(t.Context(), "change the row", db.Relaxed, func(tx *db.Txn) error {
		_, err := tx.ExecContext(t.Context(), `UPDATE meta SET value = '2' WHERE name = 'row'`)
		return err
	})
	if err != nil {
		t.Errorf("the row is kept: %v", err)
	}
}

// asleep holds a row and begins a COPY that sends nothing; its end comes through the channel.
func asleep(t *testing.T, where string) <-chan error {
	cfg, err := pgx.ParseConfig(where)
	if err != nil {
		t.Fatal(err)
	}
	cfg.RuntimeParams["application_name"] = "assay"
	conn, err := pgx.ConnectConfig(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; UPDATE meta SET value = '0' WHERE name = 'row'`); err != nil {
		t.Fatal(err)
	}
	rows, silent := io.Pipe()
	t.Cleanup(func() { silent.Close() })
	ended := make(chan error, 1)
	go func() {
		_, err := conn.PgConn().CopyFrom(t.Context(), rows, `copy "meta" (name, value) from stdin`)
		ended <- err
	}()
	return ended
}
