package formats_test

import (
	"context"
	"encoding/csv"
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/find/results"
	"assay/internal/show/export"
	"assay/internal/show/export/studyfolder"
	"assay/internal/simulator"
)

// Whoever reads the registry to see what is left finds the jobs that have not ended.
func TestTheRegistryOfAnOpenRunListsWhatIsNotDone(t *testing.T) {
	t.Parallel()
	r := newRig(t, simulator.Options{})
	ctx := context.Background()
	run := r.begin(fstest.MapFS{studyfolder.StudyFile: {Data: []byte(`study: open
inputs:
  samples: {items: [{id: S1, text: One.}, {id: S2, text: Two.}, {id: S3, text: Three.}]}
lane_defaults: {max_tokens: 300}
lanes:
  g: {model: openai/gpt-4.1}
canary: false
live_below: 0
batch: {size: 1}
stages:
  - {name: scale, compare: samples, rubric: better, judges: [g], pairs: {order: alternate}}
`)}}, "run1")
	_, err := r.engine.Extend(ctx, run.No)
	ok(t, err)
	segments, err := r.ledger.Reader.Segments(ctx, run.No)
	ok(t, err)
	if len(segments) != 3 {
		t.Fatalf("%d segments", len(segments))
	}
	for range 50 { // one of them goes all its way
		g, err := r.ledger.Reader.Segment(ctx, segments[0].No)
		ok(t, err)
		if g.State.Terminal() {
			break
		}
		ok(t, r.engine.Advance(ctx, g.No))
	}
	run, err = r.ledger.Reader.Run(ctx, run.No)
	ok(t, err)
	dir := r.write(t, "registry",
		export.Run{Run: run, Results: &results.Reader{Ledger: r.ledger.Reader, Pages: r.ledger.Pages, Scripts: r.planner}, Raw: r.files})
	done := map[string]int{}
	for _, name := range globbed(t, dir, "*/*/*/jobs_registry.csv") {
		f, err := os.Open(name)
		ok(t, err)
		rows, err := csv.NewReader(f).ReadAll()
		ok(t, err)
		ok(t, f.Close())
		for _, row := range rows[1:] {
			done[row[len(row)-1]]++
		}
	}
	if diff := cmp.Diff(map[string]int{"TRUE": 1, "FALSE": 2}, done); diff != "" {
		t.Error(diff)
	}
}
