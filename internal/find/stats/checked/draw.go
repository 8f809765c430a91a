package checked

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// LanesOfItem is how many lanes of an item are labelled at most.
const LanesOfItem = 4

// Frame is the items that people may be asked about, in strata by what the judge says of their lanes. It is written down before the
// first label: the probability of a label follows from it and from how many items were labelled. Items that come later have strata of
// their own.
type Frame struct {
	Seed   uint64
	Strata []int // of each item
	Size   []int // items of each stratum
	Grown  []int // after how many dealt items others came

	ordered [][]int
}

// The strata.
const (
	strataNone  = iota // the judge says yes of no lane; of scores the lowest third
	strataMixed        // of some; the middle third
	strataAll          // of all; the highest third
	strata
)

// NewFrame returns the frame of items, each with the judge's verdicts on its lanes and a name that puts it into an order.
func NewFrame(seed uint64, yesNo bool, verdicts [][]float64, names []string) *Frame {
	f := &Frame{Seed: seed}
	f.add(yesNo, verdicts, names)
	return f
}

// Grow adds items that came after so many had been dealt.
func (f *Frame) Grow(yesNo bool, verdicts [][]float64, names []string, dealt int) {
	f.Grown = append(f.Grown, dealt)
	f.add(yesNo, verdicts, names)
}

func (f *Frame) add(yesNo bool, verdicts [][]float64, names []string) {
	own := join(stratify(verdicts, yesNo))
	before, first := len(f.Strata), len(f.Size)
	f.Size, f.ordered = append(f.Size, make([]int, strata)...), append(f.ordered, make([][]int, strata)...)
	rank := make([]uint64, len(names))
	for i, h := range own {
		rank[i] = hash(f.Seed, names[i])
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

// stratify returns the stratum of each item by the judge's verdicts on its lanes.
func stratify(verdicts [][]float64, yesNo bool) []int {
	out, mean := make([]int, len(verdicts)), make([]float64, len(verdicts))
	for i, item := range verdicts {
		for _, v := range item {
			mean[i] += v / float64(len(item))
		}
	}
	if yesNo {
		for i, item := range verdicts {
			switch out[i] = strataMixed; {
			case !slices.ContainsFunc(item, func(v float64) bool { return v != 0 }):
				out[i] = strataNone
			case !slices.ContainsFunc(item, func(v float64) bool { return v != 1 }):
				out[i] = strataAll
			}
		}
		return out
	}
	order := make([]int, len(verdicts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(mean[a], mean[b]) })
	for place, i := range order {
		out[i] = min(place*strata/len(order), strataAll)
	}
	return out
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
		for _, after := range f.Grown {
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
	rank := func(lane int) uint64 { return hash(seed^uint64(lane+1)*0x9e3779b97f4a7c15, item) }
	slices.SortFunc(out, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	out = out[:LanesOfItem]
	slices.Sort(out)
	return out
}

// hash puts things into an order that everybody shares.
func hash(seed uint64, text string) uint64 {
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
