package tables

import (
	"math"
	"strconv"

	"assay/internal/find/stats"
)

const (
	// MaxItems is how many items a table of comparisons may name.
	MaxItems = 65_535
	// MaxTallied is how many may be counted pair by pair: that takes 24 bytes a pair.
	MaxTallied = 5_000

	blockRows = 1 << 13
)

// Columns name the columns of a table that hold its comparisons. Weight, Cluster and Judge may be empty: not read.
type Columns struct {
	A, B, Winner           string
	Weight, Cluster, Judge string
}

// Comparisons reads a table of comparisons of two items: who was shown first, who second, and who won.
type Comparisons struct {
	table                   *Table
	limit                   int
	a, b, winner            int
	weight, cluster, judge  int // -1: no such column
	items, clusters, judges *Names
	rows                    int
	missing                 int     // rows without a winner, or without both items
	whole                   bool    // weights must be whole
	repeated                float64 // the sum of whole weights
	block                   block
}

// block is some rows of a table.
type block struct {
	pairs   stats.Pairs
	weight  []float64 // empty: each row counts once
	cluster []uint32  // empty: not read
}

// Comparisons finds the columns of comparisons among at most limit items.
func (t *Table) Comparisons(c Columns, limit int) (*Comparisons, error) {
	at, err := t.columnsOf(c.A, c.B, c.Winner, c.Weight, c.Cluster, c.Judge)
	if err != nil {
		return nil, err
	}
	return &Comparisons{
		table: t, limit: min(limit, MaxItems), a: at[0], b: at[1], winner: at[2], weight: at[3], cluster: at[4], judge: at[5],
		items: NewNames(), clusters: NewNames(), judges: NewNames(),
	}, nil
}

// Rows returns how many comparisons were read.
func (c *Comparisons) Rows() int { return c.rows }

// Missing returns how many rows have no winner, or compare nothing.
func (c *Comparisons) Missing() int { return c.missing }

// Items returns the names of the items by their indexes.
func (c *Comparisons) Items() []string { return c.items.List() }

// Judges returns how many judges were named.
func (c *Comparisons) Judges() int { return c.judges.Len() }

// next reads the next rows; false when there are none.
func (c *Comparisons) next() bool {
	b := &c.block
	b.pairs.First, b.pairs.Second, b.pairs.Result = b.pairs.First[:0], b.pairs.Second[:0], b.pairs.Result[:0]
	b.weight, b.cluster = b.weight[:0], b.cluster[:0]
	for b.pairs.Len() < blockRows && c.table.Next() {
		c.row()
	}
	c.rows += b.pairs.Len()
	return b.pairs.Len() > 0
}

// row reads one comparison; one that is wrong is reported and left out. One without a winner is missing, and so is a row that
// compares nothing: tables of verdicts have both.
func (c *Comparisons) row() {
	t := c.table
	first, second := t.Field(c.a), t.Field(c.b)
	if len(first)+len(second) == 0 || len(first) > 0 && len(second) > 0 && len(t.Field(c.winner)) == 0 {
		c.missing++
		return
	}
	result, ok := c.result(first, second, t.Field(c.winner))
	if !ok {
		return
	}
	weight, ok := c.weigh()
	if !ok {
		return
	}
	if c.cluster >= 0 && len(t.Field(c.cluster)) == 0 {
		t.Bad("every row needs one, or all such rows would be one cluster", "the cluster is empty")
		return
	}
	i, j := c.items.ID(first), c.items.ID(second)
	if int(max(i, j)) >= c.limit {
		t.Bad(c.advice(), "there are more than %d items", c.limit)
		t.stop()
		return
	}
	b := &c.block
	b.pairs.Append(uint16(i), uint16(j), result)
	if c.weight >= 0 {
		b.weight = append(b.weight, weight)
	}
	if c.cluster >= 0 {
		b.cluster = append(b.cluster, c.clusters.ID(t.Field(c.cluster)))
	}
	if c.judge >= 0 {
		c.judges.ID(t.Field(c.judge))
	}
}

// maxWeight is larger than any honest count, and so small that sums of it are exact enough.
const maxWeight = 1e12

// weigh reads the weight of the row, 1 where there is none.
func (c *Comparisons) weigh() (float64, bool) {
	if c.weight < 0 {
		return 1, true
	}
	t := c.table
	field := t.Field(c.weight)
	w, err := strconv.ParseFloat(string(field), 64)
	switch {
	case err != nil || !(w >= 0) || math.IsInf(w, 1):
		t.Bad("", "the weight %q is not a number from 0 up", clip(field))
		return 0, false
	case w > maxWeight:
		t.Bad("", "the weight %q is larger than %g", clip(field), maxWeight)
		return 0, false
	}
	if !c.whole {
		return w, true
	}
	if c.repeated += w; w != math.Trunc(w) || c.repeated > maxRepeated {
		t.Bad("clusters and resampling need whole weights, at most "+strconv.Itoa(maxRepeated)+" in all", "the weight is %g", w)
		return 0, false
	}
	return w, true
}

// advice returns the hint for a table of too many items.
func (c *Comparisons) advice() string {
	if c.limit < MaxItems {
		return "ratings by Elo take up to " + strconv.Itoa(MaxItems) + "; is this the right column?"
	}
	return "is this the right column?"
}

// result reads the winner, which is named by its column or by itself.
func (c *Comparisons) result(first, second, winner []byte) (stats.Result, bool) {
	t := c.table
	switch {
	case len(first) == 0 || len(second) == 0:
		t.Bad("", "an item has no name")
		return 0, false
	case string(first) == string(second):
		t.Bad("", "%q stands against itself", clip(first))
		return 0, false
	}
	isFirst, isSecond, isTie := string(winner) == string(first), string(winner) == string(second), false
	if len(winner) == 1 {
		isFirst, isSecond = isFirst || winner[0] == 'a', isSecond || winner[0] == 'b'
	} else {
		isTie = string(winner) == "tie"
	}
	switch {
	case isFirst && isSecond || isTie && (isFirst || isSecond):
		t.Bad("rename the item: a, b and tie have their own meaning here", "the winner %q may be a column or an item", winner)
		return 0, false
	case isFirst:
		return stats.FirstWon, true
	case isSecond:
		return stats.SecondWon, true
	case isTie:
		return stats.Tied, true
	}
	t.Bad("", "the winner %q is neither a, b, tie nor one of the items %q and %q", clip(winner), clip(first), clip(second))
	return 0, false
}

// clip keeps what a problem quotes of a field short.
func clip(field []byte) []byte {
	const most = 60
	if len(field) <= most {
		return field
	}
	return append(field[:most:most], "…"...)
}
