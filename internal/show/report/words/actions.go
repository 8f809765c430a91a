package words

import (
	"slices"
)

// maxActions is how many actions are offered.
const maxActions = 3

// Actions returns what to do first about the weak points, at most three.
func (s *Summary) Actions() []Caveat {
	var out []Caveat
	for _, c := range s.Caveats {
		if c.Button != "" && c.Command != "" && len(out) < maxActions &&
			!slices.ContainsFunc(out, func(o Caveat) bool { return o.Command == c.Command }) {
			out = append(out, c)
		}
	}
	return out
}
