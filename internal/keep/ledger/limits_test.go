package ledger_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoLimitIsBoundBare: SQLite would parse such a statement again each time it is used.
func TestNoLimitIsBoundBare(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../store/*/*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) != "kept.go" && strings.Contains(string(text), "LIMIT "+"$") {
			t.Errorf("%s has a LIMIT that is bound without a CAST", name)
		}
	}
}
