package driving

import (
	"testing"

	"assay/internal/find/results/quotes"
	"assay/internal/study"
	"assay/internal/study/decode"
	"assay/internal/study/plan"
)

// TestWhereItemsAreAdded has an input of 100 rows: a sample or a limit is raised, and rows are added only where there are too few.
func TestWhereItemsAreAdded(t *testing.T) {
	for _, c := range []struct {
		in         study.Input
		wanted     int64
		first, set string
	}{
		{study.Input{File: "q.csv", Sample: &study.Sample{N: 60}}, 90, "", "inputs.q.sample.n=90"},
		{study.Input{File: "q.csv", Sample: &study.Sample{N: 60}}, 130, "add 30 items to q.csv, then ", "inputs.q.sample.n=130"},
		{study.Input{File: "q.csv", Limit: 60}, 100, "", "inputs.q.limit=100"},
		{study.Input{File: "q.csv", Limit: 60}, 101, "add 1 item to q.csv, then ", "inputs.q.limit=101"},
		{study.Input{File: "q.csv"}, 130, "add 30 items to q.csv, then ", ""},
		{study.Input{}, 130, "add 30 items to input q, then ", ""},
	} {
		d := &plan.Input{Study: &study.Study{Inputs: decode.Ordered[study.Input]{{Name: "q", Value: c.in}}}}
		if first, set := whereToAdd(d, quotes.ItemQuote{Input: "q"}, c.wanted, 100); first != c.first || set != c.set {
			t.Errorf("%+v, %d: %q and %q", c.in, c.wanted, first, set)
		}
	}
}
