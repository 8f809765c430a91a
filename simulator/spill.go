package simulator

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

// spill is the folder that holds what the simulator would else hold in memory.
type spill struct {
	dir string
	seq atomic.Uint64
}

func newSpill(parent string) (*spill, error) {
	if parent != "" {
		if err := os.MkdirAll(parent, 0o700); err != nil {
			return nil, fmt.Errorf("make the simulator's folder: %w", err)
		}
	}
	dir, err := os.MkdirTemp(parent, "assay-sim-")
	if err != nil {
		return nil, fmt.Errorf("make the simulator's folder: %w", err)
	}
	return &spill{dir: dir}, nil
}

func (p *spill) close() error { return os.RemoveAll(p.dir) }

// path names a file that does not exist yet.
func (p *spill) path(kind string) string {
	return filepath.Join(p.dir, kind+"-"+strconv.FormatUint(p.seq.Add(1), 10))
}

// save copies r into a new file and tells its path and size. More than limit bytes are errTooLarge; 0 is no limit.
func (p *spill) save(kind string, r io.Reader, limit int64) (blob, error) {
	path := p.path(kind)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return blob{}, err
	}
	if limit > 0 {
		r = io.LimitReader(r, limit+1)
	}
	n, err := io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err == nil && limit > 0 && n > limit {
		err = errTooLarge
	}
	if err != nil {
		_ = os.Remove(path)
		return blob{}, err
	}
	return blob{path: path, size: n}, nil
}

// join makes one blob of the lines of several.
func (p *spill) join(parts []blob) (blob, error) {
	if len(parts) == 1 {
		return parts[0], nil
	}
	out := blob{path: p.path("joined")}
	f, err := os.OpenFile(out.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return blob{}, err
	}
	w := bufio.NewWriter(f)
	for _, part := range parts {
		err = errors.Join(err, eachLine(part, func(line []byte, _ int64) error {
			n, err := w.Write(append(line, '\n'))
			out.size += int64(n)
			return err
		}))
	}
	return out, errors.Join(err, w.Flush(), f.Close())
}

var errTooLarge = errors.New("larger than the provider takes")

// blob is a run of bytes on disk.
type blob struct {
	path string
	size int64
}

func (b blob) open() (*os.File, error) { return os.Open(b.path) }

// lineIndex finds lines of a blob by number: a file of offsets, eight bytes each, one more than there are lines.
type lineIndex struct {
	data blob
	path string
	n    int
}

// eachLine calls f with every line of the blob, without its line feed, and the offset where it begins.
func eachLine(b blob, f func(line []byte, off int64) error) error {
	in, err := b.open()
	if err != nil {
		return err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 256<<10)
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

// indexWriter writes a lineIndex while somebody else reads the lines.
type indexWriter struct {
	f   *os.File
	w   *bufio.Writer
	n   int
	buf [8]byte
}

func (p *spill) newIndex() (*indexWriter, error) {
	f, err := os.OpenFile(p.path("index"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &indexWriter{f: f, w: bufio.NewWriterSize(f, 64<<10)}, nil
}

func (x *indexWriter) add(off int64) error {
	binary.LittleEndian.PutUint64(x.buf[:], uint64(off))
	_, err := x.w.Write(x.buf[:])
	x.n++
	return err
}

// done closes the index; the last offset is the end of the blob.
func (x *indexWriter) done(data blob) (lineIndex, error) {
	err := x.add(data.size)
	err = errors.Join(err, x.w.Flush(), x.f.Close())
	return lineIndex{data: data, path: x.f.Name(), n: x.n - 1}, err
}

// lineReader reads lines of an index in any order.
type lineReader struct {
	data, offs *os.File
	at         [16]byte
	buf        []byte
}

func (x lineIndex) reader() (*lineReader, error) {
	data, err := x.data.open()
	if err != nil {
		return nil, err
	}
	offs, err := os.Open(x.path)
	if err != nil {
		_ = data.Close()
		return nil, err
	}
	return &lineReader{data: data, offs: offs}, nil
}

func (r *lineReader) close() {
	_ = r.data.Close()
	_ = r.offs.Close()
}

// line reads line i. What it returns stands until the next call.
func (r *lineReader) line(i int) ([]byte, error) {
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
