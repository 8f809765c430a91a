package analysis

// What is known of each cluster in each group is the bulk of what an analysis has to keep: it stands in columns, as narrow as they can be.

// places gives some of many numbers, such as the clusters of one group, dense places in the order in which they appear.
type places struct {
	ids    []uint32          // by place
	dense  []uint32          // place plus 1 by number, 0 for none
	sparse map[uint32]uint32 // places of numbers so large that the table would be nearly empty
}

// emptiest is how many times longer than full a table may be.
const emptiest = 8

// of is the place of a number; it gets one where it has none.
func (p *places) of(id uint32) int {
	if k, ok := p.at(id); ok {
		return k
	}
	k := len(p.ids)
	p.ids = append(p.ids, id)
	if int(id) < emptiest*len(p.ids) {
		p.dense = grown(p.dense, int(id))
		p.dense[id] = uint32(k + 1)
		return k
	}
	if p.sparse == nil {
		p.sparse = map[uint32]uint32{}
	}
	p.sparse[id] = uint32(k)
	return k
}

// at is the place of a number that may have none.
func (p *places) at(id uint32) (int, bool) {
	if int(id) < len(p.dense) && p.dense[id] > 0 {
		return int(p.dense[id] - 1), true
	}
	k, ok := p.sparse[id]
	return int(k), ok
}

// counts is a column of counts, nearly all of them small.
type counts struct {
	low  []uint8
	more map[int]int // what is beyond a byte
}

func (c *counts) add(k int) {
	c.low = grown(c.low, k)
	if c.low[k] < 255 {
		c.low[k]++
		return
	}
	if c.more == nil {
		c.more = map[int]int{}
	}
	c.more[k]++
}

func (c *counts) addIf(yes bool, k int) {
	if yes {
		c.add(k)
	}
}

func (c *counts) at(k int) int {
	if k >= len(c.low) {
		return 0
	}
	n := int(c.low[k])
	if n == 255 {
		n += c.more[k]
	}
	return n
}

// grown is the slice, long enough to have an element at i.
func grown[T any](s []T, i int) []T {
	if i < len(s) {
		return s
	}
	return append(s, make([]T, i+1-len(s))...)
}
