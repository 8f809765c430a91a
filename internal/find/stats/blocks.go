package stats

// Blocks are values of several columns, such as lanes, in rows, such as items, of which some have not all columns. They say how far columns lie
// apart by least squares, with an effect of its own for each row: what rows are like does not count for the columns that have them.
type Blocks struct {
	normal *symmetric
	right  []float64
}

// NewBlocks begins with so many columns and no row.
func NewBlocks(columns int) *Blocks { return &Blocks{newSymmetric(columns), make([]float64, columns)} }

// Add takes the values of a row in some columns.
func (b *Blocks) Add(columns []int, values []float64) {
	n, mean := float64(len(columns)), 0.0
	for _, v := range values {
		mean += v / n
	}
	for k, i := range columns {
		b.right[i] += values[k] - mean
		for _, j := range columns[:k+1] {
			part := -1 / n
			if i == j {
				part++
			}
			b.normal.set(i, j, b.normal.at(i, j)+part)
		}
	}
}

// Effects are how far each column lies from the mean of all; false where rows do not connect the columns.
func (b *Blocks) Effects() ([]float64, bool) {
	n := b.normal.n
	sums := newSymmetric(n) // they add up to 0
	for i := range n {
		for j := range i + 1 {
			sums.set(i, j, b.normal.at(i, j)+1/float64(n))
		}
	}
	var c cholesky
	if !c.factorize(sums) || c.condition > 1e12 {
		return nil, false
	}
	out := append([]float64(nil), b.right...)
	return out, c.solve(out)
}
