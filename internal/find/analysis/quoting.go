package analysis

import (
	"slices"

	"assay/internal/study/adaptive"
)

// leastQuoted is how many items, or pairs of texts, a quote rests on at least.
const leastQuoted = 10

// Quote foretells what more comparisons of two places, or more items, will show. It is false where the two can be told
// apart, or where nothing can be estimated. It believes in a difference as far as the spread of all values suggests:
// those that are asked about are close by luck, too.
func (s *Leaderboard) Quote(a, b int) (adaptive.Quote, bool) {
	apart, tested := s.Apart()
	spread, known := s.spread()
	level, may := s.nextLevel()
	if !tested || !known && s.Foretold == nil || !may || apart[[2]int{a, b}] {
		return adaptive.Quote{}, false
	}
	at := slices.IndexFunc(s.Tests, func(t Contrast) bool {
		return t.First == min(a, b) && t.Second == max(a, b) ||
			t.First == max(a, b) && t.Second == min(a, b)
	})
	if at < 0 || s.restsOn(s.Tests[at]) < leastQuoted {
		return adaptive.Quote{}, false
	}
	open := 1 // and those less clear: Holm tests the others before
	for i, t := range s.Tests {
		if i != at && !apart[[2]int{t.First, t.Second}] && (s.Foretold != nil || !t.clearer(s.Tests[at])) {
			open++
		}
	}
	if s.Foretold != nil {
		return s.fromLook(a, b, adaptive.Critical(level, open, s.Foretold.Clusters))
	}
	t := s.Tests[at]
	if !t.Difference.OK || !t.SE.OK || !t.Information.OK || !(t.SE.Value > 0) {
		return adaptive.Quote{}, false
	}
	var exact *adaptive.Discordant
	if s.Test == ExactPairs {
		exact = &adaptive.Discordant{Ahead: t.Ahead, Behind: t.Behind, Items: t.Clusters, Level: level / float64(max(1, open))}
	}
	return adaptive.Quote{Exact: exact,
		Pair:     adaptive.Pair{Difference: t.Difference.Value, Variance: t.SE.Value * t.SE.Value, Information: t.Information.Value},
		Critical: adaptive.Critical(level, open, s.units(t)), Spread: spread,
	}, true
}

// restsOn returns how many items a difference rests on; of texts, how many pairs of the stage: two of them meet once, and
// gain by pairs with any other.
func (s *Leaderboard) restsOn(t Contrast) int {
	if s.Field == ByItem {
		return s.Clusters
	}
	return t.Clusters
}

// Scanty reports whether texts were compared in too few pairs for a quote.
func (s *Leaderboard) Scanty() bool { return s.Field == ByItem && s.Clusters < leastQuoted }

// fromLook returns the quote of two places from strengths that are drawn together: a look at what was bought would have
// them, too. It claims nothing before each has enough comparisons.
func (s *Leaderboard) fromLook(a, b int, critical float64) (adaptive.Quote, bool) {
	for _, p := range s.Foretold.Pairs {
		if p.I == min(a, b) && p.J == max(a, b) {
			short := adaptive.Least - min(s.Places[a].N, s.Places[b].N)
			return adaptive.Quote{Pair: p, Critical: critical, Spread: adaptive.Spread(s.Foretold.Theta, s.Foretold.SE),
				Least: float64(max(1, short))}, true
		}
	}
	return adaptive.Quote{}, false
}

// nextLevel returns the error that a look after more was bought may spend; false: no look claims anything.
func (s *Leaderboard) nextLevel() (float64, bool) {
	switch {
	case s.Rounds != nil:
		return s.Rounds.Next, !s.Rounds.Width
	case s.Verb == Compared && s.Field == ByLane:
		return BeyondPlan(s.Level), true
	}
	before := 0
	if s.Looked != nil {
		before = len(s.Looked.Items)
	}
	return (1 - s.Level) * LookAt(before+2), true
}

// spread returns the variance of the true values that places suggest; false where fewer than two have an error.
func (s *Leaderboard) spread() (float64, bool) {
	var value []float64
	var places []int
	for i, p := range s.Places {
		if p.Interval.OK && p.Value.OK {
			places, value = append(places, i), append(value, p.Value.Value)
		}
	}
	if _, uneven := s.Uneven(); uneven {
		value = s.shared(places, value)
	}
	noise, tests := 0.0, 0.0
	for _, t := range s.Tests {
		if t.SE.OK {
			noise, tests = noise+t.SE.Value*t.SE.Value/2, tests+1
		}
	}
	if len(value) < 2 || tests == 0 {
		return 0, false
	}
	spread := adaptive.SpreadBeyond(value, noise/tests)
	if usual := usualSpread[s.Unit]; s.Rough() {
		spread = max(spread, usual*usual)
	}
	return spread, true
}

// usualSpread is how far lanes are taken to differ where two or three do not show it: 5 points of a rate, or of wins against an
// equal.
var usualSpread = map[Unit]float64{Share: 0.05, Logit: 0.2}

// Rough reports whether so few places are ranked that they do not show how far such lanes differ: a quote is a range then,
// from what believes in the difference as it was found to what believes in little of it.
func (s *Leaderboard) Rough() bool { return len(s.Places) <= 3 }

// clearer reports whether a difference is tested before another one, as its p-value is smaller.
func (c Contrast) clearer(than Contrast) bool {
	return c.P.OK && (!than.P.OK || c.P.Value < than.P.Value)
}
