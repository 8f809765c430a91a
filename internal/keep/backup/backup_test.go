package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/internal/keep/backup"
)

// home writes a home, and returns it with what is in it.
func home(t *testing.T) (backup.Home, map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"runs/r1/s1-in": "question\n", "runs/r1/s1-0-results": "answer\n", "runs/r2/empty": ""}
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	files["ledger.db"] = "rows"
	return backup.Home{Folder: filepath.Join(dir, "runs"), Snapshot: func(_ context.Context, file string) error {
		return os.WriteFile(file, []byte("rows"), 0o600)
	}}, files
}

func TestABackupPutsBackWhatWasSaved(t *testing.T) {
	t.Parallel()
	h, want := home(t)
	var file bytes.Buffer
	if _, err := backup.Write(t.Context(), h, &file, time.Now()); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "new")
	m, err := backup.Restore(t.Context(), bytes.NewReader(file.Bytes()), to)
	if err != nil || len(m.Entries) != len(want) {
		t.Fatalf("%d entries: %v", len(m.Entries), err)
	}
	for name, text := range want {
		if got, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(name))); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := backup.Restore(t.Context(), bytes.NewReader(file.Bytes()), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a home that is there: %v", err)
	}
}

// TestADamagedBackupIsNotPutBack cuts a backup anywhere, and changes every byte that is not padding.
func TestADamagedBackupIsNotPutBack(t *testing.T) {
	t.Parallel()
	h, _ := home(t)
	var file bytes.Buffer
	if _, err := backup.Write(t.Context(), h, &file, time.Now()); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	refuses := func(text []byte, what string, at int) {
		t.Helper()
		to := filepath.Join(t.TempDir(), "new")
		if _, err := backup.Restore(t.Context(), bytes.NewReader(text), to); err == nil {
			t.Fatalf("%s at %d is put back", what, at)
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s at %d left something", what, at)
		}
	}
	end := bytes.LastIndexByte(whole, '}') + 1
	for at := 0; at < end; at += 97 {
		refuses(whole[:at], "a cut", at)
	}
	for _, word := range []string{"rows", "question", "answer"} {
		at := bytes.Index(whole, []byte(word))
		changed := bytes.Clone(whole)
		changed[at] ^= 1
		refuses(changed, "a changed bit", at)
	}
}
