package ledger_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// BenchmarkOneSegment stages and settles segments of 20,000 requests, and holds settling against the bare insertion of the
// same rows: many rows a statement, or COPY.
func BenchmarkOneSegment(b *testing.B) {
	for name, fresh := range map[string]func() string{
		"sqlite":     func() string { return filepath.Join(b.TempDir(), "assay.db") },
		"postgresql": func() string { return server.Database(b) },
	} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			s, err := ledger.Open(ctx, fresh(), ledger.Options{})
			must(b, err)
			defer s.Close()
			r, err := s.Runs.CreateRun(ctx, store.NewRun{ID: "r"})
			must(b, err)
			must(b, s.Runs.PutLanes(ctx, []store.Lane{{Run: r.No, Stage: "s", Name: "l", Params: "{}", Planned: 1}}))
			must(b, s.Runs.OpenRun(ctx, r.No))
			var staging, settling, inserting time.Duration
			const requests, block = 20_000, 2000
			n := 0
			for b.Loop() {
				began := time.Now()
				g := stageMany(b, s, r.No, n, requests)
				staging += 2 * time.Since(began) // the floor's is not timed
				must(b, s.Work.GoLive(ctx, g.Lease, "k", 0, time.Now()))
				began = time.Now()
				settleMany(b, s, g, block)
				settling += time.Since(began)
				floor := stageMany(b, s, r.No, n+requests, requests)
				inserting += insertMany(b, s, floor, block)
				n += 2 * requests
			}
			half := float64(n) / 2
			b.ReportMetric(float64(n)/staging.Seconds(), "staged/s")
			b.ReportMetric(half/settling.Seconds(), "settled/s")
			b.ReportMetric(half/inserting.Seconds(), "inserted/s")
			b.ReportMetric(inserting.Seconds()/settling.Seconds(), "settled/inserted")
		})
	}
}

// BenchmarkABudgetAfterManyCalls begins calls under a budget in a ledger that has 1,000 calls and in one that has 100,000, in turn,
// and reports how much longer the second takes: about 1, because a budget is held against sums that are kept.
func BenchmarkABudgetAfterManyCalls(b *testing.B) {
	for name, fresh := range map[string]func() string{
		"sqlite":     func() string { return filepath.Join(b.TempDir(), "assay.db") },
		"postgresql": func() string { return server.Database(b) },
	} {
		b.Run(name, func(b *testing.B) {
			ctx := context.Background()
			var ledgers [2]*ledger.Ledger
			for i, calls := range []int{1000, 100_000} {
				s, err := ledger.Open(ctx, fresh(), ledger.Options{})
				must(b, err)
				defer s.Close()
				insertCalls(b, s, calls)
				ledgers[i] = s
			}
			high, most := assay.Money(1), assay.Dollars(1000)
			var took [2]time.Duration
			for b.Loop() {
				for i, s := range ledgers {
					began := time.Now()
					_, err := s.Clients.BeginClientCall(ctx, store.ClientCall{Owner: "anna", High: &high},
						store.Allowance{Owner: "anna", Own: &most, All: &most})
					must(b, err)
					took[i] += time.Since(began)
				}
			}
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "100k/1k")
		})
	}
}

// insertCalls writes so many calls of one user that have ended, and their sums.
func insertCalls(b *testing.B, s *ledger.Ledger, n int) {
	ctx := context.Background()
	rows := make([][]any, n)
	for i := range rows {
		rows[i] = []any{"anna", "openai", "m", int64(1), int64(5), int64(2), "answered", int64(9), int64(1), int64(3)}
	}
	must(b, s.Insert(ctx, "client_calls", []string{"owner", "provider", "model", "began_ms", "high_nano", "ended_ms", "ending",
		"input_tokens", "output_tokens", "cost_nano"}, rows))
	must(b, s.Insert(ctx, "client_sums", []string{"owner", "calls", "in_flight", "taken_nano", "no_most"},
		[][]any{{"anna", int64(n), int64(0), int64(3 * n), int64(0)}}))
}

func stageMany(b *testing.B, s *ledger.Ledger, run int64, first, requests int) store.Segment {
	ctx := context.Background()
	g, err := s.Work.AddSegment(ctx, store.NewSegment{Run: run, GroupKey: store.GroupKey{Stage: "s", Lane: "l"}, Mode: store.Live,
		Purpose: store.ForWave}, "me", time.Hour)
	must(b, err)
	block := make([]store.Attempt, 0, 2000)
	for i := range requests {
		at := assay.Coordinates{Stage: "s", Lane: "l", Item: fmt.Sprint("item-", first+i)}
		key := at.Key()
		block = append(block, store.Attempt{Ord: int64(i), Key: key, Try: 1, Digest: key[:], At: at})
		if len(block) == cap(block) {
			must(b, s.Work.AddAttempts(ctx, g.Lease, block))
			block = block[:0]
		}
	}
	must(b, s.Work.Stage(ctx, g.Lease, store.Bytes{}, 0, 0, time.Now()))
	return g
}

func settleMany(b *testing.B, s *ledger.Ledger, g store.Segment, size int) {
	ctx := context.Background()
	for _, block := range outcomes(b, s, g, size) {
		_, err := s.Work.Settle(ctx, g.Lease, block)
		must(b, err)
	}
	must(b, s.Work.Finish(ctx, g.Lease, time.Time{}))
}

// insertMany inserts the rows that settling would, and nothing else.
func insertMany(b *testing.B, s *ledger.Ledger, g store.Segment, size int) time.Duration {
	ctx := context.Background()
	columns, all := rowsLike(b, s, g, size)
	began := time.Now()
	for _, block := range all {
		must(b, s.Insert(ctx, "outcomes", columns, block))
	}
	return time.Since(began)
}

// rowsLike makes the rows of a segment's outcomes from one that was settled.
func rowsLike(b *testing.B, s *ledger.Ledger, g store.Segment, size int) (columns []string, all [][][]any) {
	ctx := context.Background()
	var like store.DumpRow
	for row, err := range s.Reader.Dump(ctx, g.Run, "outcomes") {
		must(b, err)
		like = row
		break
	}
	keys, err := s.Work.AttemptPlaces(ctx, g.No, 0)
	must(b, err)
	at := func(name string) int { return slices.Index(like.Columns, name) }
	var block [][]any
	for key, place := range keys {
		row := slices.Clone(like.Values)
		row[at("segment_no")], row[at("ord")], row[at("key")] = g.No, place.Ord, key[:]
		if block = append(block, row); len(block) == size {
			all, block = append(all, block), nil
		}
	}
	return like.Columns, append(all, block)
}

func outcomes(b *testing.B, s *ledger.Ledger, g store.Segment, size int) (all [][]store.Settlement) {
	keys, err := s.Work.AttemptPlaces(context.Background(), g.No, 0)
	must(b, err)
	text := fmt.Sprintf("%0800d", 7)
	cost := assay.Money(1234)
	block := make([]store.Settlement, 0, size)
	for key, seat := range keys {
		block = append(block, store.Settlement{Ord: seat.Ord, Key: key, Cost: &cost,
			Outcome: assay.Outcome{Ending: assay.Answered, Text: text, Finish: "stop", Model: "gpt-5-2026",
				RequestID: "req_0123456789abcdef", Usage: assay.Usage{Known: true, Input: 100, Output: 200}}})
		if len(block) == size {
			all, block = append(all, block), make([]store.Settlement, 0, size)
		}
	}
	return append(all, block)
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
