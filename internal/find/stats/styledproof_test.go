package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestControlledIntervalsHoldTheirLevel: of answers whose length depends on the lane and sways the judge, controlled strengths are those
// without it, in 95% of data sets within their intervals; plain ones are not.
func TestControlledIntervalsHoldTheirLevel(t *testing.T) {
	t.Parallel()
	sets := max(150, *replications/2)
	truth := []float64{0.5, 0.1, -0.1, -0.5}
	length := []float64{-0.5, 0, 0.1, 0.4} // log of it: the best write least
	const items, effect, order = 100, 1.8, 0.2
	held, plainHeld, all := 0, 0, 0
	for k := range sets {
		r := rand.New(rand.NewPCG(9, uint64(k)))
		d := &Styled{Items: 4, X: make([][]float32, 1)}
		sum, values := 0.0, []float64{}
		for item := range items {
			ease := r.NormFloat64() * 0.3
			for pair := range 4 {
				a := (item + pair) % 4
				b := (a + 1 + (item+pair)/4%3) % 4
				long := [2]float64{math.Exp(length[a] + 0.6*r.NormFloat64()), math.Exp(length[b] + 0.6*r.NormFloat64())}
				x := (long[0] - long[1]) / (long[0] + long[1])
				result := SecondWon
				if 1/(1+math.Exp(-(truth[a]-truth[b]+order+effect*x+ease*float64(a-b)/3))) > r.Float64() {
					result = FirstWon
				}
				d.Pairs.Append(uint16(a), uint16(b), result)
				d.Cluster, values, sum = append(d.Cluster, uint32(item)), append(values, x), sum+x*x
			}
		}
		for _, x := range values {
			d.X[0] = append(d.X[0], float32(x/math.Sqrt(sum/float64(len(values)))))
		}
		controlled, err := FitStyled(d, BTOptions{Order: true})
		if err != nil {
			t.Fatal(err)
		}
		without := *d
		without.X = nil
		plain, err := FitStyled(&without, BTOptions{Order: true})
		if err != nil {
			t.Fatal(err)
		}
		errors, err := controlled.Errors(plain)
		if err != nil {
			t.Fatal(err)
		}
		for i := range truth {
			all++
			if StudentInterval(controlled.Theta[i], errors.Theta[i], 0.95, items).Contains(truth[i]) {
				held++
			}
			if StudentInterval(plain.Theta[i], errors.Theta[i], 0.95, items).Contains(truth[i]) {
				plainHeld++
			}
		}
	}
	t.Logf("%.3f of %d controlled intervals hold, %.3f of plain ones", float64(held)/float64(all), all, float64(plainHeld)/float64(all))
	if share := float64(held) / float64(all); share < 0.91 || share > 0.985 {
		t.Errorf("%.3f of %d controlled intervals hold", share, all)
	}
	if share := float64(plainHeld) / float64(all); share > 0.8 {
		t.Errorf("%.3f of plain intervals hold what style hides: nothing is controlled here", share)
	}
}
