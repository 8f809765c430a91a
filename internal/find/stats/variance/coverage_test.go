package variance

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestIntervalsHoldTheParts counts how often intervals hold what studies were made from: normal verdicts, yes and no, and clusters
// whose items are alike.
func TestIntervalsHoldTheParts(t *testing.T) {
	t.Parallel()
	const studies = 400
	for _, c := range []struct {
		name                           string
		items, templates, draws, judge int
		cluster                        int // items of one
		yes                            bool
	}{
		{"20 items, 4 draws", 20, 1, 4, 1, 1, false},
		{"60 items, 3 draws", 60, 1, 3, 1, 1, false},
		{"200 items, 3 templates, 2 draws", 200, 3, 2, 1, 1, false},
		{"60 items, 3 templates, 2 draws, 2 judges", 60, 3, 2, 2, 1, false},
		{"40 clusters of 5 items, 3 draws", 200, 1, 3, 1, 5, false},
		{"100 items, 5 draws, yes and no", 100, 1, 5, 1, 1, true},
		{"30 items, 5 draws, yes and no", 30, 1, 5, 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			held, shares, n := map[Kind]int{}, map[Kind]int{}, map[Kind]int{}
			for s := range studies {
				r := rand.New(rand.NewPCG(uint64(s), 7))
				world := world{r: r, clusters: c.cluster, yes: c.yes}
				got := Split(world.verdicts(c.items, c.templates, c.draws, c.judge), 0.95)
				for i, p := range got.Parts {
					n[p.Kind]++
					if p.Interval.Contains(world.truth(p.Kind)) {
						held[p.Kind]++
					}
					if _, _, in := got.Share(i, 0.95); in.Contains(world.truth(p.Kind) / world.total(got.Parts)) {
						shares[p.Kind]++
					}
				}
			}
			for k := range n {
				share := 100 * float64(held[k]) / float64(n[k])
				if n[k] < studies || share < 93 || c.templates+c.judge == 2 && shares[k] < 93*studies/100 {
					t.Errorf("%s: held %.1f%% of %d, its share %.1f%%", k, share, n[k], 100*float64(shares[k])/studies)
				}
			}
		})
	}
}

// world makes verdicts whose parts are known.
type world struct {
	r        *rand.Rand
	clusters int
	yes      bool
}

// truth returns the size of a part.
func (w world) truth(k Kind) float64 {
	if w.yes { // chances of 0.2, 0.5 and 0.8
		if k == Items {
			return 0.06
		}
		return 0.25 - 0.06
	}
	return map[Kind]float64{Items: 1, Templates: 0.25, Judges: 0.16, ItemTemplates: 0.36, ItemJudges: 0.16, Draws: 0.49, Readings: 0.25}[k]
}

// total returns the sum of parts.
func (w world) total(parts []Part) (sum float64) {
	for _, p := range parts {
		sum += w.truth(p.Kind)
	}
	return sum
}

func (w world) verdicts(items, templates, draws, judges int) (out []Value) {
	normal := func(k Kind, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sqrt(w.truth(k)) * w.r.NormFloat64()
		}
		return x
	}
	template, judge := normal(Templates, templates), normal(Judges, judges)
	shared := 0.0
	for i := range items {
		if i%w.clusters == 0 {
			shared = w.r.NormFloat64()
		}
		item := normal(Items, 1)[0]
		if w.clusters > 1 { // half of it is the cluster's
			item = math.Sqrt(0.5)*item + math.Sqrt(0.5)*shared
		}
		chance := []float64{0.2, 0.5, 0.8}[w.r.IntN(3)]
		byJudge := normal(ItemJudges, judges)
		for t := range templates {
			byTemplate := normal(ItemTemplates, 1)[0]
			for d := range draws {
				draw := normal(Draws, 1)[0]
				for j := range judges {
					v := Value{Unit: int32(i), Cluster: int32(i / w.clusters), Template: int32(t), Draw: int32(d), Judge: int32(j)}
					if v.Value = item + draw; templates > 1 {
						v.Value += template[t] + byTemplate
					}
					if judges > 1 {
						v.Value += judge[j] + byJudge[j] + normal(Readings, 1)[0]
					}
					if w.yes {
						v.Value = 0
						if w.r.Float64() < chance {
							v.Value = 1
						}
					}
					out = append(out, v)
				}
			}
		}
	}
	return out
}
