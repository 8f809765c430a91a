package batchfile_test

import (
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/send/batchfile"
	"assay/internal/study/catalog"
)

// TestTheMostOfALineCoversWhateverIsBilled holds the bills of a line of a batch file against the most that it may cost, at every model with
// a price: read from a cache, written to one for minutes or, where its body may ask for that, for an hour.
func TestTheMostOfALineCoversWhateverIsBilled(t *testing.T) {
	t.Parallel()
	prompt := len(strings.Repeat("The answer is a word of some length. ", 900))
	books, checked := catalog.Default(), 0
	for _, v := range books.Vendors() {
		for _, m := range books.Models(v.Name) {
			for _, mode := range []assay.Mode{assay.ModeBatch, assay.ModeLive} {
				how := catalog.Billing{Mode: mode}
				for _, marked := range []bool{true, false} {
					meter := batchfile.NewMeter(books, v.Name, assay.Lane{Name: "l", Provider: v.Name, Model: m.Name}, mode)
					if meter.Marked = marked; !meter.Price.Covers(how) {
						continue
					}
					_, high := meter.Estimate(nil, prompt, 4000)
					sent := int64(float64(prompt)/4*books.TokenFactor(v.Name, m.Name)) + 8
					usages := []assay.Usage{{}, {Cached: sent}}
					if marked || !v.CacheMarks {
						usages = append(usages, assay.Usage{CacheWrite5m: sent}, assay.Usage{Cached: sent / 2, CacheWrite5m: sent / 2})
					}
					if marked {
						usages = append(usages, assay.Usage{CacheWrite1h: sent})
					}
					for _, u := range usages {
						u.Known, u.Input, u.Output = true, sent, 4000
						if bill := meter.Price.Bill(u, how); bill.Sum > high.Sum {
							t.Errorf("%s/%s, %s: %+v costs %s, at most were %s", v.Name, m.Name, mode, u, bill, high)
						}
						checked++
					}
				}
			}
		}
	}
	if checked < 1000 {
		t.Errorf("%d bills were checked", checked)
	}
}

// TestToolsThatProvidersRunAreInEstimates meters bodies that search the web: a bounded search is in the most, and one that is not has none.
func TestToolsThatProvidersRunAreInEstimates(t *testing.T) {
	t.Parallel()
	meter := batchfile.NewMeter(catalog.Default(), "openai", assay.Lane{Model: "gpt-4.1-mini"}, assay.ModeBatch)
	plain, most := meter.Estimate([]byte(`{"tools":[{"type":"function","name":"f"}]}`), 400, 100)
	for body, want := range map[string][2]assay.Cost{
		`{"tools":[{"type":"web_search"}],"max_tool_calls":3}`: {{Sum: plain.Sum + 10_000_000, Priced: 1}, {Sum: most.Sum + 30_000_000, Priced: 1}},
		`{"tools":[{"type":"web_search"}]}`:                    {{Sum: plain.Sum + 10_000_000, Priced: 1}, {Unknown: 1}},
		`{"tools":[{"type":"code_interpreter"}]}`:              {{Unknown: 1}, {Unknown: 1}},
		`{"web_search_options":{}}`:                            {{Unknown: 1}, {Unknown: 1}},
		`{"input":"tools, plugins"}`:                           {plain, most},
	} {
		expected, high := meter.Estimate([]byte(body), 400, 100)
		if expected != want[0] || high != want[1] {
			t.Errorf("%s: %v to %v, want %v to %v", body, expected, high, want[0], want[1])
		}
	}
}
