package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"assay/internal/find/analysis"
	"assay/internal/find/stats"
	"assay/internal/show/report/words"
	"assay/internal/study/declare"
)

// quoted is a design of lanes whose true rates are drawn anew in each study. Neighbours that it does not tell apart get the items that
// were quoted, and are tested as the table does.
type quoted struct {
	name         string
	lanes, items int
	mean, spread float64 // of true rates, in probits
}

func quoteDesigns() []quoted {
	return []quoted{
		{"4 lanes, 40 items", 4, 40, 0.2, 0.5},
		{"4 lanes, 12 items, far apart", 4, 12, 0.2, 1},
		{"4 lanes, 20 items, far apart", 4, 20, 0.2, 1},
		{"8 lanes, 100 items", 8, 100, 0.8, 0.3},
	}
}

// Quotes of up to so many items, the chances that they promise, and how much more often they may come true.
var (
	quoteSizes   = []int{5, 30, 200, 1000}
	quoteChances = []float64{0.5, 0.8}
	quoteAbove   = []float64{0.1, 0.05}
)

// boughtQuote is a quote that was bought: the place of its chance and of its size, and whether the two were told apart then.
type boughtQuote struct {
	chance, size int
	resolved     bool
}

// quoteCoverage buys quotes of more items and counts how often the table's own test then tells the two apart, by size. It returns the
// sizes that are more than 5 points below what was promised, or too far above it, as far as chance over so many does not make that.
func quoteCoverage(ctx context.Context, b *bench, page io.Writer, n int) (bad []string, err error) {
	var list []string
	var counts, came [2][4]int
	for _, d := range quoteDesigns() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !strings.Contains("quotes: "+d.name, b.design) {
			continue
		}
		list = append(list, d.name)
		all, err := each(b.seed, d.name, n, d.buy)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		for _, q := range slices.Concat(all...) {
			counts[q.chance][q.size]++
			came[q.chance][q.size] += count(q.resolved)
		}
	}
	if len(list) == 0 {
		return nil, nil
	}
	fmt.Fprintf(page, "\n## Quotes of more items\n\nNeighbours that are not told apart get as many more items as the summary quotes, and "+
		"the test of the table decides\n(%d studies each: %s).\nNone is quoted from fewer than 10 items; with two or three lanes it is "+
		"a range.\n\n", n, strings.Join(list, "; "))
	fmt.Fprint(page, "| quote | of 50%, came true | of 80%, came true |\n|---|--:|--:|\n")
	fmt.Printf("%-68s %16s %16s\n", "quotes of more items that came true", "of 50%", "of 80%")
	for k, most := range quoteSizes {
		name := fmt.Sprintf("%d to %d more items", append([]int{0}, quoteSizes...)[k]+1, most)
		var cells []any
		for c := range quoteChances {
			share := stats.Wilson(came[c][k], counts[c][k], 0.95)
			cell := "none"
			if counts[c][k] > 0 {
				cell = fmt.Sprintf("%.0f%% of %d", 100*float64(came[c][k])/float64(counts[c][k]), counts[c][k])
			}
			cells = append(cells, cell)
			if off := quoteChances[c]; counts[c][k] > 0 && (share.High < off-0.05 || share.Low > off+quoteAbove[c]) {
				bad = append(bad, fmt.Sprintf("%s for %.0f%%: %s", name, 100*off, cell))
			}
		}
		fmt.Printf("%-68s %16s %16s\n", append([]any{name}, cells...)...)
		fmt.Fprintf(page, "| %s | %s | %s |\n", append([]any{name}, cells...)...)
	}
	return bad, nil
}

// buy makes a study, and buys what each pair of neighbours is quoted for.
func (d quoted) buy(r *rand.Rand) (out []boughtQuote, err error) {
	rates := make([]float64, d.lanes)
	for i := range rates {
		rates[i] = normal(d.mean + d.spread*r.NormFloat64())
	}
	most := quoteSizes[len(quoteSizes)-1]
	study := asked{items: d.items + most, right: rates}.make(r)
	scores := make([][]float64, d.lanes)
	for k, row := range study.rows {
		scores[k%d.lanes] = append(scores[k%d.lanes], *row.Score)
	}
	study.rows = study.rows[:d.items*d.lanes]
	found, err := study.report()
	if err != nil {
		return nil, err
	}
	board := &found.Leaderboards[0]
	for _, pair := range words.Neighbours(board) {
		first, second := laneAt(board, pair[0]), laneAt(board, pair[1])
		q, ok := board.Quote(first, second)
		for c, chance := range quoteChances {
			if !ok || q.Chance(float64(most)) < chance {
				continue
			}
			needed, _ := q.Needed(chance)
			n := int(math.Ceil(needed))
			if n > most {
				continue
			}
			resolved, err := d.resolves(board, scores, n, min(first, second), max(first, second))
			if err != nil {
				return nil, err
			}
			size, _ := slices.BinarySearch(quoteSizes, n)
			out = append(out, boughtQuote{c, size, resolved})
		}
	}
	return out, nil
}

func laneAt(s *analysis.Leaderboard, name string) int {
	return slices.IndexFunc(s.Places, func(p analysis.Place) bool { return p.Name == name })
}

// resolves reports whether two lanes are told apart on so many more items than were looked at first.
func (d quoted) resolves(before *analysis.Leaderboard, scores [][]float64, more, first, second int) (bool, error) {
	var looks []declare.Look
	if l, ok := before.Looks(d.items); ok {
		looks = declare.AddLook(looks, l)
	}
	so := make([][]float64, len(scores))
	for k := range scores {
		so[k] = scores[k][:d.items+more]
	}
	after, err := again{draws: 1, clusters: 1}.board(so)
	if err != nil {
		return false, err
	}
	after.Looked = analysis.LookedAt(looks, after.Stage, d.items+more)
	apart, _ := after.Apart()
	return apart[[2]int{first, second}], nil
}
