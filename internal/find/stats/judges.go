package stats

import (
	"fmt"
	"math"
	"slices"
)

// Spread is a mean over judges with Student's error bars: the spread over judges, not an error over items.
type Spread struct {
	Judges   int
	Mean     Number
	SE       Number
	Interval Interval
}

// OverJudges returns the mean of one score per judge.
func OverJudges(scores []float64, level float64) Spread {
	s := Spread{Judges: len(scores), Mean: Mean(scores), SE: SD(scores)}
	if s.SE.OK {
		s.SE.Value /= math.Sqrt(float64(len(scores)))
	}
	s.Interval = tInterval(s.Mean, s.SE, level, len(scores)-1)
	return s
}

// JudgeScore is the score of one judge for one subject.
type JudgeScore struct {
	Judge, Subject int
	Score          float64
}

// JudgeDelta is how far a judge is above the mean of all judges of the same subject.
type JudgeDelta struct {
	Judge, Subject int
	Delta          float64
}

// JudgeDeltas are all deviations and, per judge, how much they vary: a judge that is lenient to some subjects only has
// a large spread.
type JudgeDeltas struct {
	Deltas []JudgeDelta // in the order of the scores
	Mean   []Number     // by judge
	SD     []Number     // by judge
}

// Deltas compares each judge with the mean of the judges of each subject.
func Deltas(scores []JudgeScore) (*JudgeDeltas, error) {
	judges, totals := 0, make(map[int]Total)
	for k, s := range scores {
		if s.Judge < 0 || !Known(s.Score).OK {
			return nil, fmt.Errorf("compare judges: score %d is %g by judge %d", k, s.Score, s.Judge)
		}
		t := totals[s.Subject]
		totals[s.Subject] = Total{t.N + 1, t.Sum + s.Score}
		judges = max(judges, s.Judge+1)
	}
	out := &JudgeDeltas{Mean: make([]Number, judges), SD: make([]Number, judges)}
	own := make([][]float64, judges)
	for _, s := range scores {
		t := totals[s.Subject]
		d := s.Score - t.Sum/float64(t.N)
		out.Deltas = append(out.Deltas, JudgeDelta{s.Judge, s.Subject, d})
		own[s.Judge] = append(own[s.Judge], d)
	}
	for j, d := range own {
		out.Mean[j], out.SD[j] = Mean(d), SD(d)
	}
	return out, nil
}

// Ranking returns the place of each score, 1 for the highest; equal scores share the better place.
func Ranking(scores []float64) []int {
	sorted := slices.Sorted(slices.Values(scores))
	places := make([]int, len(scores))
	for i, s := range scores {
		above, _ := slices.BinarySearch(sorted, math.Nextafter(s, math.Inf(1)))
		places[i] = len(scores) - above + 1
	}
	return places
}
