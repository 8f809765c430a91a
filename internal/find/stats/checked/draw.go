package checked

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// LanesOfItem is how many lanes of an item are labelled at most.
const LanesOfItem = 4

// LabelsOfItem returns how many labels an item gets that was drawn, of so many lanes: one each, or one for every two.
func LabelsOfItem(lanes int, pairs bool) int {
	if lanes = min(lanes, LanesOfItem); pairs {
		return lanes * (lanes - 1) / 2
	}
	return lanes
}

// Frame is the items that people may be asked about, in strata by what the judge says of their lanes. It is written down before the
// first label: the probability of a label follows from it and from how many items were labelled. Items that come later have strata of
// their own.
type Frame struct {
	Strata []int // of each item
	Size   []int // items of each stratum

	seed    uint64
	grown   []int // after how many dealt items others came
	ordered [][]int
}

// The strata.
const (
	strataNone  = iota // the judge says yes of no lane; of scores the lowest third
	strataMixed        // of some; the middle third
	strataAll          // of all; the highest third
	strata
)

// NewFrame returns a frame without items.
func NewFrame(seed uint64) *Frame { return &Frame{seed: seed} }

// Add adds items, by names that put them into an order and by their strata, as Stratify has them. Further ones came after so many had
// been dealt.
func (f *Frame) Add(names []string, own []int, dealt int) {
	if len(f.Size) > 0 {
		f.grown = append(f.grown, dealt)
	}
	before, first := len(f.Strata), len(f.Size)
	f.Size, f.ordered = append(f.Size, make([]int, strata)...), append(f.ordered, make([][]int, strata)...)
	rank := make([]uint64, len(names))
	for i, h := range own {
		rank[i] = Hash(f.seed, names[i])
		f.Strata = append(f.Strata, first+h)
		f.Size[first+h]++
		f.ordered[first+h] = append(f.ordered[first+h], before+i)
	}
	for _, list := range f.ordered[first:] {
		slices.SortFunc(list, func(a, b int) int {
			a, b = a-before, b-before
			return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(names[a], names[b]))
		})
	}
}

// Stratify returns the strata of items by the mean of the judge's verdicts on their lanes.
func Stratify(means []float64, yesNo bool) []int {
	out := make([]int, len(means))
	if yesNo {
		for i, m := range means {
			switch out[i] = strataMixed; {
			case m <= alike:
				out[i] = strataNone
			case m >= 1-alike:
				out[i] = strataAll
			}
		}
		return join(out)
	}
	order := make([]int, len(means))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(means[a], means[b]) })
	for place, i := range order {
		out[i] = min(place*strata/len(order), strataAll)
	}
	return join(out)
}

// join puts strata with less than a tenth of all items into others.
func join(of []int) []int {
	for _, small := range []int{strataNone, strataAll, strataMixed} {
		var size [strata]int
		for _, h := range of {
			size[h]++
		}
		if 10*size[small] >= len(of) {
			continue
		}
		to := strataMixed
		if small == strataMixed {
			if to = strataNone; size[strataAll] > size[strataNone] {
				to = strataAll
			}
		}
		for i, h := range of {
			if h == small {
				of[i] = to
			}
		}
	}
	return of
}

// Order returns the first n items in the order in which they are dealt: the next one comes from the stratum that is furthest behind its
// part, so that every beginning is a sample in proportion.
func (f *Frame) Order(n int) []int {
	var out []int
	dealt := make([]int, len(f.Size))
	for range min(n, len(f.Strata)) {
		there := strata
		for _, after := range f.grown {
			if len(out) >= after {
				there += strata
			}
		}
		h := Next(f.Size[:there], dealt)
		if h < 0 {
			h = Next(f.Size, dealt)
		}
		out = append(out, f.ordered[h][dealt[h]])
		dealt[h]++
	}
	return out
}

// Next returns the stratum that the next item comes from, of strata with so many items of which so many were dealt; -1: none is left.
func Next(size, dealt []int) int {
	best, least := -1, 0.0
	for h, n := range size {
		if dealt[h] >= n {
			continue
		}
		if behind := (float64(dealt[h]) + 0.5) / float64(n); best < 0 || behind < least {
			best, least = h, behind
		}
	}
	return best
}

// Weights returns 1/probability of each item that is labelled, given which are; 0 for the others.
func (f *Frame) Weights(labelled []int) []float64 {
	done := make([]int, len(f.Size))
	for _, i := range labelled {
		done[f.Strata[i]]++
	}
	out := make([]float64, len(f.Strata))
	for _, i := range labelled {
		h := f.Strata[i]
		out[i] = float64(f.Size[h]) / float64(done[h])
	}
	return out
}

// LanesOf returns the lanes of an item that are labelled: all, or some that are drawn alike.
func LanesOf(seed uint64, item string, lanes int) []int {
	out := make([]int, lanes)
	for i := range out {
		out[i] = i
	}
	if lanes <= LanesOfItem {
		return out
	}
	rank := func(lane int) uint64 { return Hash(seed^uint64(lane+1)*0x9e3779b97f4a7c15, item) }
	slices.SortFunc(out, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	out = out[:LanesOfItem]
	slices.Sort(out)
	return out
}

// Hash puts things into an order that everybody shares.
func Hash(seed uint64, text string) uint64 {
	h := fnv.New64a()
	for i := range 8 {
		h.Write([]byte{byte(seed >> (8 * i))})
	}
	h.Write([]byte(text))
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
