package grid

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"iter"
	"os"
	"runtime"

	"assay/internal/assay"
)

// A record of a matrix is the item's place, its kinds, its id with its length before it, and eight bytes for each lane:
// value, label, verdicts, flags, two bytes with the places that were judged, two with those at which an answer was
// taken back.
const (
	recordHead = 4 + 2 + 2
	cellBytes  = 8
	maxMarks   = 16
	maxLabels  = 250
	maxItemID  = 1<<16 - 1
	valueSteps = 250 // of a cell's value
	noneByte   = 255
)

// Flags of a cell. The low bits hold the ending.
const (
	cellSplit   = 1 << 7
	cellInvalid = 1 << 6
	cellFlipped = 1 << 5
	cellEnding  = 1<<5 - 1
)

// packedCell is a cell as its record has it.
type packedCell struct {
	value, label, n, flags byte
	asked, taken           uint16
}

// encode appends a record.
func encode(b []byte, item string, ord int64, is Kind, cells []packedCell) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(ord))
	b = binary.LittleEndian.AppendUint16(b, uint16(is))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(item)))
	b = append(b, item...)
	for _, c := range cells {
		b = append(b, c.value, c.label, c.n, c.flags)
		b = binary.LittleEndian.AppendUint16(b, c.asked)
		b = binary.LittleEndian.AppendUint16(b, c.taken)
	}
	return b
}

// record is one row as bytes; it is valid until the next one is read.
type record []byte

func (r record) ord() int64 { return int64(binary.LittleEndian.Uint32(r)) }
func (r record) is() Kind   { return Kind(binary.LittleEndian.Uint16(r[4:])) }
func (r record) id() []byte { return r[recordHead : recordHead+int(binary.LittleEndian.Uint16(r[6:]))] }
func (r record) cells() int { return (len(r) - recordHead - len(r.id())) / cellBytes }

func (r record) cell(i int) packedCell {
	b := r[recordHead+len(r.id())+i*cellBytes:]
	return packedCell{b[0], b[1], b[2], b[3], binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:])}
}

// decode makes a row of a record.
func (m *Matrix) decode(r record) Row {
	row := Row{Item: string(r.id()), Ord: r.ord(), Is: r.is(), Cells: make([]Cell, r.cells())}
	for i := range row.Cells {
		p := r.cell(i)
		c := Cell{N: int(p.n), Split: p.flags&cellSplit != 0, Invalid: p.flags&cellInvalid != 0,
			Flipped: p.flags&cellFlipped != 0}
		if p.value != noneByte {
			v := float64(p.value) / valueSteps
			c.Value = &v
		}
		if int(p.label) < len(m.labels) {
			c.Label = m.labels[p.label]
		}
		if e := int(p.flags & cellEnding); e > 0 {
			c.Ending = assay.Endings()[e-1]
		}
		for _, k := range m.order {
			bit := uint16(1) << k
			switch {
			case p.asked&bit == 0:
				c.Flips = append(c.Flips, NotAsked)
			case p.taken&bit == 0:
				c.Flips = append(c.Flips, Kept)
			default:
				c.Flips = append(c.Flips, TakenBack)
			}
		}
		row.Cells[i] = c
	}
	return row
}

// spool holds records: in memory while they are few, then in a file without a name.
type spool struct {
	columns int
	few     []byte
	file    *os.File
	size    int64
	out     *bufio.Writer
}

const spoolMemory = 1 << 20

func (s *spool) add(b []byte) error {
	s.size += int64(len(b))
	if s.file == nil && len(s.few)+len(b) <= spoolMemory {
		s.few = append(s.few, b...)
		return nil
	}
	if s.file == nil {
		f, err := os.CreateTemp("", "assay-grid-")
		if err != nil {
			return fmt.Errorf("keep the grid: %w", err)
		}
		s.file, s.out = f, bufio.NewWriterSize(f, 1<<16)
		if os.Remove(f.Name()) != nil { // where an open file keeps its name, it goes with the matrix
			runtime.AddCleanup(s, func(name string) { os.Remove(name) }, f.Name())
		}
		if _, err := s.out.Write(s.few); err != nil {
			return fmt.Errorf("keep the grid: %w", err)
		}
		s.few = nil
	}
	if _, err := s.out.Write(b); err != nil {
		return fmt.Errorf("keep the grid: %w", err)
	}
	return nil
}

// done ends the writing.
func (s *spool) done() error {
	if s.out == nil {
		return nil
	}
	err := s.out.Flush()
	s.out = nil
	return err
}

// walkBytes is how much of a file is read at a time.
const walkBytes = 1 << 18

// records walks over what was added.
func (s *spool) records() iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		if s.file == nil {
			s.cut(s.few, yield)
			return
		}
		buf := make([]byte, walkBytes)
		for at := int64(0); at < s.size; {
			n := int(min(int64(len(buf)), s.size-at))
			if _, err := s.file.ReadAt(buf[:n], at); err != nil {
				yield(nil, fmt.Errorf("read the grid: %w", err))
				return
			}
			whole, more := s.cut(buf[:n], yield)
			if !more {
				return
			}
			at += int64(whole)
			if whole == 0 {
				buf = make([]byte, 2*len(buf)) // for one long record
			}
		}
	}
}

// cut yields the whole records of some bytes. It returns how many bytes they are, and whether the walk goes on.
func (s *spool) cut(b []byte, yield func(record, error) bool) (whole int, more bool) {
	for len(b)-whole >= recordHead {
		n := recordHead + int(binary.LittleEndian.Uint16(b[whole+6:])) + s.columns*cellBytes
		if len(b)-whole < n {
			break
		}
		if !yield(b[whole:whole+n:whole+n], nil) {
			return whole, false
		}
		whole += n
	}
	return whole, true
}

// span is the position of a record.
type span struct {
	at int64
	n  int
}

// at reads one record.
func (s *spool) at(p span) (record, error) {
	if s.file == nil {
		return s.few[p.at : p.at+int64(p.n)], nil
	}
	b := make([]byte, p.n)
	if _, err := s.file.ReadAt(b, p.at); err != nil {
		return nil, fmt.Errorf("read the grid: %w", err)
	}
	return b, nil
}
