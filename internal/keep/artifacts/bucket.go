package artifacts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"assay/internal/keep/objects"
)

// Bucket is a place in an object store.
//
// An artifact is a row of immutable chunks and one small manifest that is written last. Every key carries a random word of
// its writer, so no key is ever written twice with other bytes, and a writer that was stopped and wakes up harms no other.
//
//	PREFIX/RUN/NAME/BEGIN/begin           the validator of what is written under BEGIN; none: it cannot be continued
//	PREFIX/RUN/NAME/BEGIN/OFFSET.WRITER   a chunk
//	PREFIX/RUN/NAME/log/OFFSET.WRITER     what one Sync of a log wrote; opened.WRITER marks that it has a writer
//	PREFIX/RUN/NAME/whole.WRITER          a manifest; packed.WRITER where the chunks are packed
//	PREFIX/assay-id.ID                    the mark of the place
type Bucket struct {
	objects timed
	prefix  string
	cache   *cache
	chunk   int // bytes of a chunk

	mu      sync.Mutex
	known   map[string]*manifest // by the place of the artifact
	chunks  int                  // in all of known
	touched map[string]bool      // chunks of which a range was read
}

const (
	chunkSize  = 16 << 20
	mostChunks = 100_000 // of manifests that are kept in memory
	beginKey   = "begin"
	logKey     = "log/"
	wholeKey   = "whole."
	packedKey  = "packed."
	markKey    = "assay-id."
)

// NewBucket returns a bucket with its keys below a prefix, and a cache of its chunks on this machine.
func NewBucket(o objects.Store, prefix string, local Cache) (*Bucket, error) {
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	c, err := newCache(local, o.String()+"/")
	if err != nil {
		return nil, err
	}
	return &Bucket{objects: timed{o}, prefix: prefix, cache: c, chunk: chunkSize, known: map[string]*manifest{},
		touched: map[string]bool{}}, nil
}

// manifest lists the chunks of an artifact.
type manifest struct {
	Size   int64   `json:"size"`
	SHA256 string  `json:"sha256,omitempty"` // empty: that of a log, of which nothing is known but a list
	Packed bool    `json:"packed,omitempty"`
	Chunks []chunk `json:"chunks"`
}

type chunk struct {
	Key    string     `json:"key"` // below that of the artifact
	Size   int64      `json:"size"`
	SHA256 string     `json:"sha256,omitempty"`
	Frames [][2]int64 `json:"frames,omitempty"` // of a packed chunk: bytes, packed and plain
}

// contents is the list of objects under the name of an artifact.
type contents struct {
	whole  []objects.Object            // manifests, the one that counts first
	log    []objects.Object            // by offset
	begins map[string][]objects.Object // what was written under each BEGIN
	bytes  int64
}

// at returns where the objects of an artifact are.
func (b *Bucket) at(run, name string) (string, error) {
	at, err := place(run, name)
	return b.prefix + at + "/", err
}

// look lists what lies under the name of an artifact.
func (b *Bucket) look(ctx context.Context, at string) (*contents, error) {
	c := &contents{begins: map[string][]objects.Object{}}
	for o, err := range b.objects.List(ctx, at) {
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", at, err)
		}
		c.add(strings.TrimPrefix(o.Key, at), o)
	}
	c.order()
	return c, nil
}

func (c *contents) add(key string, o objects.Object) {
	c.bytes += o.Size
	switch {
	case strings.HasPrefix(key, wholeKey), strings.HasPrefix(key, packedKey):
		c.whole = append(c.whole, o)
	case strings.HasPrefix(key, logKey):
		c.log = append(c.log, o)
	default:
		if begin, _, ok := strings.Cut(key, "/"); ok {
			c.begins[begin] = append(c.begins[begin], o)
		}
	}
}

// order puts the manifest first that counts: a packed one, then the oldest.
func (c *contents) order() {
	sort.Slice(c.whole, func(i, j int) bool {
		a, b := c.whole[i], c.whole[j]
		return cmp.Or(cmp.Compare(plainFirst(a), plainFirst(b)), a.Time.Compare(b.Time), strings.Compare(a.Key, b.Key)) < 0
	})
	sort.Slice(c.log, func(i, j int) bool { return c.log[i].Key < c.log[j].Key })
}

func plainFirst(o objects.Object) int {
	if isPacked(o) {
		return 0
	}
	return 1
}

func isPacked(o objects.Object) bool {
	return strings.HasPrefix(o.Key[strings.LastIndex(o.Key, "/")+1:], packedKey)
}

// offsetOf reads the offset in the key of a chunk.
func offsetOf(o objects.Object) (int64, bool) {
	number, _, ok := strings.Cut(o.Key[strings.LastIndex(o.Key, "/")+1:], ".")
	n, err := strconv.ParseInt(number, 16, 64)
	return n, ok && err == nil
}

func chunkKey(begin string, offset int64, writer string) string {
	return fmt.Sprintf("%s/%012x.%s", begin, offset, writer)
}

// chain returns the row of chunks from the beginning, without a gap. Where two writers wrote the same bytes, the longer counts.
func chain(at string, all []objects.Object) (row []chunk, size int64) {
	longest := map[int64]objects.Object{}
	for _, o := range all {
		if off, ok := offsetOf(o); ok && o.Size > longest[off].Size {
			longest[off] = o
		}
	}
	for {
		o, ok := longest[size]
		if !ok {
			return row, size
		}
		row = append(row, chunk{Key: strings.TrimPrefix(o.Key, at), Size: o.Size})
		size += o.Size
	}
}

// manifest reads the manifest of an artifact. Until a log is packed, it is made from a list.
func (b *Bucket) manifest(ctx context.Context, at string) (*manifest, error) {
	b.mu.Lock()
	m := b.known[at]
	b.mu.Unlock()
	if m != nil {
		return m, nil
	}
	c, err := b.look(ctx, at)
	if err != nil {
		return nil, err
	}
	if len(c.whole) == 0 {
		if len(c.log) == 0 {
			return nil, fs.ErrNotExist
		}
		m = &manifest{}
		m.Chunks, m.Size = chain(at, c.log)
		return m, nil
	}
	if m, err = b.readManifest(ctx, c.whole[0]); err == nil {
		b.remember(at, m)
	}
	return m, err
}

func (b *Bucket) readManifest(ctx context.Context, o objects.Object) (*manifest, error) {
	text, err := b.objects.Get(ctx, o.Key, 0, o.Size)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("read %s: %w", o.Key, err)
	}
	return &m, nil
}

func (b *Bucket) remember(at string, m *manifest) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.chunks += len(m.Chunks) + 1; b.chunks > mostChunks {
		clear(b.known)
		b.chunks = len(m.Chunks) + 1
	}
	b.known[at] = m
}

func (b *Bucket) forget(at string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.known, at)
}

// List walks over what is kept of a run under names that begin so.
func (b *Bucket) List(ctx context.Context, run, begins string) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		all, err := b.names(ctx, run, begins)
		if err != nil {
			yield(Kept{}, err)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c := all[name]
			if !yield(Kept{Name: name, Bytes: c.bytes, Whole: len(c.whole)+len(c.log) > 0}, nil) {
				return
			}
		}
	}
}

// names lists what lies under the names of a run that begin so.
func (b *Bucket) names(ctx context.Context, run, begins string) (map[string]*contents, error) {
	if _, err := place(run, "x"); err != nil {
		return nil, err
	}
	at := b.prefix + run + "/"
	all := map[string]*contents{}
	for o, err := range b.objects.List(ctx, at+begins) {
		if err != nil {
			return nil, fmt.Errorf("list artifacts of run %s: %w", run, err)
		}
		name, key, ok := strings.Cut(strings.TrimPrefix(o.Key, at), "/")
		if !ok {
			continue // not ours
		}
		if all[name] == nil {
			all[name] = &contents{begins: map[string][]objects.Object{}}
		}
		all[name].add(key, o)
	}
	for _, c := range all {
		c.order()
	}
	return all, nil
}

// Remove takes one artifact away, in every form. The manifests go first: what is left after a kill is not whole.
func (b *Bucket) Remove(ctx context.Context, run, name string) error {
	at, err := b.at(run, name)
	if err != nil {
		return err
	}
	b.forget(at)
	c, err := b.look(ctx, at)
	if err != nil {
		return err
	}
	return b.delete(ctx, slices.Concat(c.whole, c.log, slices.Concat(slices.Collect(maps.Values(c.begins))...)))
}

func (b *Bucket) delete(ctx context.Context, all []objects.Object) error {
	for _, o := range all {
		if err := b.objects.Delete(ctx, o.Key); err != nil {
			return fmt.Errorf("delete %s: %w", o.Key, err)
		}
	}
	return nil
}

// Probe puts, reads, lists and deletes an object, and marks a bucket that has no mark.
func (b *Bucket) Probe(ctx context.Context, id string) (string, error) {
	key := b.prefix + "probe." + random()
	if err := b.objects.Put(ctx, key, []byte(key)); err != nil {
		return "", fmt.Errorf("write into %s: %w", b, err)
	}
	err := b.check(ctx, key)
	if err == nil {
		err = b.objects.Delete(ctx, key)
	}
	if err != nil {
		return "", fmt.Errorf("probe %s: %w", b, err)
	}
	marks, err := b.marks(ctx)
	if err != nil {
		return "", err
	}
	own := b.prefix + markKey + id
	switch {
	case id != "" && slices.ContainsFunc(marks, func(o objects.Object) bool { return o.Key == own }):
		return id, nil
	case len(marks) > 0:
		return strings.TrimPrefix(marks[0].Key, b.prefix+markKey), nil
	case id == "":
		return "", nil
	}
	if err := b.objects.Put(ctx, own, []byte(id+"\n")); err != nil {
		return "", fmt.Errorf("mark %s: %w", b, err)
	}
	return id, nil
}

// check reads and lists an object that holds its key.
func (b *Bucket) check(ctx context.Context, key string) error {
	got, err := b.objects.Get(ctx, key, 0, int64(len(key)))
	if err != nil {
		return err
	}
	if string(got) != key {
		return errors.New("what was written there does not read back the same")
	}
	for o, err := range b.objects.List(ctx, key) {
		if err != nil || o.Key == key {
			return err
		}
	}
	return errors.New("what was written there is not listed: the key must be allowed to list the bucket")
}

func (b *Bucket) marks(ctx context.Context) (all []objects.Object, err error) {
	for o, err := range b.objects.List(ctx, b.prefix+markKey) {
		if err != nil {
			return nil, fmt.Errorf("read the mark of %s: %w", b, err)
		}
		all = append(all, o)
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(all[i].Time.Compare(all[j].Time), strings.Compare(all[i].Key, all[j].Key)) < 0
	})
	return all, nil
}

// String returns the address of the bucket.
func (b *Bucket) String() string {
	return strings.TrimSuffix(b.objects.store.String()+"/"+b.prefix, "/")
}

// Close lets the bucket go.
func (b *Bucket) Close() error { return nil }
