package report_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/show/report"
)

func TestHeadsOfLongLanesStayApart(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, end := range []string{".0.1", ".0.2", ".0.3"} {
		name := report.MatrixHead{Name: "a-lane-with-quite-a-long-näme" + end}.Short()
		if seen[name] || utf8.RuneCountInString(name) > 27 || !strings.HasSuffix(name, end) || !strings.HasPrefix(name, "a-lane") {
			t.Errorf("%q", name)
		}
		seen[name] = true
	}
	if got := (report.MatrixHead{Name: "haiku"}).Short(); got != "haiku" {
		t.Error(got)
	}
	few, many := report.Matrix{}, report.Matrix{}
	for range 15 {
		many.Lanes = append(many.Lanes, report.MatrixHead{Name: "sonnet.ext16"})
	}
	few.Lanes = many.Lanes[:4]
	if few.OnEnd() || !many.OnEnd() {
		t.Errorf("4 lanes stand on end: %v; 15 lanes: %v", few.OnEnd(), many.OnEnd())
	}
}
