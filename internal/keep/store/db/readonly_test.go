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
