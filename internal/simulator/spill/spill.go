// Package spill keeps on disk what the simulator would else hold in memory: bytes, where their lines begin, counts.
package spill

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
)

// Folder is the folder that holds what the simulator would else hold in memory.
type Folder struct {
	dir string
	seq atomic.Uint64
}

// NewFolder makes a folder inside parent, or among the system's temporary files.
func NewFolder(parent string) (*Folder, error) {
	if parent != "" {
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return nil, fmt.Errorf("make the simulator's folder: %w", err)
		}
	}
	dir, err := os.MkdirTemp(parent, "assay-sim-")
	if err != nil {
		return nil, fmt.Errorf("make the simulator's folder: %w", err)
	}
	return &Folder{dir: dir}, nil
}

// Close removes the folder.
func (p *Folder) Close() error { return os.RemoveAll(p.dir) }

// Path names a file that does not exist yet.
func (p *Folder) Path(kind string) string {
	return filepath.Join(p.dir, kind+"-"+strconv.FormatUint(p.seq.Add(1), 10))
}

// Save copies r into a new file . More than limit bytes are ErrTooLarge; 0 is no limit.
func (p *Folder) Save(kind string, r io.Reader, limit int64) (Blob, error) {
	path := p.Path(kind)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return Blob{}, err
	}
	if limit > 0 {
		r = io.LimitReader(r, limit+1)
	}
	n, err := io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err == nil && limit > 0 && n > limit {
		err = ErrTooLarge
	}
	if err != nil {
		_ = os.Remove(path)
		return Blob{}, err
	}
	return Blob{Path: path, Size: n}, nil
}

// Join makes one blob of the lines of several.
func (p *Folder) Join(parts []Blob) (Blob, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	out, err := p.Create("joined")
	if err != nil {
		return Blob{}, err
	}
	for _, part := range parts {
		err = errors.Join(err, EachLine(part, func(line []byte, _ int64) error {
			out.Add(line)
			return nil
		}))
	}
	return out.Done(err)
}

// LineWriter writes lines to a new blob. What goes wrong shows when it is done.
type LineWriter struct {
	Blob
	f *os.File
	w *bufio.Writer
}

// Create begins a blob of lines.
func (p *Folder) Create(kind string) (*LineWriter, error) {
	b := Blob{Path: p.Path(kind)}
	f, err := os.OpenFile(b.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &LineWriter{Blob: b, f: f, w: bufio.NewWriter(f)}, nil
}

// Add writes a line and its line feed.
func (w *LineWriter) Add(line []byte) {
	_, _ = w.w.Write(line) // Flush returns what went wrong
	_ = w.w.WriteByte('\n')
	w.Size += int64(len(line)) + 1
}

// Done closes the blob. It returns err, and what went wrong with the writing.
func (w *LineWriter) Done(err error) (Blob, error) {
	return w.Blob, errors.Join(err, w.w.Flush(), w.f.Close())
}

// ErrTooLarge is the error of Save for more bytes than the limit.
var ErrTooLarge = errors.New("larger than the provider takes")

// Blob is a run of bytes on disk.
type Blob struct {
	Path string
	Size int64
}

// Open opens the bytes for reading.
func (b Blob) Open() (*os.File, error) { return os.Open(b.Path) }

// LineIndex finds lines of a blob by number: a file of offsets, eight bytes each, one more than there are lines.
type LineIndex struct {
	Data Blob
	path string
	Len  int
}

// EachLine calls f with every line of the blob, without its line feed, and the offset where it begins.
func EachLine(b Blob, f func(line []byte, off int64) error) error {
	in, err := b.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 64<<10)
	var off int64
	var long []byte
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		line := part
		if len(long) > 0 {
			long = append(long, part...)
			line = long
		}
		if len(line) > 0 {
			if ferr := f(trimEnd(line), off); ferr != nil {
				return ferr
			}
		}
		off += int64(len(line))
		long = long[:0]
		if err == io.EOF {
			return nil
		}
	}
}

// trimEnd takes the line feed away, and a carriage return in front of it.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	}
	return line
}

// IndexWriter writes a LineIndex while its user reads the lines.
type IndexWriter struct {
	f   *os.File
	w   *bufio.Writer
	Len int
	buf [8]byte
}

// NewIndex begins an index.
func (p *Folder) NewIndex() (*IndexWriter, error) {
	f, err := os.OpenFile(p.Path("index"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &IndexWriter{f: f, w: bufio.NewWriterSize(f, 64<<10)}, nil
}

// Add notes where the next line begins.
func (x *IndexWriter) Add(off int64) error {
	binary.LittleEndian.PutUint64(x.buf[:], uint64(off))
	_, err := x.w.Write(x.buf[:])
	x.Len++
	return err
}

// Done closes the index; the last offset is the end of the blob.
func (x *IndexWriter) Done(data Blob) (LineIndex, error) {
	err := x.Add(data.Size)
	err = errors.Join(err, x.w.Flush(), x.f.Close())
	return LineIndex{Data: data, path: x.f.Name(), Len: x.Len - 1}, err
}

// LineReader reads lines of an index in any order.
type LineReader struct {
	data, offs *os.File
	at         [16]byte
	buf        []byte
}

// Reader opens the lines. Close it.
func (x LineIndex) Reader() (*LineReader, error) {
	data, err := x.Data.Open()
	if err != nil {
		return nil, err
	}
	offs, err := os.Open(x.path)
	if err != nil {
		_ = data.Close()
		return nil, err
	}
	return &LineReader{data: data, offs: offs}, nil
}

// Close closes the files.
func (r *LineReader) Close() {
	_ = r.data.Close()
	_ = r.offs.Close()
}

// Line reads line i. The bytes are valid until the next call.
func (r *LineReader) Line(i int) ([]byte, error) {
	if _, err := r.offs.ReadAt(r.at[:], int64(i)*8); err != nil {
		return nil, fmt.Errorf("read the place of line %d: %w", i, err)
	}
	from := int64(binary.LittleEndian.Uint64(r.at[:8]))
	n := int(int64(binary.LittleEndian.Uint64(r.at[8:])) - from)
	if cap(r.buf) < n {
		r.buf = make([]byte, n+n/2)
	}
	r.buf = r.buf[:n]
	if _, err := r.data.ReadAt(r.buf, from); err != nil {
		return nil, fmt.Errorf("read line %d: %w", i, err)
	}
	return trimEnd(r.buf), nil
}
