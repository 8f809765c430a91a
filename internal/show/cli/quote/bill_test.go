package quote_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/show/cli/quote"
	"assay/internal/study/plan"
)

func priced(dollars float64, n int64) plan.Price {
	c := assay.Cost{Sum: assay.Dollars(dollars), Priced: n}
	return plan.Price{Low: c, Expected: c, High: c}
}

func TestABillHasALineForEveryModelTheDearestFirst(t *testing.T) {
	t.Parallel()
	got := strings.Join(quote.Bill([]quote.Row{
		{Provider: "openai", Model: "gpt-5.4-mini", Requests: 300, Batches: 1, Exact: true, Cost: priced(0.12, 300)},
		{Provider: "openai", Model: "gpt-5.4-mini", Requests: 1000, Batches: 2, Exact: true, Cost: priced(0.06, 1000)},
		{Provider: "anthropic", Model: "haiku", Requests: 200, Live: true, Exact: true, Cost: priced(0.08, 200)},
		{Provider: "gemini", Model: "flash", Requests: 40, Batches: 1, Exact: true, Cost: priced(1, 40)},
		{Provider: "gemini", Model: "flash", Requests: 40, Cost: priced(1, 40)},
	}), "\n")
	want := `gemini     flash         up to 80 in batches       $2.00
openai     gpt-5.4-mini  1,300 in 3 batch files    $0.18
anthropic  haiku         200 live                $0.0800`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestABillOfManyModelsIsShort(t *testing.T) {
	t.Parallel()
	var rows []quote.Row
	for i := range 40 {
		rows = append(rows, quote.Row{Provider: "p", Model: fmt.Sprint("model-", i), Requests: 1, Live: true, Exact: true,
			Cost: priced(0.01, 1)})
	}
	got := quote.Bill(rows)
	last := got[len(got)-1]
	if len(got) != 12 || !strings.HasPrefix(last, "29 more models") || !strings.HasSuffix(last, "29        $0.29") {
		t.Errorf("%d lines, the last %q", len(got), last)
	}
}
