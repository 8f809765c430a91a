package workers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
	"assay/internal/send/workspace"
)

func TestALedgerOfOneMachineHasNoWorkers(t *testing.T) {
	t.Parallel()
	none := func(string) (string, bool) { return "", false }
	h, err := workspace.Place{}.Open(t.Context(), &workspace.World{Env: none, Now: time.Now, Disk: workspace.Disk{Dir: t.TempDir()}}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	if alive, err := Alive(t.Context(), h); alive || err != nil {
		t.Error(alive, err)
	}
	if keys, err := WaitingForKeys(t.Context(), h, store.Run{}); keys != nil || err != nil {
		t.Error(keys, err)
	}
	got := byKey([]store.Stranded{{Segment: 1, Provider: "openai"}, {Segment: 2, Provider: "gemini"}, {Segment: 3, Provider: "openai"},
		{Segment: 4, Provider: "openai", Account: "f"}, {Lane: "g", Provider: "gemini"}, {Lane: "g", Provider: "gemini"}})
	want := []WaitingForKey{{Provider: "openai", Segments: []int64{1, 3}}, {Provider: "gemini", Segments: []int64{2}, Lanes: []string{"g"}},
		{Provider: "openai", Account: "f", Segments: []int64{4}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
