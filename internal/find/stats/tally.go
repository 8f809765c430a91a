package stats

import "fmt"

// Result is how one comparison ended.
type Result uint8

// The results of a comparison of two items shown in an order.
const (
	FirstWon Result = iota
	SecondWon
	Tied
	results // how many there are
)

// Score is what the result is worth to the item shown first: 1, 0 or a half.
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

// Len is the number of comparisons.
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

// Tally counts comparisons by who was shown first, who second, and how it ended. Everything Bradley-Terry needs is in it,
// so the cost of a fit does not depend on the number of comparisons. It takes 24 bytes per pair of items.
type Tally struct {
	items  int
	counts []float64 // (first*items + second)*results + result
}

// NewTally is an empty tally of so many items.
func NewTally(items int) *Tally {
	return &Tally{items: items, counts: make([]float64, items*items*int(results))}
}

// Items is the number of items.
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

// Of is how often first, shown first, won, lost and tied against second.
func (t *Tally) Of(first, second int) (won, lost, tied float64) {
	k := t.at(first, second)
	return t.counts[k+int(FirstWon)], t.counts[k+int(SecondWon)], t.counts[k+int(Tied)]
}

// N is the number of comparisons.
func (t *Tally) N() float64 { return sum(t.counts) }

func (t *Tally) at(first, second int) int { return (first*t.items + second) * int(results) }

// score is what i won against j in both orders, a tie worth a half.
func (t *Tally) score(i, j int) float64 {
	won, _, tied := t.Of(i, j)
	_, lost, tiedBack := t.Of(j, i)
	return won + lost + (tied+tiedBack)/2
}

// cell is what happened between i, shown first, and j.
type cell struct {
	i, j               int32
	first, second, tie float64
}

func (c cell) n() float64 { return c.first + c.second + c.tie }

// score is what the item shown first won, a tie worth a half.
func (c cell) score() float64 { return c.first + c.tie/2 }

// cells are the ordered pairs that were compared at all, in order of i, then j.
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
