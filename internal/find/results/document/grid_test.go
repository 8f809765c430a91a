package document_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/find/results/document"
	"assay/internal/find/results/resultstest"
	"assay/internal/keep/store"
)

func TestAReportSaysWhichItemsItDoesNotShow(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]int{150: {150, 0}, 260: {200, 60}} {
		b := resultstest.NewRig(t)
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf("item %03d", i))
		}
		run := b.NewRun(fmt.Sprintf("r%d", n), items)
		var all []store.Verdict
		for _, id := range items {
			all = append(all, resultstest.VerdictOn(run, "right", id, "b", "j", "right"))
		}
		_, err := b.Ledger.Runs.AddVerdicts(t.Context(), all)
		b.OK(err)
		d, err := document.Of(t.Context(), b.Reader, run, document.Options{Version: "v", Out: "r.html", Format: "html"})
		b.OK(err)
		if len(d.Grid.Rows) != want[0] || len(d.Items) != want[0] || d.Items[want[0]-1].Name != items[want[0]-1] {
			t.Errorf("of %d items %d rows and %d sections", n, len(d.Grid.Rows), len(d.Items))
		}
		note := strings.Join(d.Grid.Notes, "\n")
		if (note == "") != (want[1] == 0) || want[1] > 0 && !strings.Contains(note,
			fmt.Sprintf("The first 200 items in the order of the input; %d are not shown. assay view has them all", want[1])) {
			t.Errorf("of %d items: %q", n, note)
		}
		if d.Grid.Lanes[0].Name != "b" || d.Grid.Lanes[0].Value != "100.0%" || d.Items[0].Lanes[0].Name != "b" ||
			d.Grid.Rows[0].Cells[0].Sign != "✓" || d.Grid.Rows[0].Cells[1].Sign != "–" {
			t.Errorf("the best lane is not the first: %+v %+v", d.Grid.Lanes, d.Grid.Rows[0].Cells)
		}
	}
}
