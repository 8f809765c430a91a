package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/study/declare"
)

// again is a design of equal lanes on items that are asked in several portions: after each, somebody looks, and stops at a claim.
type again struct {
	name            string
	lanes, portion  int // items of a portion
	draws, clusters int // of an item; items of a cluster
}

const looksEach = 5

func againDesigns() []again {
	return []again{
		{"two lanes, 40 items a look, coin flips", 2, 40, 1, 1},
		{"two lanes, 200 items a look", 2, 200, 1, 1},
		{"four lanes, 40 items a look", 4, 40, 1, 1},
		{"two lanes, 20 items of 3 draws a look", 2, 20, 3, 1},
		{"two lanes, 10 clusters of 4 items a look", 2, 40, 1, 4},
	}
}

// mostAgain is the share of studies that may claim something false at any of their looks.
const mostAgain = 0.055

// looksCoverage simulates studies that are extended by items until they claim a difference: how often they claim a false one, with the
// error that looks spend, and as if each look were the only one. It returns the designs that are out of their level.
func looksCoverage(ctx context.Context, b *bench, page io.Writer, n int) (bad []string, err error) {
	fmt.Fprintf(page, "\n## Items that are asked after a look\n\n"+
		"Studies of equal lanes that are looked at %d times, with more items each "+
		"time, until something is claimed: %d of each\ndesign. Looks after the first spend 0.25%%, 0.125%%, … of their own.\n\n",
		looksEach, n)
	fmt.Fprint(page, "| design | studies with a false claim | if every look were the first |\n|---|--:|--:|\n")
	fmt.Printf("%-68s %8s %8s\n", "", "false", "naive")
	for _, d := range againDesigns() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !strings.Contains(d.name, b.design) {
			continue
		}
		all, err := each(b.seed, d.name, n, func(r *rand.Rand) ([2]int, error) { return d.claims(r) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		var paid, naive float64
		for _, c := range all {
			paid, naive = paid+float64(c[0])/float64(n), naive+float64(c[1])/float64(n)
		}
		fmt.Printf("%-68s %7.1f%% %7.1f%%\n", d.name, 100*paid, 100*naive)
		fmt.Fprintf(page, "| %s | %.1f%% | %.1f%% |\n", d.name, 100*paid, 100*naive)
		if paid > mostAgain {
			bad = append(bad, d.name)
		}
	}
	return bad, nil
}

// claims reports whether a study claims a difference at any look that pays for those before, and at any that does not.
func (d again) claims(r *rand.Rand) (out [2]int, err error) {
	var looks []declare.Look
	scores := make([][]float64, d.lanes) // by lane and item
	for look := 1; look <= looksEach; look++ {
		d.ask(r, scores)
		board, err := d.board(scores)
		if err != nil {
			return out, err
		}
		if apart, _ := board.Apart(); len(apart) > 0 {
			out[1] = 1
		}
		items := look * d.portion
		board.Looked = analysis.LookedAt(looks, board.Stage, items)
		if apart, _ := board.Apart(); len(apart) > 0 {
			out[0] = 1
		}
		if l, ok := board.Looks(items); ok {
			looks = declare.AddLook(looks, l)
		}
	}
	return out, nil
}

// ask adds what all lanes get on a further portion of items: hard and easy ones, alike in a cluster.
func (d again) ask(r *rand.Rand, scores [][]float64) {
	shared := 0.0
	for k := range d.portion {
		if k%d.clusters == 0 {
			shared = r.NormFloat64()
		}
		chance := normal(0.7 * (0.6*shared + 0.8*r.NormFloat64()))
		for lane := range scores {
			sum := 0
			for range d.draws {
				sum += count(r.Float64() < chance)
			}
			scores[lane] = append(scores[lane], float64(sum)/float64(d.draws))
		}
	}
}

// board holds every two lanes against each other, as the table of rates does.
func (d again) board(scores [][]float64) (*analysis.Leaderboard, error) {
	out := &analysis.Leaderboard{Stage: "right", Verb: analysis.Judged, Field: analysis.ByLane, Level: 0.95}
	for lane, s := range scores {
		mean := 0.0
		for _, x := range s {
			mean += x / float64(len(s))
		}
		out.Places = append(out.Places, analysis.Place{Name: laneName(lane), Value: stats.Known(mean)})
		for other := range lane {
			c := analysis.Contrast{First: other, Second: lane}
			if err := d.contrast(&c, scores[other], s); err != nil {
				return nil, err
			}
			out.Tests = append(out.Tests, c)
		}
	}
	if d.draws == 1 && d.clusters == 1 {
		out.Test = analysis.ExactPairs
	}
	return out, nil
}

func (d again) contrast(c *analysis.Contrast, first, second []float64) error {
	if d.draws == 1 && d.clusters == 1 {
		a, b := make([]bool, len(first)), make([]bool, len(first))
		for k := range first {
			a[k], b[k] = first[k] == 1, second[k] == 1
		}
		table, err := stats.NewPairTable(a, b)
		found := table.Difference(0.95)
		c.Difference, c.P, c.Clusters = found.Difference, found.Test.Exact, len(first)
		return err
	}
	totals := make([]stats.Total, len(first)/d.clusters)
	for k := range first {
		t := &totals[k/d.clusters]
		t.N++
		t.Sum += first[k] - second[k]
	}
	m := stats.MeanByCluster(totals, 0.95)
	c.Difference, c.P, c.Clusters = m.Mean, m.P, len(totals)
	if math.IsNaN(c.P.Value) {
		c.P = stats.Undefined("all are alike")
	}
	return nil
}
