package gather

import "assay/internal/find/analysis"

// What is known of each cluster in each group is the bulk of what an analysis has to keep: it is kept in columns as
// narrow as possible.

// ItemCoverage counts the verdicts on items, by the places of the items: those planned, and what became of them.
type ItemCoverage struct {
	planned, valid, excluded Counts
	open                     Counts // there, and neither valid nor excluded
}

// Expect counts a verdict that is planned.
func (c *ItemCoverage) Expect(k int) { c.planned.Add(k) }

// Count counts a verdict by its state.
func (c *ItemCoverage) Count(r *analysis.Row, k int) {
	var one analysis.Coverage
	one.Count(r)
	c.valid.AddIf(one.Valid > 0, k)
	c.excluded.AddIf(one.Excluded > 0, k)
	c.open.AddIf(one.Valid+one.Excluded == 0, k)
}

// Unknown returns the number of an item's verdicts without a value.
func (c *ItemCoverage) Unknown(k int) int {
	valid, excluded := c.valid.At(k), c.excluded.At(k)
	return max(c.planned.At(k), valid+excluded+c.open.At(k)) - excluded - valid
}

// Excluded returns the number of an item's verdicts that a rule of the stage leaves out.
func (c *ItemCoverage) Excluded(k int) int { return c.excluded.At(k) }

// Places gives some of many numbers, such as the clusters of one group, dense places in the order in which they appear.
// While they are 0, 1, 2 … as they come, it keeps none of them.
type Places struct {
	n      int               // that are their own places, all so far, while ids is empty
	ids    []uint32          // by place
	dense  []uint32          // place plus 1 by number, 0 for none
	sparse map[uint32]uint32 // places of numbers so large that the table would be nearly empty
}

// emptiest is how many times longer than full a table may be.
const emptiest = 8

// Len returns how many places there are.
func (p *Places) Len() int { return max(p.n, len(p.ids)) }

// ID returns the number at a place.
func (p *Places) ID(k int) uint32 {
	if len(p.ids) == 0 {
		return uint32(k)
	}
	return p.ids[k]
}

// Of returns the place of a number; it gets one where it has none.
func (p *Places) Of(id uint32) int {
	if k, ok := p.At(id); ok {
		return k
	}
	if len(p.ids) == 0 && int(id) == p.n {
		p.n++
		return p.n - 1
	}
	for k := range p.n {
		p.enter(uint32(k))
	}
	p.n = 0
	return p.enter(id)
}

func (p *Places) enter(id uint32) int {
	k := len(p.ids)
	p.ids = append(p.ids, id)
	if int(id) < emptiest*len(p.ids) {
		p.dense = Grown(p.dense, int(id))
		p.dense[id] = uint32(k + 1)
		return k
	}
	if p.sparse == nil {
		p.sparse = map[uint32]uint32{}
	}
	p.sparse[id] = uint32(k)
	return k
}

// At returns the place of a number that may have none.
func (p *Places) At(id uint32) (int, bool) {
	if len(p.ids) == 0 {
		return int(id), int(id) < p.n
	}
	if int(id) < len(p.dense) && p.dense[id] > 0 {
		return int(p.dense[id] - 1), true
	}
	k, ok := p.sparse[id]
	return int(k), ok
}

// Counts is a column of counts, nearly all of them small.
type Counts struct {
	Low  []uint8
	more map[int]int // what is beyond a byte
}

// Add counts one more at a place.
func (c *Counts) Add(k int) {
	c.Low = Grown(c.Low, k)
	if c.Low[k] < 255 {
		c.Low[k]++
		return
	}
	if c.more == nil {
		c.more = map[int]int{}
	}
	c.more[k]++
}

// AddIf counts one more at a place where the answer is yes.
func (c *Counts) AddIf(yes bool, k int) {
	if yes {
		c.Add(k)
	}
}

// At returns the count at a place.
func (c *Counts) At(k int) int {
	if k >= len(c.Low) {
		return 0
	}
	n := int(c.Low[k])
	if n == 255 {
		n += c.more[k]
	}
	return n
}

// Sums is a column of sums of values: a column of counts while each value is 0 or 1.
type Sums struct {
	ones Counts
	sums []float64 // by place, once another value came
	any  bool      // one came
}

// Add adds a value at a place.
func (s *Sums) Add(k int, value float64) {
	if !s.any && value != 0 && value != 1 {
		s.any = true
		s.sums = make([]float64, len(s.ones.Low))
		for i := range s.sums {
			s.sums[i] = float64(s.ones.At(i))
		}
		s.ones = Counts{}
	}
	if s.any {
		s.sums = Grown(s.sums, k)
		s.sums[k] += value
		return
	}
	s.ones.AddIf(value == 1, k)
}

// At returns the sum at a place.
func (s *Sums) At(k int) float64 {
	if !s.any {
		return float64(s.ones.At(k))
	}
	if k >= len(s.sums) {
		return 0
	}
	return s.sums[k]
}

// Grown returns the slice, long enough to have an element at i.
func Grown[T any](s []T, i int) []T {
	if i < len(s) {
		return s
	}
	return append(s, make([]T, i+1-len(s))...)
}
