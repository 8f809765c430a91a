package inputs

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"assay/internal/assay"
)

// pick keeps the rows of the ranges. Rows with problems count too, so that numbers mean the same in a broken file.
func pick(up stream, ranges []Range) stream {
	if len(ranges) == 0 {
		return up
	}
	last := 0
	if !slices.ContainsFunc(ranges, func(r Range) bool { return r.To == 0 }) {
		last = slices.MaxFunc(ranges, func(a, b Range) int { return cmp.Compare(a.To, b.To) }).To
	}
	return func(yield func(assay.Item, error) bool) {
		n := 0
		for it, err := range up {
			n++
			wanted := slices.ContainsFunc(ranges, func(r Range) bool { return n >= r.From && (r.To == 0 || n <= r.To) })
			if (wanted || err != nil) && !yield(it, err) {
				return
			}
			if n == last {
				return
			}
		}
	}
}

// dress fills what the spec takes from fields: text, cluster and the right answer.
func dress(up stream, spec Spec) stream {
	if spec.Text == "" && spec.Cluster == "" && spec.Expect == "" && spec.ExpectField == "" {
		return up
	}
	return func(yield func(assay.Item, error) bool) {
		for it, err := range up {
			if err == nil {
				err = dressed(&it, spec)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

func dressed(it *assay.Item, spec Spec) error {
	var problems assay.Problems
	if spec.Text != "" {
		v, ok := lookup(it.Fields, spec.Text)
		if !ok {
			problems.Add(it.Place, "`text:` names the field that prompts call text", "item %s has no field %s", quote(it.ID),
				quote(spec.Text))
		}
		it.Fields["text"] = v
	}
	if spec.Cluster != "" {
		v, _ := find(*it, spec.Cluster)
		text, ok := textOf(v)
		if !ok || text == "" {
			problems.Add(it.Place, "every item needs a cluster, a text or a number", "item %s has no cluster in field %s", quote(it.ID),
				quote(spec.Cluster))
		}
		it.Cluster = text
	}
	if spec.Expect != "" {
		it.Expect = spec.Expect
	}
	if spec.ExpectField != "" {
		v, _ := lookup(it.Fields, spec.ExpectField)
		text, ok := textOf(v)
		if !ok && v != nil {
			problems.Add(it.Place, "a right answer is a text, a number or true or false", "item %s: field %s is %s", quote(it.ID),
				quote(spec.ExpectField), kindOf(v))
		}
		it.Expect = text
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

func where(up stream, keep func(assay.Item) (bool, error)) stream {
	if keep == nil {
		return up
	}
	return func(yield func(assay.Item, error) bool) {
		for it, err := range up {
			wanted := err != nil
			if err == nil {
				if wanted, err = keep(it); err != nil {
					err = problem(it.Place, "", "`where` on item %s: %v", quote(it.ID), err)
				}
			}
			if (wanted || err != nil) && !yield(it, err) {
				return
			}
		}
	}
}

// sample reads twice: once for the largest hash that is still among the n smallest, once for the items.
func sample(up stream, s *Sample) stream {
	if s == nil {
		return up
	}
	return func(yield func(assay.Item, error) bool) {
		var lots lottery
		for it, err := range up {
			if err == nil {
				lots.draw(lotOf(s.Seed, it.ID), s.N)
			}
		}
		for it, err := range up {
			if (err != nil || lots.won(lotOf(s.Seed, it.ID))) && !yield(it, err) {
				return
			}
		}
	}
}

// lot is an item's place in the draw. It is the same on every machine and in every version.
type lot [16]byte

func lotOf(seed uint64, id string) lot {
	buf := make([]byte, 0, 128)
	buf = binary.BigEndian.AppendUint64(buf, seed)
	sum := sha256.Sum256(append(buf, id...))
	return lot(sum[:16])
}

func (a lot) compare(b lot) int { return slices.Compare(a[:], b[:]) }

// lottery is a heap of the smallest lots, the largest of them on top.
type lottery []lot

func (l *lottery) draw(x lot, n int) {
	h := *l
	if len(h) < n {
		h = append(h, x)
		for i := len(h) - 1; i > 0; {
			parent := (i - 1) / 2
			if h[parent].compare(h[i]) >= 0 {
				break
			}
			h[parent], h[i] = h[i], h[parent]
			i = parent
		}
		*l = h
		return
	}
	if n == 0 || x.compare(h[0]) >= 0 {
		return
	}
	h[0] = x
	for i := 0; ; {
		big := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(h) && h[child].compare(h[big]) > 0 {
				big = child
			}
		}
		if big == i {
			return
		}
		h[i], h[big] = h[big], h[i]
		i = big
	}
}

func (l lottery) won(x lot) bool { return len(l) > 0 && x.compare(l[0]) <= 0 }

func limit(up stream, n int) stream {
	if n <= 0 {
		return up
	}
	return func(yield func(assay.Item, error) bool) {
		left := n
		for it, err := range up {
			if !yield(it, err) {
				return
			}
			if err == nil {
				left--
			}
			if left == 0 {
				return
			}
		}
	}
}
