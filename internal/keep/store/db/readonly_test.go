package db

import (
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// TestALedgerThatCannotBeWrittenIsAMatterOfPermission: its hint is not that of a damaged one.
func TestALedgerThatCannotBeWrittenIsAMatterOfPermission(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "l.db")
	do := func(mode string) error {
		pool, err := sql.Open("sqlite", "file:"+path+"?mode="+mode)
		if err != nil {
			return err
		}
		_, err = pool.ExecContext(t.Context(), "CREATE TABLE "+mode+" (x)")
		return errors.Join(err, pool.Close())
	}
	if err := do("rwc"); err != nil {
		t.Fatal(err)
	}
	if err := unopened(do("ro"), path); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
}

// TestADatabaseWithoutRoomIsFull: SQLite says it by a code of its own.
func TestADatabaseWithoutRoomIsFull(t *testing.T) {
	t.Parallel()
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "l.db")+"?_pragma=max_page_count(2)")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	for _, text := range []string{"CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE TABLE c (x)"} {
		if _, err = pool.ExecContext(t.Context(), text); err != nil {
			break
		}
	}
	if !Full(err) {
		t.Error(err)
	}
	if _, err := pool.ExecContext(t.Context(), "SELECT * FROM nothing"); Full(err) {
		t.Error(err)
	}
}
