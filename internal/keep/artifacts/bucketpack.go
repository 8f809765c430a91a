package artifacts

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"assay/internal/keep/objects"
)

// packFrom is how large an artifact must be to be worth the requests that packing takes. A log is joined in any case.
const packFrom = 64 << 10

// Pack compresses the artifacts of a closed run.
func (b *Bucket) Pack(ctx context.Context, run string) error {
	all, err := b.names(ctx, run, "")
	if err != nil {
		return err
	}
	p, err := newPacker()
	if err != nil {
		return err
	}
	defer p.close()
	var left []objects.Object
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := b.prefix + run + "/" + name + "/"
		more, err := b.pack(ctx, p, at, all[name])
		if err != nil {
			return fmt.Errorf("pack artifact %s of run %s: %w", name, run, err)
		}
		left = append(left, more...)
	}
	return b.sweep(ctx, left)
}

// pack packs one artifact, and returns what no manifest names.
func (b *Bucket) pack(ctx context.Context, p *packer, at string, c *contents) (left []objects.Object, err error) {
	m := &manifest{}
	switch {
	case len(c.whole) > 0:
		if m, err = b.readManifest(ctx, c.whole[0]); err != nil {
			return nil, err
		}
	case len(c.log) > 0:
		m.Chunks, m.Size = chain(at, c.log)
	}
	named := map[string]bool{}
	for _, k := range m.Chunks {
		named[at+k.Key] = true
	}
	var old []objects.Object // what the packed form replaces
	for _, o := range slices.Concat(slices.Collect(maps.Values(c.begins))...) {
		if named[o.Key] {
			old = append(old, o)
		} else {
			left = append(left, o)
		}
	}
	if len(c.whole)+len(c.log) == 0 || m.Packed || len(c.log) == 0 && m.Size < packFrom {
		return slices.Concat(left, c.log, c.whole[min(1, len(c.whole)):]), nil
	}
	if err := b.writePacked(ctx, p, at, m); err != nil {
		return nil, err
	}
	return left, b.delete(ctx, slices.Concat(c.whole, c.log, old))
}

// writePacked writes the packed form of an artifact: chunks that end with a frame and are each a packed file, then the manifest.
func (b *Bucket) writePacked(ctx context.Context, p *packer, at string, m *manifest) error {
	row := &chunkRow{bucket: b, ctx: ctx, at: at, chunks: m.Chunks, from: make([]int64, len(m.Chunks))}
	for i, c := range m.Chunks {
		row.from[i] = row.size
		row.size += c.Size
	}
	w := &packWriter{bucket: b, packer: p, at: at, begin: random(), writer: random(), read: sha256.New()}
	in := io.NewSectionReader(row, 0, row.size)
	sum := sha256.New()
	for {
		n, err := io.ReadFull(in, p.plain)
		if n > 0 {
			sum.Write(p.plain[:n])
			if err := w.add(ctx, p.plain[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := w.put(ctx); err != nil {
		return err
	}
	plain := hex.EncodeToString(sum.Sum(nil))
	if plain != hex.EncodeToString(w.read.Sum(nil)) {
		return errUnlike
	}
	if m.SHA256 != "" && m.SHA256 != plain {
		return errors.New("its bytes are not those that were written")
	}
	return b.publish(ctx, at, packedKey+w.writer, &manifest{Size: row.size, SHA256: plain, Packed: true, Chunks: w.chunks})
}

// packWriter gathers frames into chunks.
type packWriter struct {
	bucket            *Bucket
	packer            *packer
	at, begin, writer string
	chunks            []chunk
	offset            int64
	buffer, table     []byte
	frames            [][2]int64
	read              hash.Hash // of what the chunks read as, from the bucket
}

func (w *packWriter) add(ctx context.Context, plain []byte) error {
	w.packer.frame = w.packer.enc.EncodeAll(plain, w.packer.frame[:0])
	if len(w.buffer) > 0 && len(w.buffer)+len(w.packer.frame) > w.bucket.chunk {
		if err := w.put(ctx); err != nil {
			return err
		}
	}
	w.buffer = append(w.buffer, w.packer.frame...)
	w.frames = append(w.frames, [2]int64{int64(len(w.packer.frame)), int64(len(plain))})
	w.table = appendEntry(w.table, len(w.packer.frame), len(plain))
	return nil
}

// put puts a chunk, and reads it back: what is there counts, not what was sent.
func (w *packWriter) put(ctx context.Context) error {
	if len(w.frames) == 0 {
		return nil
	}
	var body bytes.Buffer
	body.Write(w.buffer)
	if err := writeTable(&body, w.table); err != nil {
		return err
	}
	c := chunk{Key: chunkKey(w.begin, w.offset, w.writer), Size: int64(body.Len()), SHA256: sumOf(body.Bytes()), Frames: w.frames}
	if err := w.bucket.objects.Put(ctx, w.at+c.Key, body.Bytes()); err != nil {
		return err
	}
	got, err := w.bucket.objects.Get(ctx, w.at+c.Key, 0, c.Size)
	if err != nil {
		return err
	}
	for _, f := range c.Frames {
		if w.packer.back, err = w.packer.dec.DecodeAll(got[:f[0]], w.packer.back[:0]); err != nil {
			return err
		}
		w.read.Write(w.packer.back)
		got = got[f[0]:]
	}
	w.bucket.cache.add(w.at+c.Key, body.Bytes())
	w.chunks = append(w.chunks, c)
	w.offset += c.Size
	w.buffer, w.table, w.frames = w.buffer[:0], w.table[:0], nil
	return nil
}

// sweep deletes what writers left, once it is so old by the clock of the store that none of them can still be at it.
func (b *Bucket) sweep(ctx context.Context, left []objects.Object) error {
	if len(left) == 0 {
		return nil
	}
	now, err := b.now(ctx)
	if err != nil {
		return err
	}
	left = slices.DeleteFunc(left, func(o objects.Object) bool { return now.Sub(o.Time) < leftAfter })
	// A manifest goes before the chunks that it names.
	sort.SliceStable(left, func(i, j int) bool { return strings.Count(left[i].Key, "/") < strings.Count(left[j].Key, "/") })
	return b.delete(ctx, left)
}

// now asks the store what time it is.
func (b *Bucket) now(ctx context.Context) (now time.Time, err error) {
	key := b.prefix + "clock." + random()
	if err := b.objects.Put(ctx, key, []byte("now\n")); err != nil {
		return now, err
	}
	for o, e := range b.objects.List(ctx, key) {
		now, err = o.Time, errors.Join(err, e)
	}
	return now, errors.Join(err, b.objects.Delete(ctx, key))
}
