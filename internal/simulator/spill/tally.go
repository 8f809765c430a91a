package spill

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"

	"assay/internal/simulator/dice"
)

// Tally counts how often something was asked, on disk: an open hash table of fixed slots in a file that doubles when it is
// three quarters full. A million different questions cost no memory.
type Tally struct {
	mu    sync.Mutex
	spill *Folder
	f     *os.File
	slots uint64
	used  uint64
}

// Counted is a counted thing: which vendor (its place in the list of vendors, from 1) and the digest of the body.
type Counted struct {
	Vendor uint32
	Digest [16]byte
}

const slotSize = 24 // digest, vendor, count

// NewTally makes a tally in a folder. Close it before the folder goes.
func NewTally(sp *Folder) (*Tally, error) {
	t := &Tally{spill: sp}
	return t, t.grow(1024)
}

// Close closes the file.
func (t *Tally) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.f.Close()
}

// Add counts a once more and returns how often it had been counted before.
func (t *Tally) Add(a Counted) (uint32, error) {
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

// Each calls f with everything that was counted, in no order.
func (t *Tally) Each(f func(a Counted, count uint32) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.walk(t.f, t.slots, f)
}

func (t *Tally) walk(from *os.File, slots uint64, f func(Counted, uint32) error) error {
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

// find returns the slot of a, or the free one where it belongs, and the count in it.
func (t *Tally) find(a Counted) (uint64, uint32, error) {
	var buf [slotSize]byte
	at := dice.Mix(binary.LittleEndian.Uint64(a.Digest[:])^uint64(a.Vendor)) & (t.slots - 1)
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

func (t *Tally) put(at uint64, a Counted, count uint32) error {
	var buf [slotSize]byte
	copy(buf[:], a.Digest[:])
	binary.LittleEndian.PutUint32(buf[16:], a.Vendor)
	binary.LittleEndian.PutUint32(buf[20:], count)
	_, err := t.f.WriteAt(buf[:], int64(at*slotSize))
	return err
}

func readSlot(b []byte) (Counted, uint32) {
	return Counted{Digest: [16]byte(b[:16]), Vendor: binary.LittleEndian.Uint32(b[16:])}, binary.LittleEndian.Uint32(b[20:])
}

// grow moves everything into a table of that many slots, a power of two.
func (t *Tally) grow(slots uint64) error {
	f, err := os.OpenFile(t.spill.Path("tally"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
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
	err = t.walk(old, oldSlots, func(a Counted, n uint32) error {
		at, _, err := t.find(a)
		if err != nil {
			return err
		}
		return t.put(at, a, n)
	})
	return errors.Join(err, old.Close(), os.Remove(old.Name()))
}
