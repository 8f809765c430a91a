package ledger_test

import (
	"context"
	"database/sql"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	s, err := ledger.Open(context.Background(), filepath.Join(home, "assay.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Runs.CreateRun(context.Background(), store.NewRun{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Stat(home)
	if err != nil || dir.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", dir.Mode(), err)
	}
	files, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v", f.Name(), info.Mode())
		}
		names++
	}
	if names < 3 { // the database, its log and its index
		t.Errorf("%d files: is this WAL?", names)
	}
}

func TestWhyAFileCannotBeOpenedIsSaid(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if s, err := ledger.Open(t.Context(), folder, ledger.Options{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("opened: %v, %v", s != nil, err)
	}
}

// What is written while items are walked over, and beside readers that come and go, does not pile up in the log.
func TestTheLogDoesNotGrowWithTheLedger(t *testing.T) {
	t.Parallel()
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "assay.db")
	s, err := ledger.Open(ctx, path, ledger.Options{})
	must(t, err)
	defer s.Close()
	r, err := s.Runs.CreateRun(ctx, store.NewRun{ID: "r"})
	must(t, err)
	some := func(n int, text string) iter.Seq2[assay.Item, error] {
		return func(yield func(assay.Item, error) bool) {
			for i := range n {
				if !yield(assay.Item{ID: strconv.Itoa(i), Fields: map[string]any{"text": text}}, nil) {
					return
				}
			}
		}
	}
	must(t, s.Runs.PutItems(ctx, r.No, "small", some(250, "")))
	over, written := make(chan struct{}), make(chan struct{}, 2)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				for _, err := range s.Reader.Items(ctx, r.No, "small") {
					if err != nil {
						t.Error(err)
					}
				}
				select {
				case <-over:
					return
				case <-written: // a reader that never rests only takes the writer's time
				}
			}
		})
	}
	page := strings.Repeat("x", 4000)
	largest, sum := int64(0), 0
	for item, err := range s.Reader.Items(ctx, r.No, "small") {
		must(t, err)
		must(t, s.Runs.PutItems(ctx, r.No, "of "+item.ID, some(160, page)))
		for range 2 {
			select {
			case written <- struct{}{}:
			default:
			}
		}
		info, err := os.Stat(path + "-wal")
		must(t, err)
		largest, sum = max(largest, info.Size()), sum+160*len(page)
	}
	close(over)
	readers.Wait()
	if most := int64(64 << 20); largest > most || int64(sum) < 2*most {
		t.Errorf("the log grew to %d MB while %d MB were written", largest>>20, sum>>20)
	}
}

func TestAnOlderProgramRefusesANewerLedger(t *testing.T) {
	t.Parallel()
	for name, where := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "assay.db"), "pgx": server.Database(t)} {
		s, err := ledger.Open(context.Background(), where, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		db, err := sql.Open(name, where)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`); err != nil {
			t.Fatal(err)
		}
		db.Close()
		if _, err := ledger.Open(context.Background(), where, ledger.Options{}); err == nil ||
			!strings.Contains(err.Error(), "newer assay") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAURLIsPrintedWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"postgres://anna:secret@db.example:5432/assay?sslpassword=x", "postgres://db.example:5432/assay"},
		{"postgresql://h/d", "postgresql://h/d"},
		{"postgres://an\x7fna:secret@h/d", "postgres://…"},
		{"/home/anna/assay.db", "/home/anna/assay.db"},
	}
	for _, tt := range tests {
		if got := db.Redact(tt.in); got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	for _, where := range []string{"postgres://anna:secret@h:port/d", "postgres://anna:secret@127.0.0.1:1/d?connect_timeout=1"} {
		if _, err := ledger.Open(context.Background(), where, ledger.Options{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", where, err)
		}
	}
}
