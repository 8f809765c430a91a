package stats

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
