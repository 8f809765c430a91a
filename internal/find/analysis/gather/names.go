package gather

import (
	"hash/maphash"
	"slices"
	"strings"

	"assay/internal/find/analysis"
)

// Names gives texts dense numbers. Items and clusters have one list of names for all analyses: it may be millions long, and
// the texts lie end to end.
type Names struct {
	blocks []string // texts of block numbers each, end to end
	last   strings.Builder
	ends   []uint32 // of each text within its block
	slots  []uint32 // open addressing by hash: number plus 1, 0 for none; none at all while it rests
	seed   maphash.Seed

	ranks [orders][]uint32 // places by each order; of some of the texts, if more came since
}

// The orders of texts.
const (
	byText = iota
	byNature
	byLength // as the length of each, then it, is written
	orders
)

// block is how many texts lie together. A block has less than 4 GiB of them.
const block = 1024

// Len returns how many names there are.
func (n *Names) Len() int { return len(n.ends) }

// Text returns the text of a number.
func (n *Names) Text(i uint32) string {
	from := uint32(0)
	if i%block > 0 {
		from = n.ends[i-1]
	}
	if b := int(i / block); b < len(n.blocks) {
		return n.blocks[b][from:n.ends[i]]
	}
	return n.last.String()[from:n.ends[i]]
}

// Find returns the number of a text that may have none.
func (n *Names) Find(text string) (uint32, bool) {
	if n.wake(); len(n.slots) == 0 {
		return 0, false
	}
	i := n.slots[n.slot(text)]
	return i - 1, i > 0
}

// Of returns the number of a text, a new one where it has none.
func (n *Names) Of(text string) uint32 {
	if i, ok := n.Find(text); ok {
		return i
	}
	return n.add(text)
}

// OfBytes returns the number of a text in bytes.
func (n *Names) OfBytes(text []byte) uint32 {
	i, _ := n.Within(text, 1<<31)
	return i
}

// Within returns the number of a text in bytes, where it has one or there are fewer than so many.
func (n *Names) Within(text []byte, most int) (uint32, bool) {
	if n.wake(); len(n.slots) > 0 {
		if i := n.slots[n.slotOfBytes(text)]; i > 0 {
			return i - 1, true
		}
	}
	if n.Len() >= most {
		return 0, false
	}
	return n.add(string(text)), true
}

// add enters a text that is not there.
func (n *Names) add(text string) uint32 {
	if 2*(n.Len()+1) > len(n.slots) {
		n.rehash(max(8, 2*len(n.slots)))
	}
	i := uint32(n.Len())
	n.last.WriteString(text)
	n.ends = append(n.ends, uint32(n.last.Len()))
	if n.Len()%block == 0 {
		n.blocks = append(n.blocks, n.last.String())
		n.last = strings.Builder{}
	}
	n.slots[n.slot(text)] = i + 1
	return i
}

// Rest gives back the memory that only looking texts up takes, until one is looked up again.
func (n *Names) Rest() { n.slots = nil }

// wake ends a rest.
func (n *Names) wake() {
	if len(n.slots) > 0 || n.Len() == 0 {
		return
	}
	slots := 8
	for 2*n.Len() > slots {
		slots *= 2
	}
	n.rehash(slots)
}

// rehash makes a table of slots, a power of two, and enters all names.
func (n *Names) rehash(slots int) {
	if n.slots == nil {
		n.seed = maphash.MakeSeed()
	}
	n.slots = make([]uint32, slots)
	for i := range uint32(n.Len()) {
		at := n.hashed(maphash.String(n.seed, n.Text(i)))
		for n.slots[at] > 0 {
			at = n.next(at)
		}
		n.slots[at] = i + 1
	}
}

// slot returns the slot of a text: its own, or the empty one where it belongs.
func (n *Names) slot(text string) int {
	at := n.hashed(maphash.String(n.seed, text))
	for n.slots[at] > 0 && n.Text(n.slots[at]-1) != text {
		at = n.next(at)
	}
	return at
}

// slotOfBytes is slot for a text in bytes.
func (n *Names) slotOfBytes(text []byte) int {
	at := n.hashed(maphash.Bytes(n.seed, text))
	for n.slots[at] > 0 && n.Text(n.slots[at]-1) != string(text) {
		at = n.next(at)
	}
	return at
}

func (n *Names) hashed(h uint64) int { return int(h & uint64(len(n.slots)-1)) }

func (n *Names) next(at int) int { return (at + 1) & (len(n.slots) - 1) }

// Sorted returns the numbers in the natural order of their texts.
func (n *Names) Sorted() []uint32 {
	sizes := make([]float64, n.Len()) // of those that are numbers
	for i := range sizes {
		sizes[i] = analysis.SizeOf(n.Text(uint32(i)))
	}
	return n.Ordered(func(a, b uint32) int {
		return analysis.Sized(n.Text(a), sizes[a]).Compare(analysis.Sized(n.Text(b), sizes[b]))
	})
}

// ByText returns the places of all numbers in the order of their texts, to be read alone.
func (n *Names) ByText() []uint32 {
	return n.placed(byText, func() []uint32 {
		return n.Ordered(func(a, b uint32) int { return strings.Compare(n.Text(a), n.Text(b)) })
	})
}

// ByNature is ByText in the natural order.
func (n *Names) ByNature() []uint32 { return n.placed(byNature, n.Sorted) }

// ByLength is ByText in the order of analysis.CompareTexts.
func (n *Names) ByLength() []uint32 {
	return n.placed(byLength, func() []uint32 {
		return n.Ordered(func(a, b uint32) int { return analysis.CompareTexts(n.Text(a), n.Text(b)) })
	})
}

// placed returns the places by an order, which is computed once for all who ask.
func (n *Names) placed(order int, sorted func() []uint32) []uint32 {
	if len(n.ranks[order]) < n.Len() {
		n.ranks[order] = Ranks(sorted())
	}
	return n.ranks[order]
}

// Ordered returns the numbers in an order.
func (n *Names) Ordered(compare func(a, b uint32) int) []uint32 {
	out := make([]uint32, n.Len())
	for i := range out {
		out[i] = uint32(i)
	}
	slices.SortFunc(out, compare)
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
