package tables

import (
	"assay/internal/find/stats"
)

// maxRepeated bounds what weights may make of the rows of a table.
const maxRepeated = 100_000_000

// Tally counts all comparisons, weighted, without keeping a row.
func (c *Comparisons) Tally() (*stats.Tally, error) {
	t := stats.NewTally(min(64, c.limit))
	for c.next() {
		if n := c.items.Len(); n > t.Items() {
			t = resized(t, max(n, min(2*t.Items(), c.limit)))
		}
		if err := c.count(t); err != nil {
			return nil, err
		}
	}
	if err := c.table.End(); err != nil {
		return nil, err
	}
	return resized(t, c.items.Len()), nil
}

func (c *Comparisons) count(t *stats.Tally) error {
	if c.weight < 0 {
		return t.Add(c.block.pairs)
	}
	p := c.block.pairs
	for k, r := range p.Result {
		if err := t.Count(int(p.First[k]), int(p.Second[k]), r, c.block.weight[k]); err != nil {
			return err
		}
	}
	return nil
}

// resized returns a tally of another number of items with the same counts; items that it loses have none.
func resized(t *stats.Tally, items int) *stats.Tally {
	if t.Items() == items {
		return t
	}
	out, both := stats.NewTally(items), min(items, t.Items())
	for i := range both {
		for j := range both {
			won, lost, tied := t.Of(i, j)
			for r, n := range [...]float64{stats.FirstWon: won, stats.SecondWon: lost, stats.Tied: tied} {
				if n > 0 {
					// i and j are items of both, so this cannot fail.
					_ = out.Count(i, j, stats.Result(r), n)
				}
			}
		}
	}
	return out
}

// Rows are all comparisons in their order, 5 bytes each and 4 for the cluster.
type Rows struct {
	Pairs   stats.Pairs
	Cluster []uint32 // nil: no column of clusters was read
}

// Keep reads all comparisons. Weights must be whole numbers: a row is repeated as often as its weight.
func (c *Comparisons) Keep() (*Rows, error) {
	c.whole = true
	out := &Rows{}
	for c.next() {
		b, p := &c.block, &out.Pairs
		if c.weight >= 0 {
			c.repeat(out)
			continue
		}
		p.First, p.Second = append(p.First, b.pairs.First...), append(p.Second, b.pairs.Second...)
		p.Result, out.Cluster = append(p.Result, b.pairs.Result...), append(out.Cluster, b.cluster...)
	}
	if err := c.table.End(); err != nil {
		return nil, err
	}
	return out, nil
}

// repeat adds each row of the block as often as its weight.
func (c *Comparisons) repeat(out *Rows) {
	b := &c.block
	for k, w := range b.weight {
		for range int(w) {
			out.Pairs.Append(b.pairs.First[k], b.pairs.Second[k], b.pairs.Result[k])
			if c.cluster >= 0 {
				out.Cluster = append(out.Cluster, b.cluster[k])
			}
		}
	}
}
