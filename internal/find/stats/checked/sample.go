// Package checked corrects what judges say by labels of people. A judge's verdicts are there for all answers, people's labels for some
// that were drawn at random: the labels alone decide what is true, and the verdicts make the error smaller. Nothing is assumed of how a
// judge errs. A judge that says nothing about the labels changes nothing; a good one is worth many labels.
//
// Lanes, clusters and items are dense indexes from 0, as in package stats.
package checked

import (
	"cmp"
	"slices"
)

// Scale is the scale of verdicts and labels.
type Scale struct {
	YesNo     bool    // yes is 1, no is 0
	Low, High float64 // the ends of a scale; equal: it has none
	Step      float64 // the smallest distance of two values
}

// YesNo is the scale of rates.
func YesNo() Scale { return Scale{YesNo: true, High: 1, Step: 1} }

// steepest is the most by which a verdict may move a value.
func (s Scale) steepest() float64 {
	if s.YesNo {
		return 1
	}
	return 2
}

// Label is people's label of an answer, the mean of several.
type Label struct {
	Item, Cluster, Lane int
	Verdict             float64 // the judge's on the same answer
	Value               float64
	Weight              float64 // 1/probability of being drawn, on any scale
}

// Sample is the verdicts of a judge on all answers of some lanes, and the labels of those that were drawn.
type Sample struct {
	lanes    int
	verdicts []total // by cluster, then lane
	labels   []Label
	clusters []drawn // those with labels, in their order
	lane     []int   // labels of each lane
}

// total is a sum of verdicts.
type total struct{ n, sum float64 }

// drawn is the labels of one cluster, as sums for each lane.
type drawn struct {
	cluster int
	raw     []sums // with the weights as they are
	scaled  []sums // with weights whose mean is 1 in each lane
}

// sums are those of labels y and verdicts f that all estimates follow from.
type sums struct{ n, y, f, yf, ff, yy float64 }

func (s *sums) add(l Label, weight float64) {
	y, f := l.Value, l.Verdict
	s.n, s.y, s.f = s.n+weight, s.y+weight*y, s.f+weight*f
	s.yf, s.ff, s.yy = s.yf+weight*y*f, s.ff+weight*f*f, s.yy+weight*y*y
}

func (s sums) plus(o sums, times float64) sums {
	return sums{s.n + times*o.n, s.y + times*o.y, s.f + times*o.f, s.yf + times*o.yf, s.ff + times*o.ff, s.yy + times*o.yy}
}

// NewSample returns an empty sample of so many lanes.
func NewSample(lanes int) *Sample { return &Sample{lanes: lanes} }

// Judged enters the judge's verdict on an answer, labelled or not.
func (s *Sample) Judged(cluster, lane int, verdict float64) {
	if need := (cluster+1)*s.lanes - len(s.verdicts); need > 0 {
		s.verdicts = append(s.verdicts, make([]total, need)...)
	}
	t := &s.verdicts[cluster*s.lanes+lane]
	t.n, t.sum = t.n+1, t.sum+verdict
}

// Has reports whether the judge has judged any answer of a lane.
func (s *Sample) Has(lane int) bool {
	for at := lane; at < len(s.verdicts) && lane < s.lanes; at += s.lanes {
		if s.verdicts[at].n > 0 {
			return true
		}
	}
	return false
}

// With returns the same verdicts with other labels.
func (s *Sample) With(labels []Label) *Sample {
	return &Sample{lanes: s.lanes, verdicts: s.verdicts, labels: labels}
}

// drawn returns the labels by cluster.
func (s *Sample) drawn() []drawn {
	if s.clusters != nil || len(s.labels) == 0 {
		return s.clusters
	}
	s.lane = make([]int, s.lanes)
	weights := make([]float64, s.lanes)
	for _, l := range s.labels {
		s.lane[l.Lane]++
		weights[l.Lane] += l.Weight
	}
	byCluster := slices.Clone(s.labels)
	slices.SortStableFunc(byCluster, func(a, b Label) int { return cmp.Compare(a.Cluster, b.Cluster) })
	for i, l := range byCluster {
		if i == 0 || l.Cluster != byCluster[i-1].Cluster {
			s.clusters = append(s.clusters, drawn{l.Cluster, make([]sums, s.lanes), make([]sums, s.lanes)})
		}
		d := s.clusters[len(s.clusters)-1]
		d.raw[l.Lane].add(l, l.Weight)
		d.scaled[l.Lane].add(l, l.Weight*float64(s.lane[l.Lane])/weights[l.Lane])
	}
	return s.clusters
}

// labelledLanes returns the lanes with labels, and in how many clusters each has some.
func (s *Sample) labelledLanes() (lanes, clusters []int) {
	clusters = make([]int, s.lanes)
	for _, d := range s.drawn() {
		for l, sum := range d.raw {
			if sum.n > 0 {
				clusters[l]++
			}
		}
	}
	for l, n := range clusters {
		if n > 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes, clusters
}

// products are how labels and verdicts vary together within lanes.
type products struct{ yf, ff, yy, n float64 }

// within returns them for some lanes.
func within(all []sums, lanes []int) products {
	var p products
	for _, l := range lanes {
		s := all[l]
		if p.n += s.n; s.n <= nothing {
			continue
		}
		p.yf, p.ff, p.yy = p.yf+s.yf-s.y*s.f/s.n, p.ff+s.ff-s.f*s.f/s.n, p.yy+s.yy-s.y*s.y/s.n
	}
	return p
}

// nothing is a sum that is rounding alone, alike one of squares.
const (
	nothing = 1e-12
	alike   = 1e-9
)
