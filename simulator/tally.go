package simulator

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
)

// tally counts how often something was asked, on disk: an open hash table of fixed slots in a file that doubles when it is
// three quarters full. A million different questions cost no memory.
type tally struct {
	mu    sync.Mutex
	spill *spill
	f     *os.File
	slots uint64
	used  uint64
}

// asked is a counted thing: which vendor (its place in the list of vendors, from 1) and the digest of the body.
type asked struct {
	vendor uint32
	digest [16]byte
}

const slotSize = 24 // digest, vendor, count

func newTally(sp *spill) (*tally, error) {
	t := &tally{spill: sp}
	return t, t.grow(1024)
}

func (t *tally) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.f.Close()
}

// add counts a once more and tells how often it had been counted before.
func (t *tally) add(a asked) (uint32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.used*4 >= t.slots*3 {
		if err := t.grow(t.slots * 2); err != nil {
			return 0, err
		}
	}
	at, before, err := t.find(a)
	if err != nil {
		return 0, err
	}
	if before == 0 {
		t.used++
	}
	return before, t.put(at, a, before+1)
}

// each calls f with everything that was counted, in no order.
func (t *tally) each(f func(a asked, count uint32) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.walk(t.f, t.slots, f)
}

func (t *tally) walk(from *os.File, slots uint64, f func(asked, uint32) error) error {
	const chunk = 4096
	buf := make([]byte, chunk*slotSize)
	for at := uint64(0); at < slots; at += chunk {
		part := buf[:min(chunk, slots-at)*slotSize]
		if _, err := from.ReadAt(part, int64(at*slotSize)); err != nil {
			return fmt.Errorf("read the live tally: %w", err)
		}
		for ; len(part) > 0; part = part[slotSize:] {
			if a, n := readSlot(part); n > 0 {
				if err := f(a, n); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// find tells the slot of a, or the free one where it belongs, and the count in it.
func (t *tally) find(a asked) (uint64, uint32, error) {
	var buf [slotSize]byte
	at := mix(binary.LittleEndian.Uint64(a.digest[:])^uint64(a.vendor)) & (t.slots - 1)
	for {
		if _, err := t.f.ReadAt(buf[:], int64(at*slotSize)); err != nil {
			return 0, 0, fmt.Errorf("read the live tally: %w", err)
		}
		if b, n := readSlot(buf[:]); n == 0 || a == b {
			return at, n, nil
		}
		at = (at + 1) & (t.slots - 1)
	}
}

func (t *tally) put(at uint64, a asked, count uint32) error {
	var buf [slotSize]byte
	copy(buf[:], a.digest[:])
	binary.LittleEndian.PutUint32(buf[16:], a.vendor)
	binary.LittleEndian.PutUint32(buf[20:], count)
	_, err := t.f.WriteAt(buf[:], int64(at*slotSize))
	return err
}

func readSlot(b []byte) (asked, uint32) {
	return asked{digest: [16]byte(b[:16]), vendor: binary.LittleEndian.Uint32(b[16:])}, binary.LittleEndian.Uint32(b[20:])
}

// grow moves everything into a table of that many slots, a power of two.
func (t *tally) grow(slots uint64) error {
	f, err := os.OpenFile(t.spill.path("tally"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("make the live tally: %w", err)
	}
	if err := f.Truncate(int64(slots * slotSize)); err != nil {
		return errors.Join(err, f.Close())
	}
	old, oldSlots := t.f, t.slots
	t.f, t.slots = f, slots
	if old == nil {
		return nil
	}
	err = t.walk(old, oldSlots, func(a asked, n uint32) error {
		at, _, err := t.find(a)
		if err != nil {
			return err
		}
		return t.put(at, a, n)
	})
	return errors.Join(err, old.Close(), os.Remove(old.Name()))
}
