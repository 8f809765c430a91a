package stage

// sizes are those of segments whose jobs carry no stamp: each is a little smaller than the one before, so that their
// jobs can be distinguished by size, and a lost reply leaves the others alone. Where sizes coincide all the same, only
// the results show which job is whose.
type sizes struct {
	used map[int64]int // how many segments of each size have no job yet
	cap  int64         // so many filled a segment by their bytes; 0: none did
}

// next returns how many requests the next segment may have, of most that are allowed; 0: any number.
func (s *sizes) next(most int64) int64 {
	if s.cap > 0 && (most == 0 || s.cap < most) {
		most = s.cap
	}
	best := most
	for n := most; n > 0 && n >= most-spread(most) && s.used[best] > 0; n-- {
		if s.used[n] < s.used[best] {
			best = n
		}
	}
	return best
}

// spread returns how much smaller a segment may be: enough for sixteen of them, and not so much that there are many more.
func spread(most int64) int64 { return max(most/10, min(most/2, 15)) }

// full notes that so many requests filled a segment by their bytes. The next one is to have fewer.
func (s *sizes) full(n int64) {
	if s != nil {
		s.cap = n
	}
}

// take notes the size of a segment.
func (s *sizes) take(n int64) {
	if s != nil {
		s.used[n]++
	}
}
