package study

import (
	"strconv"
	"strings"

	"assay/internal/study/decode"
)

// Share is a part of a whole, written 0.3 or 30%.
type Share float64

// Read takes a number, or a percentage.
func (s *Share) Read(d *decode.Decoder, n *decode.Node) {
	if share, ok := percent(n); ok {
		*s = Share(share)
		return
	}
	d.Into(n, (*float64)(s))
}

// Portion is how many of a whole: a count, or a share such as 20%.
type Portion struct {
	N     int
	Share float64 // 0: N counts
}

// Read takes a count, or a percentage.
func (p *Portion) Read(d *decode.Decoder, n *decode.Node) {
	share, ok := percent(n)
	switch {
	case !ok:
		d.Into(n, &p.N)
	case share <= 0 || share > 1:
		d.Wrong(n, "a count, or a share from above 0% to 100%")
		p.N = 1
	default:
		p.Share = share
	}
}

// Given reports whether anything was written.
func (p Portion) Given() bool { return p.N > 0 || p.Share > 0 }

// Of returns how many of so many it is, at least one.
func (p Portion) Of(all int64) int64 {
	if p.Share == 0 {
		return int64(p.N)
	}
	return max(1, int64(p.Share*float64(all)+0.5))
}

// least returns what a check of a count looks at: a share was checked when it was read.
func (p Portion) least() int {
	if p.Share > 0 {
		return 1
	}
	return p.N
}

func percent(n *decode.Node) (float64, bool) {
	number, ok := strings.CutSuffix(strings.TrimSpace(n.Text), "%")
	if n.Kind != decode.Text || !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	return x / 100, err == nil
}
