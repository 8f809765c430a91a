package plan

import (
	"assay/internal/study"
)

// Segment is a cut of requests that travel together.
type Segment struct {
	Requests int   `json:"requests"`
	Bytes    int64 `json:"bytes"`
}

// Bounds are the limits a cut keeps; 0 means none.
type Bounds struct {
	Requests int   // requests a segment
	Bytes    int64 // bytes a segment, frame and separators included
	Frame    int64 // bytes in front of the first line and after the last
	Between  int64 // bytes between two lines
	Size     int   // the study's `batch: {size}`
	Segments int   // the study's `batch: {segments}`
}

func (b Bounds) with(batch study.Batch) Bounds {
	b.Size, b.Segments = batch.Size, batch.Segments
	return b
}

// Cut divides lines of the given sizes, in order, into segments within the bounds. With `segments: n` the pieces differ
// by at most one request, the larger ones first; a piece over the provider's limits is cut again.
func Cut(sizes []int32, b Bounds) []Segment {
	if b.Segments <= 0 {
		return cutWithin(nil, sizes, b)
	}
	var out []Segment
	share, extra := len(sizes)/b.Segments, len(sizes)%b.Segments
	for i := range b.Segments {
		n := share
		if i < extra {
			n++
		}
		out = cutWithin(out, sizes[:n], b)
		sizes = sizes[n:]
	}
	return out
}

func cutWithin(out []Segment, sizes []int32, b Bounds) []Segment {
	most := b.Requests
	if b.Size > 0 && (most == 0 || b.Size < most) {
		most = b.Size
	}
	var s Segment
	for _, size := range sizes {
		add := int64(size) + b.Between
		if s.Requests > 0 && (most > 0 && s.Requests == most || b.Bytes > 0 && s.Bytes+add > b.Bytes) {
			out = append(out, s)
			s = Segment{}
		}
		if s.Requests == 0 {
			s.Bytes, add = b.Frame, int64(size)
		}
		s.Requests++
		s.Bytes += add
	}
	if s.Requests > 0 {
		out = append(out, s)
	}
	return out
}
