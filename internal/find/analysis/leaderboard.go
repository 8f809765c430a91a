package analysis

import (
	"cmp"
	"math"
	"sort"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
)

// Leaderboard holds the result of each lane (or item) that a stage ranks, and how every two of them compare: by the tests
// that belong to the intervals of its table.
type Leaderboard struct {
	Stage     string
	Verb      Verb
	By        []Value  // the group, where a table ranks in several
	Part      bool     // of some rows of the stage alone
	Field     string   // lane or item
	What      string   // that places are ranked by
	Labels    []string // that a rate counts; none: the expected one
	Unit      Unit
	Less      bool // less is better
	Flips     bool // of answers that were taken back
	First     bool // of the first answers of conversations alone
	Control   bool // a neutral re-ask is subtracted
	Primary   bool
	Level     float64
	Places    []Place    // in the order of their names
	Tests     []Contrast // of every two; none: there are too many places, or no errors
	Test      Test       // of every two
	Method    string     // of the tests, in words
	Clusters  int        // independent units that two lanes share, the most of any two
	Units     int        // as many clusters as Student's t of the tests has; 0: the clusters of each
	Coverage  Coverage
	Judges    []string // lanes that judge
	Kin       []string // places of the same family as the only judge
	Machines  bool     // not people alone judge
	Validated bool     // a rule judges, which needs no check
	Checked   *Checked // how far people have checked the only judge; nil: not at all
	ByLabels  bool     // values and differences are corrected by their labels
	Alone     string   // why they are not, though people have checked the judge; empty: they are, or nobody has

	Instead   string     // why shares of wins are used instead of strengths; empty: they do not
	Penalised string     // why strengths are penalised after Firth without being asked to; empty: they are not
	Unmet     [][]string // groups of places that were never compared with each other; none: all were, directly or through others
	Unclear   int        // labels of people, who alone judge, that were chosen because it was not clear which of two is better

	Position *ShownFirst // of comparisons: what the order of showing did; nil: none decided anything

	Style string // how much of it is style, in words; empty: nothing was asked

	// Foretold is the start of quotes where the tests of comparisons have no errors: strengths that are drawn
	// together, with the errors that looks at bought comparisons have. Nil: the tests have errors.
	Foretold *adaptive.Look

	Looked *Looked        // earlier looks at fewer items; nil: this is the first
	Rounds *Rounds        // of pairs that were bought in rounds: only claimed differences count
	Look   *adaptive.Look // at all of them
}

// ShownFirst holds what the order of showing did to comparisons.
type ShownFirst struct {
	First    stats.Number // share of decided comparisons that the one shown first won
	P        stats.Number // of an even chance
	Same     stats.Number // of pairs judged in both orders, the share that the same one won twice
	Turns    bool         // that is less often than by the toss of a coin: another place has another winner
	OneOrder bool         // every two were always shown in the same order
}

// Biased reports whether the order decides so much that a reader has to know.
func (p *ShownFirst) Biased() bool {
	return p != nil && p.First.OK && (p.OneOrder || p.Turns || p.off(0.1))
}

// Decides reports whether the order decides more than who is better.
func (p *ShownFirst) Decides() bool { return p.Biased() && (p.Turns || p.off(0.3)) }

// off reports whether the one shown first wins so much more or less often than every second time, and not by chance.
func (p *ShownFirst) off(share float64) bool {
	return math.Abs(p.First.Value-0.5) >= share && p.P.OK && p.P.Value < 0.05
}

// Place is one lane of a leaderboard.
type Place struct {
	Name     string
	Value    stats.Number
	Judge    stats.Number // where Value is corrected by people's labels: what the judge alone says
	SE       stats.Number
	Interval stats.Interval
	Share    stats.Number // of comparisons: the share won; of flips with a control: the share taken back under pressure
	Control  stats.Number // the share taken back when merely asked again
	N        int          // verdicts
	Rank     *stats.RankInterval
	Best     stats.Number // chance of being the best
	Coverage Coverage
}

// Contrast is the first place minus the second.
type Contrast struct {
	First, Second int // in Places
	Difference    stats.Number
	SE            stats.Number
	Interval      stats.Interval
	P             stats.Number
	Clusters      int
	Units         int          // as many clusters as Student's t has, which large ones make fewer; 0: all
	Items         int          // in the clusters; 0: as many as clusters
	Ahead, Behind int          // of an exact test: items on which one alone is right
	Information   stats.Number // about the difference, from one more comparison of the two or one more item, as a part of 1/SE²
}

// PerCluster returns how many items a cluster has on average, of those that two places share.
func (s *Leaderboard) PerCluster() float64 {
	items, clusters := 0, 0
	for _, t := range s.Tests {
		if t.Items > 0 {
			items, clusters = items+t.Items, clusters+t.Clusters
		}
	}
	if clusters == 0 {
		return 1
	}
	return float64(items) / float64(clusters)
}

// units returns as many clusters as Student's t of a test has.
func (s *Leaderboard) units(t Contrast) int { return cmp.Or(s.Units, t.Units, t.Clusters) }

// Test is how two places are told apart.
type Test int

// The tests.
const (
	ByErrors   Test = iota // of the difference of the two
	ExactPairs             // McNemar's, of one yes or no on each item
	ExactSigns             // of signs, over the clusters in which the two met: there are no strengths
)

// MaxCompared is how many places are all held against each other.
const MaxCompared = 100

// Order returns all places, the best first and those without a value last.
func (s *Leaderboard) Order() []int {
	var out, none []int
	for i, p := range s.Places {
		if p.Value.OK {
			out = append(out, i)
		} else {
			none = append(none, i)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return s.Better(out[i], out[j]) < 0 })
	return append(out, none...)
}

// Better orders two places: the one with the better value first. Values that differ by rounding alone are equal.
func (s *Leaderboard) Better(a, b int) int {
	x, y := s.Places[a].Value.Value, s.Places[b].Value.Value
	switch {
	case stats.Same(x, y):
		return 0
	case x < y == s.Less:
		return -1
	}
	return 1
}

// Apart returns the places that can be told apart (Holm, over all pairs), either way round; false: nothing was tested.
// A test without a p-value counts as one that shows nothing, and so does one whose difference goes against the order of
// the values.
func (s *Leaderboard) Apart() (apart map[[2]int]bool, tested bool) {
	if s.Rounds != nil {
		return s.claimed(), len(s.Tests) > 0
	}
	apart = map[[2]int]bool{}
	p := make([]float64, len(s.Tests))
	for k, t := range s.Tests {
		p[k] = 1
		if t.P.OK {
			p[k], tested = t.P.Value, true
		}
	}
	adjusted, err := stats.Holm(p)
	if err != nil || !tested {
		return apart, false
	}
	if s.Looked != nil {
		return s.again(), true
	}
	for k, t := range s.Tests {
		if adjusted[k] < 1-s.Level && s.agrees(t) {
			apart[[2]int{t.First, t.Second}], apart[[2]int{t.Second, t.First}] = true, true
		}
	}
	return apart, true
}

// agrees reports whether a difference on the items that both have goes the way of the values.
func (s *Leaderboard) agrees(t Contrast) bool {
	order := s.Better(t.First, t.Second)
	ahead := t.Difference.Value > 0 != s.Less
	return t.Difference.OK && t.Difference.Value != 0 && order != 0 && ahead == (order < 0)
}

// RankOf returns the rank of a place, and the ranks that it may have.
func (s *Leaderboard) RankOf(i int, apart map[[2]int]bool) *stats.RankInterval {
	r := &stats.RankInterval{Rank: 1, Best: 1}
	for k, p := range s.Places {
		if !p.Value.OK {
			continue
		}
		r.Worst++
		better := s.Better(k, i) < 0
		switch {
		case k == i:
		case better && apart[[2]int{i, k}]:
			r.Rank, r.Best = r.Rank+1, r.Best+1
		case better:
			r.Rank++
		case apart[[2]int{i, k}]:
			r.Worst--
		}
	}
	return r
}

// claimed returns the pairs of places that claims separate.
func (s *Leaderboard) claimed() map[[2]int]bool {
	names := make([]string, len(s.Places))
	for i, p := range s.Places {
		names[i] = p.Name
	}
	known, apart := s.Rounds.Claimed(names), map[[2]int]bool{}
	for i := range names {
		for j := range i {
			if known.Known(i, j) {
				apart[[2]int{i, j}], apart[[2]int{j, i}] = true, true
			}
		}
	}
	return apart
}
