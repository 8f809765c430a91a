package stats

import (
	"fmt"
	"slices"
)

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

// runs is how many different keys there are, the lowest bits left out.
func runs(keys []uint64, bits int) int {
	n := 0
	for k, key := range keys {
		if k == 0 || key>>bits != keys[k-1]>>bits {
			n++
		}
	}
	return n
}

// Clusters is the number of clusters that hold a comparison.
func (g *Grouped) Clusters() int { return len(g.start) - 1 }

// Doubt says why cluster-robust formulae are not to be trusted here and the bootstrap is; empty when they are.
func (g *Grouped) Doubt() string {
	switch n := g.Clusters(); {
	case n < FewClusters:
		return fmt.Sprintf("%d clusters are fewer than %d", n, FewClusters)
	case n <= g.tally.items:
		return fmt.Sprintf("%d clusters are no more than the %d items", n, g.tally.items)
	}
	return ""
}

// Tally is the whole without its clusters.
func (g *Grouped) Tally() *Tally { return g.tally }

// cluster is the part of cluster c.
func (g *Grouped) cluster(c int) []share { return g.rows[g.start[c]:g.start[c+1]] }
