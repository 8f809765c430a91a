package analysis

import (
	"math"

	"assay/internal/find/stats"
	"assay/internal/study/adaptive"
	"assay/internal/study/declare"
)

// Looked holds the earlier looks at fewer items of a stage, each of which has spent a part of the error: the run, or one whose answers it
// took over, was extended after verdicts were there.
type Looked struct {
	Items  []int   // of each earlier look
	Claims []Claim // that they made: a claim stays
}

// furtherLooks is the error that all looks after the first spend together, as a part of that of the first: the second a half of it, the
// third a quarter, and so on, however many there will be.
const furtherLooks = 0.1

// LookAt returns the error that a look may spend, as a part of the error of a study that is looked at once; the first look is 1.
func LookAt(look int) float64 {
	if look <= 1 {
		return 1
	}
	return furtherLooks * math.Pow(0.5, float64(look-1))
}

// Part returns the part of the error that is left for the look at hand.
func (l *Looked) Part() float64 {
	if l == nil {
		return 1
	}
	return LookAt(len(l.Items) + 1)
}

// Bound returns the chance of any false claim of all looks so far, at most.
func (l *Looked) Bound(level float64) float64 {
	sum := 0.0
	for look := range len(l.Items) + 1 {
		sum += LookAt(look+1) * (1 - level)
	}
	return sum
}

// LookedAt returns the earlier looks at fewer than so many items of a stage; nil: there are none.
func LookedAt(looks []declare.Look, stage string, items int) *Looked {
	var out *Looked
	for _, l := range looks {
		if l.Stage != stage || l.Items >= items {
			continue
		}
		if out == nil {
			out = &Looked{}
		}
		out.Items = append(out.Items, l.Items)
		for _, c := range l.Claims {
			out.Claims = append(out.Claims, Claim{Better: c.Better, Worse: c.Worse, Look: len(out.Items), P: c.P})
		}
	}
	return out
}

// Looks returns what the leaderboard shows of so many items, to be kept when more are asked; false: it could show nothing, and has
// spent no error.
func (s *Leaderboard) Looks(items int) (declare.Look, bool) {
	out := declare.Look{Stage: s.Stage, Items: items}
	apart, tested := s.Apart()
	if !tested || s.Verb != Judged || len(s.By) > 0 || s.Field != ByLane || !s.couldClaim() {
		return out, false
	}
	for _, t := range s.Tests {
		if !apart[[2]int{t.First, t.Second}] {
			continue
		}
		better, worse := s.Places[t.First].Name, s.Places[t.Second].Name
		if s.Better(t.First, t.Second) > 0 {
			better, worse = worse, better
		}
		out.Claims = append(out.Claims, declare.Claim{Better: better, Worse: worse, P: t.P.Value})
	}
	return out, true
}

// couldClaim reports whether any result on so many items would have been a difference.
func (s *Leaderboard) couldClaim() bool {
	if s.Test != ExactPairs {
		return true
	}
	most := 0
	for _, t := range s.Tests {
		most = max(most, t.Clusters)
	}
	return 2*math.Pow(0.5, float64(most)) < (1-s.Level)*s.Looked.Part()/float64(len(s.Tests))
}

// again returns the places that can be told apart at a look after others: what they claimed, and what the error that is left shows (Holm,
// over the pairs that are not known yet).
func (s *Leaderboard) again() map[[2]int]bool {
	names := make([]string, len(s.Places))
	for i, p := range s.Places {
		names[i] = p.Name
	}
	known, apart := (&Rounds{Claims: s.Looked.Claims}).Claimed(names), map[[2]int]bool{}
	var open []Contrast
	var p []float64
	for _, t := range s.Tests {
		switch {
		case known.Known(t.First, t.Second):
			apart[[2]int{t.First, t.Second}], apart[[2]int{t.Second, t.First}] = true, true
			continue
		case t.P.OK:
			p = append(p, t.P.Value)
		default:
			p = append(p, 1)
		}
		open = append(open, t)
	}
	adjusted, err := stats.Holm(p)
	if err != nil {
		return apart
	}
	for k, t := range open {
		if adjusted[k] < (1-s.Level)*s.Looked.Part() && s.agrees(t) {
			apart[[2]int{t.First, t.Second}], apart[[2]int{t.Second, t.First}] = true, true
		}
	}
	return apart
}

// BeyondPlan returns the error that a further look at comparisons may spend where they were all planned at once: the
// part of one look of the usual rounds. It comes on top of what the first look spent.
func BeyondPlan(level float64) float64 { return (1 - level) / adaptive.Rounds }
