package plan

import (
	"assay/internal/assay"
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

// Cut divides lines, in order, into segments within the bounds, as their sizes become known. With `segments: n` the pieces
// differ by at most one request, the larger ones first; a piece over the provider's limits is cut again.
type Cut struct {
	bounds Bounds
	most   int     // requests a segment; 0: any number
	sizes  []int32 // with `segments: n`: a piece's size follows from how many there are
	open   Segment
	done   []Segment
}

// Cut begins to cut the requests of a lane; live they stay in one piece.
func (p *Path) Cut() *Cut {
	if p.Mode != assay.ModeBatch {
		return NewCut(Bounds{})
	}
	return NewCut(p.Bounds)
}

// NewCut begins to cut.
func NewCut(b Bounds) *Cut {
	c := &Cut{bounds: b, most: b.Requests}
	if b.Size > 0 && (c.most == 0 || b.Size < c.most) {
		c.most = b.Size
	}
	return c
}

// Add cuts the next line, which goes out so many times.
func (c *Cut) Add(size int32, times int64) {
	for range times {
		if c.bounds.Segments > 0 {
			c.sizes = append(c.sizes, size)
		} else {
			c.add(size)
		}
	}
}

func (c *Cut) add(size int32) {
	add := int64(size) + c.bounds.Between
	if c.most > 0 && c.open.Requests == c.most || c.bounds.Bytes > 0 && c.open.Bytes+add > c.bounds.Bytes {
		c.end()
	}
	if c.open.Requests == 0 {
		c.open.Bytes, add = c.bounds.Frame, int64(size)
	}
	c.open.Requests++
	c.open.Bytes += add
}

// end ends a segment, unless it is empty.
func (c *Cut) end() {
	if c.open.Requests > 0 {
		c.done = append(c.done, c.open)
	}
	c.open = Segment{}
}

// Segments returns all segments. Nothing is added any more.
func (c *Cut) Segments() []Segment {
	if n := c.bounds.Segments; n > 0 {
		share, extra := len(c.sizes)/n, len(c.sizes)%n
		for i := range n {
			k := share
			if i < extra {
				k++
			}
			for _, size := range c.sizes[:k] {
				c.add(size)
			}
			c.end()
			c.sizes = c.sizes[k:]
		}
	}
	c.end()
	return c.done
}
