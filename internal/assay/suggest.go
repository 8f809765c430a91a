package assay

import "strings"

// DidYouMean returns a hint that names the candidate nearest to a misspelt word, or "" when none is near.
func DidYouMean[S ~string](word S, candidates []S) string {
	best, ok := Closest(word, candidates)
	if !ok {
		return ""
	}
	return "did you mean " + string(best) + "?"
}

// Choices returns a hint for an unknown word: the name nearest to it, or all of them.
func Choices[S ~string](word S, names []S) string {
	if hint := DidYouMean(word, names); hint != "" || len(names) == 0 {
		return hint
	}
	return ThereAre(names)
}

// ThereAre lists names, as a hint does.
func ThereAre[S ~string](names []S) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	verb := "are"
	if len(names) == 1 {
		verb = "is"
	}
	return "there " + verb + " " + strings.Join(all, ", ")
}

// Closest returns the candidate nearest to a misspelt word, the first of several; it is false when more than a third of its letters
// would change: a wrong guess misleads.
func Closest[S ~string](word S, candidates []S) (S, bool) {
	best, bestDistance := S(""), max(1, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(string(word)), strings.ToLower(string(c)), bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best, best != ""
}

// distance returns the edit distance of two words, with neighbours swapped counting as one edit; limit when it is at least that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit || len(a) > 100 || len(b) > 100 {
		return limit
	}
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
