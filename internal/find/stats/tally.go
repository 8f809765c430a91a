package stats

import (
	"cmp"
	"fmt"
	"iter"
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

// Grouped holds comparisons by cluster (a prompt, an item: whatever was drawn at random), which is the unit that
// cluster-robust errors and the bootstrap resample.
type Grouped struct {
	tally *Tally
	cells []cell   // the whole, in the order of Tally.cells
	rows  []uint32 // by cluster, then by cell: a cell and a result of a single comparison, else the place of a share in more
	more  []share
	start []uint32 // rows[start[g]:start[g+1]] belong to cluster g
}

// share is one cluster's part of one cell.
type share struct {
	cell               int32
	first, second, tie uint32
}

// Group sorts comparisons by cluster; cluster holds one index per comparison. A cluster without comparisons is none.
func Group(items int, p Pairs, cluster []uint32) (*Grouped, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if len(cluster) != p.Len() {
		return nil, fmt.Errorf("group comparisons: %d clusters for %d rows", len(cluster), p.Len())
	}
	if !slices.IsSorted(cluster) {
		order := make([]int, len(cluster))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cluster[a], cluster[b]) })
		var sorted Pairs
		by := make([]uint32, len(cluster))
		for k, from := range order {
			sorted.Append(p.First[from], p.Second[from], p.Result[from])
			by[k] = cluster[from]
		}
		p, cluster = sorted, by
	}
	return GroupSorted(items, p, func(k int) bool { return cluster[k] != cluster[k-1] })
}

// GroupSorted is Group for comparisons that lie cluster by cluster; begins tells where each but the first begins.
func GroupSorted(items int, p Pairs, begins func(k int) bool) (*Grouped, error) {
	g := &Grouped{tally: NewTally(items)}
	if err := g.tally.Add(p); err != nil {
		return nil, err
	}
	g.cells = g.tally.cells()
	index := make([]int32, items*items)
	for k, c := range g.cells {
		index[int(c.i)*items+int(c.j)] = int32(k)
	}
	g.rows = make([]uint32, 0, p.Len())
	var one []uint32 // cluster: the cell and the result of each comparison
	for k, r := range p.Result {
		if k > 0 && begins(k) {
			g.enter(one)
			one = one[:0]
		}
		one = append(one, uint32(index[int(p.First[k])*items+int(p.Second[k])])*uint32(results)+uint32(r))
	}
	if len(one) > 0 {
		g.enter(one)
	}
	g.start = append(g.start, uint32(len(g.rows)))
	return g, nil
}

// enter adds the comparisons of one cluster.
func (g *Grouped) enter(one []uint32) {
	g.start = append(g.start, uint32(len(g.rows)))
	slices.Sort(one)
	for len(one) > 0 {
		s, n := share{cell: int32(one[0] / uint32(results))}, 0
		for n < len(one) && int32(one[n]/uint32(results)) == s.cell {
			s.count(Result(one[n] % uint32(results)))
			n++
		}
		row := one[0]
		if n > 1 {
			row = uint32(len(g.cells))*uint32(results) + uint32(len(g.more))
			g.more = append(g.more, s)
		}
		g.rows, one = append(g.rows, row), one[n:]
	}
}

func (s *share) count(r Result) {
	switch r {
	case FirstWon:
		s.first++
	case SecondWon:
		s.second++
	default:
		s.tie++
	}
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

// cluster walks over the parts of cluster c.
func (g *Grouped) cluster(c int) iter.Seq[share] {
	return func(yield func(share) bool) {
		single := uint32(len(g.cells)) * uint32(results)
		for _, row := range g.rows[g.start[c]:g.start[c+1]] {
			if row >= single {
				if !yield(g.more[row-single]) {
					return
				}
				continue
			}
			s := share{cell: int32(row / uint32(results))}
			s.count(Result(row % uint32(results)))
			if !yield(s) {
				return
			}
		}
	}
}

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
