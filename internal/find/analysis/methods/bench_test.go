package methods_test

import (
	"fmt"
	"iter"
	"runtime"
	"testing"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/analysis/methods"
)

// A million verdicts: 10 lanes, 25,000 items, 4 branches; or 45 pairs of lanes on 11,111 items in both orders.
func BenchmarkAMillionVerdicts(b *testing.B) {
	items := make([]string, 25_000)
	for i := range items {
		items[i] = fmt.Sprintf("item-%05d", i)
	}
	lanes := make([]string, 10)
	for i := range lanes {
		lanes[i] = fmt.Sprintf("lane-%d", i)
	}
	for name, c := range map[string]struct {
		stage analysis.Stage
		rows  iter.Seq2[*analysis.Row, error]
	}{"rates": {correct(), judgedRows(items, lanes)}, "comparisons": {arena(), comparedRows(items[:11_111], lanes)}} {
		b.Run(name, func(b *testing.B) {
			var most runtime.MemStats
			for b.Loop() {
				book, err := methods.Open([]analysis.Stage{c.stage}, analysis.Default(c.stage), analysis.Options{Seed: 1})
				if err != nil {
					b.Fatal(err)
				}
				if err := book.Expect(c.rows); err != nil {
					b.Fatal(err)
				}
				if err := book.Read(c.rows); err != nil {
					b.Fatal(err)
				}
				if _, err := book.Report(); err != nil {
					b.Fatal(err)
				}
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				most.HeapSys = max(most.HeapSys, now.HeapSys)
			}
			b.ReportMetric(float64(most.HeapSys)/(1<<20), "heap-MB")
		})
	}
}

func judgedRows(items, lanes []string) iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		r := analysis.Row{Stage: "correct", Judge: "judge", Turn: 1, Draw: 1, State: assay.VerdictValid}
		for i, item := range items {
			for l, lane := range lanes {
				for d := range 4 {
					r.Item, r.Lane, r.Draw, r.Label = item, lane, d+1, "right"
					if (i*7+l*3+d)%5 < 2 {
						r.Label = "wrong"
					}
					if !yield(&r, nil) {
						return
					}
				}
			}
		}
	}
}

func comparedRows(items, lanes []string) iter.Seq2[*analysis.Row, error] {
	return func(yield func(*analysis.Row, error) bool) {
		r := analysis.Row{Stage: "arena", Judge: "judge", Turn: 1, Draw: 1, State: assay.VerdictValid}
		for i, item := range items {
			for a := range lanes {
				for z := range lanes {
					if a == z {
						continue
					}
					r.Item, r.Lane, r.Other = item, lanes[a], lanes[z]
					r.Label = []string{"a", "b", "tie"}[(i*7+a*5+z*3)%7%3]
					if !yield(&r, nil) {
						return
					}
				}
			}
		}
	}
}
