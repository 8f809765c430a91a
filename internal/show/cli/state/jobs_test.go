package state

import (
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
)

func TestARunThatCannotBeFoundSaysWhy(t *testing.T) {
	t.Parallel()
	ledger, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"), ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"aab", "aac"} {
		if _, err := ledger.Runs.CreateRun(t.Context(), store.NewRun{ID: id, Study: "s-" + id, Folder: "f", Digest: "d"}); err != nil {
			t.Fatal(err)
		}
	}
	homes := []listedHome{{at: &shell.Home{Home: &workspace.Home{Ledger: ledger}}}}
	for ref, want := range map[string]string{"aa": "aab", "zz": `no run is called "zz"`} {
		f := jobsFlags{run: ref}
		if _, err := f.filters(t.Context(), homes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", ref, err, want)
		}
	}
	f := jobsFlags{run: "aab"}
	if got, err := f.filters(t.Context(), homes); err != nil || got[0] == nil || got[0].Run == 0 {
		t.Errorf("%v, %v", got, err)
	}
	if err := ledger.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.filters(t.Context(), homes); err == nil || strings.Contains(err.Error(), "no run is called") {
		t.Errorf("a ledger that cannot be read: %v", err)
	}
}
