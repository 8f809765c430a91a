package inspect

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"

	"assay/internal/show/export/folder"
)

// Form is how a log is written.
type Form string

// The forms of a log.
const (
	Zip  Form = ".eval"
	JSON Form = ".json"
)

// logFile is one log under construction. Nothing of its samples is held: what has to be behind or before them is kept in
// files beside it until it ends.
type logFile struct {
	out  io.WriteCloser
	zip  *zipWriter
	kept *folder.Spill // of a zip: the summaries; of a JSON document: the samples
	n    int
}

// newLogFile begins a log.
func newLogFile(t *folder.Tree, name string, form Form) (*logFile, error) {
	f := &logFile{}
	var err error
	if f.out, err = t.Create(name + string(form)); err != nil {
		return nil, err
	}
	if f.kept, err = t.NewSpill(name+".list", form == Zip); err != nil {
		return nil, err
	}
	if form == Zip {
		f.zip, err = newZipWriter(t, name, f.out)
	}
	return f, err
}

// add writes a sample, and its summary where the form has one.
func (f *logFile) add(member string, sample, summary []byte) error {
	kept := sample
	if f.zip != nil {
		if err := f.zip.member(member, sample); err != nil {
			return err
		}
		kept = summary
	}
	before := ",\n"
	if f.n == 0 {
		before = "[\n"
	}
	f.n++
	if _, err := io.WriteString(f.kept, before); err != nil {
		return err
	}
	_, err := f.kept.Write(kept)
	return err
}

// close ends the log with its header.
func (f *logFile) close(header []byte) error {
	if _, err := io.WriteString(f.kept, "\n]"); err != nil {
		return err
	}
	if f.zip != nil {
		if err := f.zip.spilled("summaries.json", f.kept); err != nil {
			return err
		}
		return errors.Join(f.zip.member("header.json", header), f.zip.close(), f.out.Close())
	}
	_, err := f.out.Write(append(bytes.TrimSuffix(header, []byte("}")), `,"samples":`...)) // behind all else: readers of headers stop here
	if err == nil {
		err = f.kept.MoveTo(f.out)
	}
	if err == nil {
		_, err = io.WriteString(f.out, "}\n")
	}
	return errors.Join(err, f.out.Close())
}

// zipWriter writes a zip whose directory is not held in memory, as that of package archive/zip is: it has an entry for each sample.
type zipWriter struct {
	out       io.Writer
	at        uint64
	n         uint64
	directory *folder.Spill
	pack      *flate.Writer
	packed    bytes.Buffer
}

func newZipWriter(t *folder.Tree, name string, out io.Writer) (*zipWriter, error) {
	directory, err := t.NewSpill(name+".directory", false)
	if err != nil {
		return nil, err
	}
	z := &zipWriter{out: out, directory: directory}
	z.pack, err = flate.NewWriter(&z.packed, flate.DefaultCompression)
	return z, err
}

// member writes a file.
func (z *zipWriter) member(name string, text []byte) error {
	z.packed.Reset()
	z.pack.Reset(&z.packed)
	if _, err := z.pack.Write(text); err != nil {
		return err
	}
	if err := z.pack.Close(); err != nil {
		return err
	}
	if err := z.entry(name, crc32.ChecksumIEEE(text), uint64(z.packed.Len()), uint64(len(text))); err != nil {
		return err
	}
	return z.write(z.packed.Bytes())
}

// spilled writes a file that was packed before.
func (z *zipWriter) spilled(name string, s *folder.Spill) error {
	packed, err := s.Packed()
	if err != nil {
		return err
	}
	if err := z.entry(name, s.Sum, uint64(packed), uint64(s.Size)); err != nil {
		return err
	}
	z.at += uint64(packed)
	return s.MoveTo(z.out)
}

func (z *zipWriter) write(text []byte) error {
	z.at += uint64(len(text))
	_, err := z.out.Write(text)
	return err
}

// Signatures and numbers of the zip format.
const (
	zipLocal     = 0x04034b50
	zipCentral   = 0x02014b50
	zipEnd       = 0x06054b50
	zipEnd64     = 0x06064b50
	zipLocator64 = 0x07064b50
	zipVersion   = 45      // zip64
	zipNames     = 1 << 11 // names are UTF-8
	zipDeflate   = 8
	zipDate      = 1<<5 | 1 // 1980-01-01: the same ledger gives the same bytes
)

// entry writes the header of a file, and keeps its entry of the directory.
func (z *zipWriter) entry(name string, sum uint32, packed, size uint64) error {
	if len(name) > math.MaxUint16 {
		return errors.New("the name of a sample is too long for a zip")
	}
	at, le := z.at, binary.LittleEndian
	large := packed >= math.MaxUint32 || size >= math.MaxUint32 || at >= math.MaxUint32
	short := func(n uint64) uint32 {
		if large {
			return math.MaxUint32
		}
		return uint32(n)
	}
	shared := le.AppendUint16(nil, zipVersion)
	shared = le.AppendUint16(shared, zipNames)
	shared = le.AppendUint16(shared, zipDeflate)
	shared = le.AppendUint16(shared, 0)
	shared = le.AppendUint16(shared, zipDate)
	shared = le.AppendUint32(shared, sum)
	shared = le.AppendUint32(shared, short(packed))
	shared = le.AppendUint32(shared, short(size))
	shared = le.AppendUint16(shared, uint16(len(name)))
	var extra, place []byte
	if large {
		sizes := le.AppendUint64(le.AppendUint64(nil, size), packed)
		extra = append(le.AppendUint16(le.AppendUint16(nil, 1), 16), sizes...)
		place = le.AppendUint64(append(le.AppendUint16(le.AppendUint16(nil, 1), 24), sizes...), at)
	}
	local := append(le.AppendUint32(nil, zipLocal), shared...)
	local = le.AppendUint16(local, uint16(len(extra)))
	if err := z.write(append(append(local, name...), extra...)); err != nil {
		return err
	}
	central := le.AppendUint16(le.AppendUint32(nil, zipCentral), zipVersion)
	central = append(central, shared...)
	central = le.AppendUint16(central, uint16(len(place)))
	central = append(central, make([]byte, 10)...) // no comment, one disk, no attributes
	central = le.AppendUint32(central, short(at))
	z.n++
	_, err := z.directory.Write(append(append(central, name...), place...))
	return err
}

// close writes the directory.
func (z *zipWriter) close() error {
	le, at, size := binary.LittleEndian, z.at, uint64(z.directory.Size)
	if err := z.directory.MoveTo(z.out); err != nil {
		return err
	}
	var end []byte
	if z.n >= math.MaxUint16 || at >= math.MaxUint32 || size >= math.MaxUint32 {
		end = le.AppendUint64(le.AppendUint32(end, zipEnd64), 44)
		end = le.AppendUint16(le.AppendUint16(end, zipVersion), zipVersion)
		end = le.AppendUint32(le.AppendUint32(end, 0), 0)
		end = le.AppendUint64(le.AppendUint64(end, z.n), z.n)
		end = le.AppendUint64(le.AppendUint64(end, size), at)
		end = le.AppendUint32(le.AppendUint32(end, zipLocator64), 0)
		end = le.AppendUint32(le.AppendUint64(end, at+size), 1)
	}
	end = le.AppendUint32(le.AppendUint32(end, zipEnd), 0)
	n := uint16(min(z.n, math.MaxUint16))
	end = le.AppendUint16(le.AppendUint16(end, n), n)
	end = le.AppendUint32(le.AppendUint32(end, uint32(min(size, math.MaxUint32))), uint32(min(at, math.MaxUint32)))
	_, err := z.out.Write(le.AppendUint16(end, 0))
	return err
}
