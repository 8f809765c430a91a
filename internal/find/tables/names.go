package tables

import (
	"hash/maphash"
	"slices"
)

// Names gives each distinct text a number, from 0 in the order of their first appearance. A text that is known already
// costs no allocation.
type Names struct {
	seed  maphash.Seed
	list  []string
	slots []uint64 // upper half of the hash, then number plus 1; 0 is free
}

// NewNames knows no text yet.
func NewNames() *Names { return &Names{seed: maphash.MakeSeed(), slots: make([]uint64, 256)} }

// ID returns the number of a text.
func (n *Names) ID(text []byte) uint32 {
	h := maphash.Bytes(n.seed, text)
	mask := uint64(len(n.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		slot := n.slots[at]
		if slot == 0 {
			return n.add(h, at, string(text))
		}
		if slot>>32 == h>>32 {
			if id := uint32(slot) - 1; n.list[id] == string(text) {
				return id
			}
		}
	}
}

func (n *Names) add(h, at uint64, text string) uint32 {
	n.list = append(n.list, text)
	n.slots[at] = h>>32<<32 | uint64(len(n.list))
	if 2*len(n.list) > len(n.slots) {
		n.grow()
	}
	return uint32(len(n.list) - 1)
}

func (n *Names) grow() {
	n.slots = make([]uint64, 2*len(n.slots))
	mask := uint64(len(n.slots) - 1)
	for id, text := range n.list {
		h := maphash.String(n.seed, text)
		at := h & mask
		for n.slots[at] != 0 {
			at = (at + 1) & mask
		}
		n.slots[at] = h>>32<<32 | uint64(id+1)
	}
}

// Len returns how many texts there are.
func (n *Names) Len() int { return len(n.list) }

// List returns the texts by number.
func (n *Names) List() []string { return slices.Clip(n.list) }
