package rows_test

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
)

// TestCallsThatNobodyCountedAreNotNone writes what providers ran: what is known is a number, also 0, and what is not is nothing.
func TestCallsThatNobodyCountedAreNotNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		usage assay.Usage
		known bool
		n     int64
		ran   string
	}{
		{assay.Usage{}, false, 0, ""},
		{assay.Usage{Known: true}, true, 0, ""},
		{assay.Usage{Known: true, Tools: assay.ToolCalls{Searches: 2, Code: 1}}, true, 2, "2 web searches, code ran"},
		{assay.Usage{Known: true, Tools: assay.ToolCalls{Searches: 1}}, true, 1, "1 web search"},
		{assay.Usage{Known: true, Tools: assay.ToolCalls{Other: 1}}, false, 0, ""},
	} {
		var row rows.Answer
		row.SetUsage(c.usage)
		if got := row.WebSearches; (got != nil) != c.known || got != nil && *got != c.n || row.Ran() != c.ran {
			t.Errorf("%+v: %v searches, %q", c.usage, got, row.Ran())
		}
	}
}
