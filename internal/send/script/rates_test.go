package script_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
	"assay/internal/send/planner"
	"assay/internal/send/script"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/catalog"
)

func TestALaterProgramWithOtherPricesBillsARunTheSame(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	run := r.run(lanes + `  - {name: one, ask: q, prompt: "{{ text }}", lanes: [g, h]}` + "\n")
	over, err := catalog.ReadOverrides(
		strings.NewReader("- {vendor: openai, model: gpt-4.1-2025-04-14, input: 77, output: 99, batch: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	later, err := catalog.Default().With(over)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	other := &planner.Planner{Library: &script.Library{Files: r.planner.Files, Store: snapshot.Store{
		Runs: r.planner.Runs, Leases: r.planner.Leases, Imports: r.planner.Imports, Reader: r.planner.Reader, Catalog: later}}}
	for _, lane := range []string{"g", "h", "f"} {
		was, err := r.planner.Route(ctx, run, "one", lane, store.Batch)
		if err != nil {
			t.Fatal(err)
		}
		is, err := other.Route(ctx, run, "one", lane, store.Batch)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(was.Price, is.Price); d != "" {
			t.Errorf("lane %s (-as it began +later):\n%s", lane, d)
		}
	}
}
