package gather

import (
	"cmp"
	"sort"
	"strings"

	"assay/internal/find/analysis"
)

// Names gives texts dense numbers. Items and clusters have one list of names for all analyses.
type Names struct {
	Index map[string]uint32
	List  []string
	ranks []uint32 // places in the order of the texts; of some of them, if more came since
}

// Of returns the number of a text, a new one where it has none.
func (n *Names) Of(text string) uint32 {
	if i, ok := n.Index[text]; ok {
		return i
	}
	return n.add(strings.Clone(text)) // it may be a part of a longer one, which is not to be kept
}

// OfBytes returns the number of a text in bytes.
func (n *Names) OfBytes(text []byte) uint32 {
	if i, ok := n.Index[string(text)]; ok {
		return i
	}
	return n.add(string(text))
}

// Within returns the number of a text in bytes, where it has one or there are fewer than so many.
func (n *Names) Within(text []byte, most int) (uint32, bool) {
	if i, ok := n.Index[string(text)]; ok {
		return i, true
	}
	if len(n.List) >= most {
		return 0, false
	}
	return n.add(string(text)), true
}

func (n *Names) add(text string) uint32 {
	if n.Index == nil {
		n.Index = map[string]uint32{}
	}
	i := uint32(len(n.List))
	n.Index[text] = i
	n.List = append(n.List, text)
	return i
}

// Sorted returns the numbers in the natural order of their texts.
func (n *Names) Sorted() []uint32 {
	keys := make([]analysis.SortKey, len(n.List))
	for i, text := range n.List {
		keys[i] = analysis.KeyOf(text)
	}
	return n.Ordered(func(a, b uint32) int { return keys[a].Compare(keys[b]) })
}

// ByText returns the places of all numbers in the order of their texts, to be read alone.
func (n *Names) ByText() []uint32 {
	if len(n.ranks) < len(n.List) {
		n.ranks = Ranks(n.Ordered(func(a, b uint32) int { return cmp.Compare(n.List[a], n.List[b]) }))
	}
	return n.ranks
}

// Ordered returns the numbers in an order.
func (n *Names) Ordered(compare func(a, b uint32) int) []uint32 {
	out := make([]uint32, len(n.List))
	for i := range out {
		out[i] = uint32(i)
	}
	sort.Slice(out, func(i, j int) bool { return compare(out[i], out[j]) < 0 })
	return out
}

// Ranks returns the places of ordered numbers.
func Ranks(order []uint32) []uint32 {
	out := make([]uint32, len(order))
	for place, i := range order {
		out[i] = uint32(place)
	}
	return out
}
