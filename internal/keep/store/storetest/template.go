package storetest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"assay/internal/keep/ledger"
)

// NewFile makes a SQLite ledger that nothing was written to, and returns the path.
func NewFile(t testing.TB, path string) string {
	t.Helper()
	if err := CopyNew(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// CopyNew puts a SQLite ledger that nothing was written to if there is none. A copy takes a tenth of the time that a migration does.
func CopyNew(path string) error {
	text, err := migrated()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

var migrated = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "assay-ledger-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "assay.db")
	s, err := ledger.Open(context.Background(), path, ledger.Options{})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
