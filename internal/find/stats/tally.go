package stats

import (
	"fmt"
	"slices"
)

// Result is how one comparison ended.
type Result uint8

// The results of a comparison of two items shown in an order.
const (
	FirstWon Result = iota
	SecondWon
	Tied
	results // how many there are
)

// Score returns what the result is worth to the item shown first: 1, 0 or a half.
func (r Result) Score() float64 {
	switch r {
	case FirstWon:
		return 1
	case SecondWon:
		return 0
	}
	return 0.5
}

// Pairs are comparisons as columns of equal length, one row each. Items are indexes.
type Pairs struct {
	First, Second []uint16
	Result        []Result
}

// Len returns the number of comparisons.
func (p Pairs) Len() int { return len(p.Result) }

// Append adds one comparison.
func (p *Pairs) Append(first, second uint16, r Result) {
	p.First, p.Second, p.Result = append(p.First, first), append(p.Second, second), append(p.Result, r)
}

// check finds columns of different lengths.
func (p Pairs) check() error {
	if len(p.First) != len(p.Result) || len(p.Second) != len(p.Result) {
		return fmt.Errorf("read comparisons: columns of %d, %d and %d rows", len(p.First), len(p.Second), len(p.Result))
	}
	return nil
}

// row finds what is wrong with one comparison among so many items.
func (p Pairs) row(k, items int) error {
	first, second, r := int(p.First[k]), int(p.Second[k]), p.Result[k]
	switch {
	case first >= items || second >= items:
		return fmt.Errorf("read comparison %d: item %d of %d", k, max(first, second), items)
	case first == second:
		return fmt.Errorf("read comparison %d: item %d against itself", k, first)
	case r >= results:
		return fmt.Errorf("read comparison %d: result %d", k, r)
	}
	return nil
}

// Tally counts comparisons by who was shown first, who second, and how it ended. Everything Bradley-Terry needs is in
// it, so the cost of a fit does not depend on the number of comparisons. It takes 24 bytes per pair of items.
type Tally struct {
	items  int
	counts []float64 // (first*items + second)*results + result
}

// NewTally returns an empty tally of so many items.
func NewTally(items int) *Tally {
	return &Tally{items: items, counts: make([]float64, items*items*int(results))}
}

// Items returns the number of items.
func (t *Tally) Items() int { return t.items }

// Add counts comparisons; it may be called again for the next block of a stream. A row it cannot read is an error, and
// then nothing that follows it in the block is counted.
func (t *Tally) Add(p Pairs) error {
	if err := p.check(); err != nil {
		return err
	}
	items, counts := t.items, t.counts
	first, second := p.First[:len(p.Result)], p.Second[:len(p.Result)]
	for k, r := range p.Result {
		a, b := int(first[k]), int(second[k])
		if a >= items || b >= items || a == b || r >= results {
			return p.row(k, items)
		}
		counts[(a*items+b)*int(results)+int(r)]++
	}
	return nil
}

// Count adds n comparisons of two items that ended alike; n may be a weight.
func (t *Tally) Count(first, second int, r Result, n float64) error {
	if min(first, second) < 0 || max(first, second) >= t.items || first == second || r >= results || !(n >= 0) {
		return fmt.Errorf("count %g comparisons of items %d and %d of %d with result %d", n, first, second, t.items, r)
	}
	t.counts[t.at(first, second)+int(r)] += n
	return nil
}

// Of returns how often first, shown first, won, lost and tied against second.
func (t *Tally) Of(first, second int) (won, lost, tied float64) {
	k := t.at(first, second)
	return t.counts[k+int(FirstWon)], t.counts[k+int(SecondWon)], t.counts[k+int(Tied)]
}

// N returns the number of comparisons.
func (t *Tally) N() float64 { return sum(t.counts) }

func (t *Tally) at(first, second int) int { return (first*t.items + second) * int(results) }

// score returns what i won against j in both orders, a tie worth a half.
func (t *Tally) score(i, j int) float64 {
	won, _, tied := t.Of(i, j)
	_, lost, tiedBack := t.Of(j, i)
	return won + lost + (tied+tiedBack)/2
}

// cell counts the results of i, shown first, against j.
type cell struct {
	i, j               int32
	first, second, tie float64
}

func (c cell) n() float64 { return c.first + c.second + c.tie }

// score returns what the item shown first won, a tie worth a half.
func (c cell) score() float64 { return c.first + c.tie/2 }

// cells returns the ordered pairs that were compared at all, in order of i, then j.
func (t *Tally) cells() []cell {
	all := make([]cell, 0, min(t.items*t.items, 1<<16))
	for i := range t.items {
		for j := range t.items {
			if first, second, tie := t.Of(i, j); first+second+tie > 0 {
				all = append(all, cell{int32(i), int32(j), first, second, tie})
			}
		}
	}
	return all
}

// unordered forgets who was shown first: each pair once, with i < j.
func (t *Tally) unordered() []cell {
	all := make([]cell, 0, min(t.items*t.items/2, 1<<16))
	for i := range t.items {
		for j := i + 1; j < t.items; j++ {
			first, second, tie := t.Of(i, j)
			back, forth, tieBack := t.Of(j, i)
			if c := (cell{int32(i), int32(j), first + forth, second + back, tie + tieBack}); c.n() > 0 {
				all = append(all, c)
			}
		}
	}
	return all
}

// maxCluster bounds cluster indexes, so that a row of the sort fits one machine word.
const maxCluster = 1 << 30

// Grouped holds comparisons by cluster (a prompt, an item: whatever was drawn at random), which is the unit that
// cluster-robust errors and the bootstrap resample.
type Grouped struct {
	tally *Tally
	cells []cell  // the whole, in the order of Tally.cells
	rows  []share // by cluster, then by cell
	start []int   // rows[start[g]:start[g+1]] belong to cluster g
}

// share is one cluster's part of one cell.
type share struct {
	cell               int32
	first, second, tie uint32
}

// Group sorts comparisons by cluster; cluster holds one index per comparison. A cluster without comparisons is none.
func Group(items int, p Pairs, cluster []uint32) (*Grouped, error) {
	g := &Grouped{tally: NewTally(items)}
	if err := g.tally.Add(p); err != nil {
		return nil, err
	}
	if len(cluster) != p.Len() {
		return nil, fmt.Errorf("group comparisons: %d clusters for %d rows", len(cluster), p.Len())
	}
	keys := make([]uint64, p.Len())
	for k, c := range cluster {
		if c >= maxCluster {
			return nil, fmt.Errorf("group comparison %d: cluster %d is not below %d", k, c, maxCluster)
		}
		keys[k] = uint64(c)<<34 | uint64(p.First[k])<<18 | uint64(p.Second[k])<<2 | uint64(p.Result[k])
	}
	slices.Sort(keys)
	g.cells = g.tally.cells()
	g.split(keys)
	return g, nil
}

// split turns the sorted rows into shares.
func (g *Grouped) split(keys []uint64) {
	index := make([]int32, g.tally.items*g.tally.items)
	for k, c := range g.cells {
		index[int(c.i)*g.tally.items+int(c.j)] = int32(k)
	}
	const none = ^uint64(0)
	cluster, pair := none, none
	g.rows, g.start = make([]share, 0, runs(keys, 2)), make([]int, 0, runs(keys, 34)+1)
	for _, key := range keys {
		if key>>34 != cluster {
			cluster, pair = key>>34, none
			g.start = append(g.start, len(g.rows))
		}
		if key>>2 != pair {
			pair = key >> 2
			first, second := int(key>>18&0xffff), int(key>>2&0xffff)
			g.rows = append(g.rows, share{cell: index[first*g.tally.items+second]})
		}
		switch row := &g.rows[len(g.rows)-1]; Result(key & 3) {
		case FirstWon:
			row.first++
		case SecondWon:
			row.second++
		default:
			row.tie++
		}
	}
	g.start = append(g.start, len(g.rows))
}

// runs returns how many different keys there are, the lowest bits left out.
func runs(keys []uint64, bits int) int {
	n := 0
	for k, key := range keys {
		if k == 0 || key>>bits != keys[k-1]>>bits {
			n++
		}
	}
	return n
}

// Clusters returns the number of clusters that hold a comparison.
func (g *Grouped) Clusters() int { return len(g.start) - 1 }

// Doubt returns why cluster-robust formulae are unreliable here and the bootstrap should be used; empty when they are
// reliable.
func (g *Grouped) Doubt() string {
	switch n := g.Clusters(); {
	case n < FewClusters:
		return fmt.Sprintf("%d clusters are fewer than %d", n, FewClusters)
	case n <= g.tally.items:
		return fmt.Sprintf("%d clusters are no more than the %d items", n, g.tally.items)
	}
	return ""
}

// Tally returns the whole without its clusters.
func (g *Grouped) Tally() *Tally { return g.tally }

// cluster returns the part of cluster c.
func (g *Grouped) cluster(c int) []share { return g.rows[g.start[c]:g.start[c+1]] }

// WinRates are plain shares of wins, a tie worth a half. They depend on who met whom; strengths do not.
type WinRates struct {
	Matrix  [][]Number // share of i against j; undefined where they never met
	Average []Number   // mean over opponents that were met, each of equal weight
	Overall []Number   // share of all comparisons
	Won     []float64  // wins, a tie worth a half
	N       []float64  // comparisons
}

// Rates counts who won how often against whom.
func (t *Tally) Rates() *WinRates {
	w := &WinRates{
		Matrix: make([][]Number, t.items), Average: make([]Number, t.items), Overall: make([]Number, t.items),
		Won: make([]float64, t.items), N: make([]float64, t.items),
	}
	for i := range t.items {
		w.Matrix[i] = make([]Number, t.items)
		shares, met := 0.0, 0
		for j := range t.items {
			if j == i {
				w.Matrix[i][j] = Undefined("an item against itself")
				continue
			}
			won := t.score(i, j)
			n := won + t.score(j, i)
			w.Matrix[i][j] = ratio(won, n, "never compared")
			w.Won[i] += won
			w.N[i] += n
			if n > 0 {
				shares += won / n
				met++
			}
		}
		w.Average[i] = ratio(shares, float64(met), "never compared")
		w.Overall[i] = ratio(w.Won[i], w.N[i], "never compared")
	}
	return w
}
