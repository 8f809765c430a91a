package checked

import "assay/internal/find/stats"

// From how many answers that several labelled it is told that people do not agree among themselves, and below which agreement.
const (
	fewestTwice    = 20
	leastAgreement = 0.7
	leastAC1       = 0.4
)

// People is how far people agree with each other.
type People struct {
	Twice     int          // answers that two or more labelled
	Agreement stats.Number // on such an answer, the share of every two people who say the same; the mean over answers
	AC1       stats.Number // Gwet's: agreement beyond chance
}

// Agree returns how far people agree, from what they said of each answer.
func Agree[T comparable](said [][]T) People {
	kinds, out := map[T]int{}, People{}
	for _, of := range said {
		for _, x := range of {
			if _, there := kinds[x]; !there {
				kinds[x] = len(kinds)
			}
		}
	}
	var ratings [][]int
	sum := 0.0
	for _, of := range said {
		counts, same := make([]int, len(kinds)), 0
		for _, x := range of {
			same += counts[kinds[x]]
			counts[kinds[x]]++
		}
		if n := len(of); n > 1 {
			out.Twice++
			sum += float64(same) / float64(n*(n-1)/2)
			ratings = append(ratings, counts)
		}
	}
	if out.Twice == 0 {
		out.Agreement = stats.Undefined("no answer was labelled twice")
		out.AC1 = out.Agreement
		return out
	}
	out.Agreement = stats.Known(sum / float64(out.Twice))
	out.AC1 = stats.Undefined("they said the same of all")
	if index, err := stats.NewPanel(make([]int, len(ratings)), 0.95).AC1(ratings); err == nil && len(kinds) > 1 {
		out.AC1 = index.Value
	}
	return out
}

// Differ reports whether people do not agree among themselves: no judge can be better than they are.
func (p People) Differ() bool {
	return p.Twice >= fewestTwice && (p.Agreement.Value < leastAgreement || p.AC1.OK && p.AC1.Value < leastAC1)
}
