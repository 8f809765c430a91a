package analysis

import "math"

// unevenBy is the part of a difference's error by which values may depart from it before a reader has to know.
const unevenBy = 0.5

// Uneven returns the two places whose values, each over its own items, are furthest from their difference on the items that both
// have, in errors of it; false: none is far from it.
func (s *Leaderboard) Uneven() (Contrast, bool) {
	var worst Contrast
	most := unevenBy
	for _, t := range s.Tests {
		if s.Verb != Judged || s.ByLabels || !t.Difference.OK || !t.SE.OK {
			continue
		}
		gap := math.Abs(s.Places[t.First].Value.Value - s.Places[t.Second].Value.Value - t.Difference.Value)
		if far := gap / max(t.SE.Value, usualSpread[Share]/10); far > most {
			worst, most = t, far
		}
	}
	return worst, most > unevenBy
}

// shared returns values of places that lie apart as they do on the items that every two have: the values, but for a constant, where
// all have the same items.
func (s *Leaderboard) shared(places []int, values []float64) []float64 {
	at := map[int]int{}
	for k, i := range places {
		at[i] = k
	}
	out, met := make([]float64, len(values)), make([]int, len(values))
	for _, t := range s.Tests {
		first, known := at[t.First]
		second, too := at[t.Second]
		if known && too && t.Difference.OK {
			out[first], out[second] = out[first]+t.Difference.Value, out[second]-t.Difference.Value
			met[first], met[second] = met[first]+1, met[second]+1
		}
	}
	for k := range out {
		if met[k] != len(values)-1 {
			return values
		}
		out[k] /= float64(len(values))
	}
	return out
}
