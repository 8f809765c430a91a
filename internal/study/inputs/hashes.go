package inputs

import "math/bits"

// hashes is a set of 64-bit hashes that takes at most 16 bytes for each. It is cut into parts that grow one by one, so
// that growing never holds two copies of the whole.
type hashes struct {
	parts [256]part
	zero  bool // 0 marks a free slot, so the hash 0 is kept apart
}

type part struct {
	slots []uint64
	used  int
}

// add reports whether the hash was new.
func (h *hashes) add(x uint64) bool {
	if x == 0 {
		fresh := !h.zero
		h.zero = true
		return fresh
	}
	p := &h.parts[x&0xFF]
	if p.used*5 >= len(p.slots)*4 {
		p.grow()
	}
	i := p.find(x)
	if p.slots[i] == x {
		return false
	}
	p.slots[i] = x
	p.used++
	return true
}

func (h *hashes) has(x uint64) bool {
	if x == 0 {
		return h.zero
	}
	p := &h.parts[x&0xFF]
	return len(p.slots) > 0 && p.slots[p.find(x)] == x
}

// find returns the slot that holds x, or the free one where it belongs. The upper bits choose the slot, as the lower
// ones chose the part.
func (p *part) find(x uint64) int {
	at, _ := bits.Mul64(x, uint64(len(p.slots)))
	i := int(at)
	for p.slots[i] != 0 && p.slots[i] != x {
		if i++; i == len(p.slots) {
			i = 0
		}
	}
	return i
}

func (p *part) grow() {
	old := p.slots
	p.slots = make([]uint64, max(8, len(old)+len(old)/2))
	for _, x := range old {
		if x != 0 {
			p.slots[p.find(x)] = x
		}
	}
}
