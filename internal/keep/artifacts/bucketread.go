package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"sort"
	"strings"
	"sync"
)

// rangeRead is how many bytes of a chunk are read at once without the rest of it.
const rangeRead = 64 << 10

// Open opens a whole artifact.
func (b *Bucket) Open(ctx context.Context, run, name string) (File, error) {
	at, err := b.at(run, name)
	if err != nil {
		return nil, err
	}
	f := &bucketFile{bucket: b, ctx: ctx, at: at}
	size, err := f.renew(nil)
	if err != nil {
		return nil, fmt.Errorf("open artifact %s: %w", at, err)
	}
	return plainFile{io.NewSectionReader(f, 0, size), f}, nil
}

// Runs walks over the runs in the bucket: it lists all objects.
func (b *Bucket) Runs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		last := ""
		for o, err := range b.objects.List(ctx, b.prefix) {
			if err != nil {
				yield("", fmt.Errorf("list %s: %w", b, err))
				return
			}
			run, _, ok := strings.Cut(strings.TrimPrefix(o.Key, b.prefix), "/")
			if !ok || run == last {
				continue // a mark, or the same run: keys come in order
			}
			if last = run; !yield(run, nil) {
				return
			}
		}
	}
}

// Lacks counts the objects of a whole artifact that are gone, or have another size than its manifest names.
func (b *Bucket) Lacks(ctx context.Context, run, name string) (n int, err error) {
	at, err := b.at(run, name)
	if err != nil {
		return 0, err
	}
	there := map[string]int64{}
	for o, err := range b.objects.List(ctx, at) {
		if err != nil {
			return 0, fmt.Errorf("list %s: %w", at, err)
		}
		there[strings.TrimPrefix(o.Key, at)] = o.Size
	}
	m, err := b.manifest(ctx, at)
	if err != nil {
		return 0, err
	}
	for _, c := range m.Chunks {
		if size, ok := there[c.Key]; !ok || size != c.Size {
			n++
		}
	}
	return n, nil
}

// bucketFile reads an artifact from any offset. When it is packed meanwhile, it goes on with the packed one.
type bucketFile struct {
	bucket *Bucket
	ctx    context.Context
	at     string
	mu     sync.Mutex
	reader io.ReaderAt
	packed *packedFile // nil: the reader is not packed
}

// renew opens the artifact again, unless another reader has done so.
func (f *bucketFile) renew(old io.ReaderAt) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reader != old {
		return 0, nil
	}
	m, err := f.bucket.manifest(f.ctx, f.at)
	if err != nil {
		return 0, err
	}
	row := &chunkRow{bucket: f.bucket, ctx: f.ctx, at: f.at, chunks: m.Chunks, from: make([]int64, len(m.Chunks))}
	for i, c := range m.Chunks {
		row.from[i] = row.size
		row.size += c.Size
	}
	f.close()
	if !m.Packed {
		f.reader = row
		return m.Size, nil
	}
	dec, err := newDecoder()
	if err != nil {
		return 0, err
	}
	f.packed = &packedFile{file: row, dec: dec, frame: -1}
	for i, c := range m.Chunks {
		at := row.from[i]
		for _, fr := range c.Frames {
			f.packed.frames = append(f.packed.frames, frame{plain: f.packed.size, at: at, size: int(fr[0])})
			at += fr[0]
			f.packed.size += fr[1]
		}
	}
	f.reader = f.packed
	return m.Size, nil
}

// ReadAt reads.
func (f *bucketFile) ReadAt(p []byte, off int64) (int, error) {
	for again := false; ; again = true {
		f.mu.Lock()
		from := f.reader
		f.mu.Unlock()
		n, err := from.ReadAt(p, off)
		if !errors.Is(err, fs.ErrNotExist) {
			return n, err
		}
		if again { // not the same as an artifact that is not there
			return n, fmt.Errorf("artifact %s: %w: a part of them is gone from the bucket: %v", f.at, ErrDamaged, err)
		}
		f.bucket.forget(f.at)
		if _, err := f.renew(from); err != nil {
			return n, fmt.Errorf("artifact %s: %w", f.at, err)
		}
	}
}

func (f *bucketFile) close() {
	if f.packed != nil {
		f.packed.dec.Close()
		f.packed = nil
	}
}

// Close lets the file go.
func (f *bucketFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.close()
	return nil
}

// chunkRow reads the chunks of an artifact as one, as they are stored.
type chunkRow struct {
	bucket *Bucket
	ctx    context.Context
	at     string
	chunks []chunk
	from   []int64
	size   int64
}

// ReadAt reads from chunk to chunk.
func (r *chunkRow) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		if off >= r.size {
			return done, io.EOF
		}
		i := sort.Search(len(r.from), func(i int) bool { return r.from[i] > off }) - 1
		c := r.chunks[i]
		in := off - r.from[i]
		n := int(min(int64(len(p)-done), c.Size-in))
		if err := r.bucket.read(r.ctx, r.at+c.Key, c, p[done:done+n], in); err != nil {
			return done, err
		}
		done += n
		off += int64(n)
	}
	return done, nil
}

// read reads a part of a chunk: from the cache, as a range if this is its first small read, else from the whole chunk.
func (b *Bucket) read(ctx context.Context, key string, c chunk, p []byte, off int64) error {
	if b.cache.read(key, c, p, off) {
		return nil
	}
	if c.SHA256 == "" || b.cache.off() || b.firstRange(key, c, len(p)) {
		body, err := b.objects.Get(ctx, key, off, int64(len(p)))
		copy(p, body)
		return err
	}
	body, err := b.whole(ctx, key, c)
	if err == nil {
		copy(p, body[off:])
	}
	return err
}

// firstRange reports whether this is the first small read of a large chunk.
func (b *Bucket) firstRange(key string, c chunk, n int) bool {
	if n > rangeRead || c.Size <= 2*rangeRead {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.touched[key] {
		return false
	}
	if len(b.touched) >= mostChunks {
		clear(b.touched)
	}
	b.touched[key] = true
	return true
}

// whole fetches a chunk, holds it against its sum and keeps it in the cache. Several readers wait for one fetch.
func (b *Bucket) whole(ctx context.Context, key string, c chunk) ([]byte, error) {
	return b.cache.once(ctx, key, func() ([]byte, error) {
		body, err := b.objects.Get(ctx, key, 0, c.Size)
		if err != nil {
			return nil, err
		}
		if c.SHA256 != "" && sumOf(body) != c.SHA256 {
			return nil, fmt.Errorf("%s: %w: they are not those that were written", key, ErrDamaged)
		}
		b.cache.add(key, body)
		return body, nil
	})
}

func sumOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
