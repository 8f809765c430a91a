package artifacts

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A packed file is the zstd seekable format: independent frames, then a table of their sizes in a skippable frame. Any
// zstd program can read it.
const (
	frameSize     = 1 << 20
	skipMagic     = 0x184D2A5E
	seekMagic     = 0x8F92EAB1
	seekFooterLen = 9
	seekEntryLen  = 8
)

// Pack compresses the artifacts of a closed run.
func (f *Folder) Pack(ctx context.Context, run string) error {
	names, err := Names(ctx, f, run)
	if err != nil {
		return err
	}
	if err := f.sweep(run); err != nil {
		return err
	}
	p, err := newPacker()
	if err != nil {
		return err
	}
	defer p.close()
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.pack(p, run, name); err != nil {
			return fmt.Errorf("pack artifact %s of run %s: %w", name, run, err)
		}
	}
	return nil
}

// leftAfter is for how long a part of an artifact that was never finished may have a writer.
const leftAfter = 24 * time.Hour

// sweep removes the parts of artifacts that are whole, and those that no writer has touched for long.
func (f *Folder) sweep(run string) error {
	entries, err := fs.ReadDir(f.root.FS(), run)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list artifacts of run %s: %w", run, err)
	}
	for _, e := range entries {
		name, part := strings.CutSuffix(e.Name(), partial)
		if !part {
			continue
		}
		at := path.Join(run, name)
		if _, err := f.root.Stat(at); err == nil || f.untouched(at+partial) {
			if err := f.root.RemoveAll(at + partial); err != nil {
				return fmt.Errorf("remove what is left of artifact %s: %w", at, err)
			}
		}
	}
	return nil
}

// untouched reports whether nothing in a folder of parts has changed for long.
func (f *Folder) untouched(dir string) bool {
	entries, err := fs.ReadDir(f.root.FS(), dir)
	for _, e := range entries {
		info, e := e.Info()
		if e != nil || time.Since(info.ModTime()) < leftAfter {
			return false
		}
	}
	return err == nil
}

func (f *Folder) pack(p *packer, run, name string) error {
	at := path.Join(run, name)
	in, err := f.root.Open(at)
	if errors.Is(err, os.ErrNotExist) {
		return nil // packed already
	}
	if err != nil {
		return err
	}
	defer in.Close()
	temp, out, err := f.newPart(at + packed)
	if err != nil {
		return err
	}
	err = p.write(out, in)
	if err == nil {
		err = p.verify(out, in)
	}
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, f.root.Remove(temp))
	}
	if err := f.step(StepPublish, at+packed, func() error { return f.root.Rename(temp, at+packed) }); err != nil {
		if _, e := f.root.Stat(at + packed); e != nil {
			return err
		}
	} // else another process has packed it, and has removed all parts
	if err := f.sync(run); err != nil {
		return err
	}
	return f.step(StepRemove, at, func() error { return errors.Join(f.root.RemoveAll(at), f.root.RemoveAll(at+packed+partial)) })
}

// packer holds the buffers of packing, kept from file to file.
type packer struct {
	enc          *zstd.Encoder
	dec          *zstd.Decoder
	plain, frame []byte // what is packed, and as what
	back         []byte // what that reads as
}

func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(frameSize))
	if err != nil {
		return nil, err
	}
	dec, err := newDecoder()
	if err != nil {
		return nil, errors.Join(err, enc.Close())
	}
	return &packer{enc: enc, dec: dec, plain: make([]byte, frameSize)}, nil
}

func (p *packer) close() {
	p.enc.Close() // nothing streams through it: no error is left to report
	p.dec.Close()
}

// write packs a plain file.
func (p *packer) write(w io.Writer, r io.Reader) error {
	var table []byte
	for {
		n, err := io.ReadFull(r, p.plain)
		if n > 0 {
			p.frame = p.enc.EncodeAll(p.plain[:n], p.frame[:0])
			if _, err := w.Write(p.frame); err != nil {
				return err
			}
			table = appendEntry(table, len(p.frame), n)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	return writeTable(w, table)
}

func appendEntry(table []byte, packed, plain int) []byte {
	table = binary.LittleEndian.AppendUint32(table, uint32(packed))
	return binary.LittleEndian.AppendUint32(table, uint32(plain))
}

func writeTable(w io.Writer, table []byte) error {
	tail := binary.LittleEndian.AppendUint32(nil, skipMagic)
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(table)+seekFooterLen))
	tail = append(tail, table...)
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(table)/seekEntryLen))
	tail = append(tail, 0) // no checksums: the frames have their own
	tail = binary.LittleEndian.AppendUint32(tail, seekMagic)
	_, err := w.Write(tail)
	return err
}

// verify makes sure that a packed file reads as the plain one, before that is taken away.
func (p *packer) verify(out *folderFile, in *os.File) error {
	if err := out.Sync(); err != nil {
		return err
	}
	z, err := readPacked(out.File, p.dec)
	if err != nil {
		return err
	}
	z.raw, z.bytes = p.frame, p.back
	defer func() { p.frame, p.back = z.raw, z.bytes }()
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for i := range z.frames {
		if err := z.load(i); err != nil {
			return err
		}
		n, err := io.ReadFull(in, p.plain[:min(len(z.bytes), frameSize)])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if string(p.plain[:n]) != string(z.bytes) {
			return errUnlike
		}
	}
	if n, err := in.Read(p.plain); n > 0 {
		return errUnlike
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

var errUnlike = errors.New("the packed file does not read as the plain one")

// packedFile reads a packed file from any place.
type packedFile struct {
	file   io.ReaderAt
	dec    *zstd.Decoder
	size   int64
	frames []frame
	mu     sync.Mutex
	frame  int    // the frame in memory
	bytes  []byte // of that frame
	raw    []byte // the same, packed
}

// frame is where a frame begins, in the plain file and in the packed one, and how long it is there.
type frame struct {
	plain, at int64
	size      int
}

// openPacked opens a packed file with a decoder of its own.
func openPacked(file *os.File) (*packedFile, error) {
	dec, err := newDecoder()
	if err != nil {
		return nil, err
	}
	z, err := readPacked(file, dec)
	if err != nil {
		dec.Close()
		return nil, err
	}
	return z, nil
}

// packedOnDisk is a packed file with what must be closed behind it.
type packedOnDisk struct {
	*packedFile
	file *os.File
}

// Close closes the file.
func (z packedOnDisk) Close() error {
	z.dec.Close()
	return z.file.Close()
}

func newDecoder() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4*frameSize))
}

// readPacked reads where the frames of a packed file are.
func readPacked(file *os.File, dec *zstd.Decoder) (*packedFile, error) {
	st, err := file.Stat()
	if err != nil {
		return nil, err
	}
	table, err := readTable(file, st.Size())
	if err != nil {
		return nil, err
	}
	z := &packedFile{file: file, dec: dec, frame: -1}
	at := int64(0)
	for ; len(table) > 0; table = table[seekEntryLen:] {
		f := frame{plain: z.size, at: at, size: int(binary.LittleEndian.Uint32(table))}
		z.frames = append(z.frames, f)
		z.size += int64(binary.LittleEndian.Uint32(table[4:]))
		at += int64(f.size)
	}
	if at > st.Size() {
		return nil, errPacked
	}
	return z, nil
}

var errPacked = errors.New("not a packed artifact")

func readTable(file io.ReaderAt, size int64) ([]byte, error) {
	var foot [seekFooterLen]byte
	if size < seekFooterLen+8 {
		return nil, errPacked
	}
	if _, err := file.ReadAt(foot[:], size-seekFooterLen); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(foot[:])) * seekEntryLen
	if binary.LittleEndian.Uint32(foot[5:]) != seekMagic || n > size-seekFooterLen-8 {
		return nil, errPacked
	}
	table := make([]byte, n)
	_, err := file.ReadAt(table, size-seekFooterLen-n)
	return table, err
}

// ReadAt reads frame by frame; the last one stays in memory, so that reading on is cheap.
func (z *packedFile) ReadAt(p []byte, off int64) (int, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	done := 0
	for done < len(p) {
		if off >= z.size {
			return done, io.EOF
		}
		i := sort.Search(len(z.frames), func(i int) bool { return z.frames[i].plain > off }) - 1
		if err := z.load(i); err != nil {
			return done, err
		}
		from := off - z.frames[i].plain
		if from >= int64(len(z.bytes)) {
			return done, fmt.Errorf("frame %d is shorter than the table says", i)
		}
		n := copy(p[done:], z.bytes[from:])
		done += n
		off += int64(n)
	}
	return done, nil
}

func (z *packedFile) load(i int) error {
	if z.frame == i {
		return nil
	}
	f := z.frames[i]
	z.raw = slices.Grow(z.raw[:0], f.size)[:f.size]
	if _, err := z.file.ReadAt(z.raw, f.at); err != nil {
		return err
	}
	var err error
	z.frame = -1
	if z.bytes, err = z.dec.DecodeAll(z.raw, z.bytes[:0]); err != nil {
		return err
	}
	z.frame = i
	return nil
}
