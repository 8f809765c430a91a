package batchfile

import (
	"hash/maphash"
	"io"
	"math/bits"
	"strconv"
)

// duplicates finds ids that occur twice without holding them: eight bytes and a little more for each, and a second reading for
// those whose hashes met.
type duplicates struct {
	seed  maphash.Seed
	slots []uint64
	used  int
	met   map[uint64]bool
}

// maxMet bounds what the second reading looks for.
const maxMet = 1000

func newDuplicates() *duplicates {
	return &duplicates{seed: maphash.MakeSeed(), slots: make([]uint64, 1024), met: map[uint64]bool{}}
}

func (t *duplicates) hash(id string) uint64 { return max(1, maphash.String(t.seed, id)) } // 0 marks a free slot

func (t *duplicates) see(id string) {
	h := t.hash(id)
	if t.used*4 >= len(t.slots)*3 {
		t.grow()
	}
	i := t.find(h)
	if t.slots[i] == h {
		if len(t.met) < maxMet {
			t.met[h] = true
		}
		return
	}
	t.slots[i] = h
	t.used++
}

// find returns the slot that holds a hash, or the free one where it belongs.
func (t *duplicates) find(h uint64) int {
	at, _ := bits.Mul64(h, uint64(len(t.slots)))
	i := int(at)
	for t.slots[i] != 0 && t.slots[i] != h {
		if i++; i == len(t.slots) {
			i = 0
		}
	}
	return i
}

func (t *duplicates) grow() {
	old := t.slots
	t.slots = make([]uint64, len(old)+len(old)/2)
	for _, h := range old {
		if h != 0 {
			t.slots[t.find(h)] = h
		}
	}
}

// report reads the file again where hashes met, and reports which ids are equal and where.
func (t *duplicates) report(r io.Reader, f *findings) error {
	first := map[string]int{}
	for l, err := range lines(r) {
		if err != nil {
			return err
		}
		e, flaw := read(l)
		if flaw != nil || e.ID == "" || !t.met[t.hash(e.ID)] {
			continue
		}
		if at, ok := first[e.ID]; ok {
			f.add(e.Line, "ids must differ", "the id "+strconv.Quote(e.ID)+" also stands on line "+strconv.Itoa(at))
			continue
		}
		first[e.ID] = e.Line
	}
	return nil
}
