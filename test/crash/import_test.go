package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAnImportThatWasKilledIsTakenUpByTheNext kills an import at moments of its work, each time on what the kill before left. The same
// command then takes in what an import that nobody stopped does, once.
func TestAnImportThatWasKilledIsTakenUpByTheNext(t *testing.T) {
	t.Parallel()
	rows := "item,lane,text\n"
	for i := range 600 {
		rows += fmt.Sprintf("i%d,a,answer %d\ni%d,b,another %d\n", i, i, i, i)
	}
	take := []string{"import", "--format", "csv", "rows.csv", "--out", "old"}
	kept := `SELECT r.state, r.result, COUNT(*), COUNT(DISTINCT o.key), SUM(LENGTH(o.text)) FROM runs r JOIN outcomes o ON o.run_no = r.no
		WHERE r.state <> 'preparing' GROUP BY r.no, r.state, r.result`
	s := newScene(t, "single")
	s.ok(os.WriteFile(filepath.Join(s.dir, "rows.csv"), []byte(rows), 0o600))
	calm, err := s.assay(t.Context(), nil, take...)
	s.ok(err)
	s.said(0, calm, "1,200 answers and 0 verdicts are in old")
	want, err := s.rows(t.Context(), kept)
	s.ok(err)
	s.ok(s.lookAway())
	s.ok(os.RemoveAll(filepath.Join(s.dir, "assay-data")))
	s.ok(os.RemoveAll(filepath.Join(s.dir, "old")))
	for _, call := range []string{"create run", "put items", "import", "open run", "drive run", "close run"} {
		at := Point{"ledger " + call, 1, After}
		e, err := s.assay(t.Context(), &at, take...)
		s.ok(err)
		if !e.reached {
			t.Errorf("it did not come to %s: %s", at, e)
		}
		again := s.here(t.Context(), take...)
		s.said(0, again)
		got, err := s.rows(t.Context(), kept)
		s.ok(err)
		s.ok(s.sound(t.Context()))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("killed at %s (-calm +killed):\n%s", at, d)
		}
		s.ok(s.lookAway())
		s.ok(os.RemoveAll(filepath.Join(s.dir, "assay-data")))
		s.ok(os.RemoveAll(filepath.Join(s.dir, "old")))
	}
	if left, err := filepath.Glob(filepath.Join(s.dir, ".old*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
