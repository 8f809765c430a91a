package analysis

import (
	"cmp"
	"math"
	"sort"
	"strconv"
	"strings"
)

// names gives texts dense numbers. Items and clusters have one list of names for all analyses.
type names struct {
	index map[string]uint32
	list  []string
	ranks []uint32 // places in the order of the texts; of some of them, if more came since
}

func (n *names) of(text string) uint32 {
	if i, ok := n.index[text]; ok {
		return i
	}
	return n.add(strings.Clone(text)) // it may be a part of a longer one, which is not to be kept
}

func (n *names) ofBytes(text []byte) uint32 {
	if i, ok := n.index[string(text)]; ok {
		return i
	}
	return n.add(string(text))
}

func (n *names) add(text string) uint32 {
	if n.index == nil {
		n.index = map[string]uint32{}
	}
	i := uint32(len(n.list))
	n.index[text] = i
	n.list = append(n.list, text)
	return i
}

// sorted are the numbers in the natural order of their texts.
func (n *names) sorted() []uint32 {
	keys := make([]sortKey, len(n.list))
	for i, text := range n.list {
		keys[i] = keyOf(text)
	}
	return n.ordered(func(a, b uint32) int { return keys[a].compare(keys[b]) })
}

// byText are the places of all numbers in the order of their texts, to be read alone.
func (n *names) byText() []uint32 {
	if len(n.ranks) < len(n.list) {
		n.ranks = ranks(n.ordered(func(a, b uint32) int { return cmp.Compare(n.list[a], n.list[b]) }))
	}
	return n.ranks
}

// ordered are the numbers in an order.
func (n *names) ordered(compare func(a, b uint32) int) []uint32 {
	out := make([]uint32, len(n.list))
	for i := range out {
		out[i] = uint32(i)
	}
	sort.Slice(out, func(i, j int) bool { return compare(out[i], out[j]) < 0 })
	return out
}

// ranks are the places of numbers that stand in an order.
func ranks(order []uint32) []uint32 {
	out := make([]uint32, len(order))
	for place, i := range order {
		out[i] = uint32(place)
	}
	return out
}

// Natural orders numbers by size, before everything else, which is ordered as text.
func Natural(a, b string) int { return keyOf(a).compare(keyOf(b)) }

// sortKey is a text, and the number that it is.
type sortKey struct {
	text   string
	size   float64
	number bool
}

func keyOf(text string) sortKey {
	x, err := strconv.ParseFloat(text, 64)
	return sortKey{text, x, err == nil && !math.IsNaN(x)}
}

func (k sortKey) compare(l sortKey) int {
	switch {
	case k.number && l.number:
		return cmp.Or(cmp.Compare(k.size, l.size), cmp.Compare(k.text, l.text))
	case k.number:
		return -1
	case l.number:
		return 1
	}
	return cmp.Compare(k.text, l.text)
}
