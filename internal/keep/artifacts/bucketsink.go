package artifacts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"strings"

	"assay/internal/keep/objects"
)

// bucketSink is an artifact under construction in a bucket. Each of its chunks is put while the next one is filled.
type bucketSink struct {
	bucket    *Bucket
	ctx       context.Context
	name      string
	at        string
	begin     string // what its chunks lie under; empty: nothing is held, and nothing was begun
	writer    string // the word of its own chunks; empty: it has not begun
	validator string
	chunks    []chunk
	size      int64
	sum       hash.Hash
	buffer    []byte
	spare     []byte
	putting   chan error // of the chunk that is being put; nil: none
	failed    error      // a chunk is missing: nothing is added behind it
}

// Sink opens an artifact under construction.
func (b *Bucket) Sink(ctx context.Context, run, name string) (Sink, error) {
	at, err := b.at(run, name)
	if err != nil {
		return nil, err
	}
	s := &bucketSink{bucket: b, ctx: ctx, name: name, at: at, sum: sha256.New()}
	c, err := b.look(ctx, at)
	if err != nil {
		return nil, err
	}
	for begin, all := range c.begins {
		if err := s.hold(begin, all); err != nil {
			return nil, fmt.Errorf("open artifact %s: %w", at, err)
		}
	}
	return s, nil
}

// hold takes what was written under a beginning if it is more than what is at hand.
func (s *bucketSink) hold(begin string, all []objects.Object) error {
	row, size := chain(s.at, all)
	for _, o := range all {
		if size <= s.size || !strings.HasSuffix(o.Key, "/"+beginKey) {
			continue
		}
		text, err := s.bucket.objects.Get(s.ctx, o.Key, 0, o.Size)
		if err != nil {
			return err
		}
		s.begin, s.validator, s.chunks, s.size = begin, string(text), row, size
	}
	return nil
}

// Held returns how many bytes are there.
func (s *bucketSink) Held() (int64, string) { return s.size, s.validator }

// Size returns how many bytes are there.
func (s *bucketSink) Size() int64 { return s.size }

// Begin goes on from an offset. The chunks before it are read again: to sum them, and as a proof that they are there.
func (s *bucketSink) Begin(offset int64, validator string) error {
	if offset > s.size {
		return fmt.Errorf("artifact %s: begin at %d, only %d bytes are held", s.at, offset, s.size)
	}
	if s.writer != "" {
		if err := s.flush(s.ctx); err != nil {
			return err
		}
	}
	held := s.chunks
	s.sum.Reset()
	s.chunks, s.size, s.buffer = nil, 0, s.buffer[:0]
	if s.writer = random(); offset == 0 || validator != s.validator {
		s.begin, s.validator = random(), validator
		if validator != "" {
			if err := s.bucket.objects.Put(s.ctx, s.at+s.begin+"/"+beginKey, []byte(validator)); err != nil {
				return fmt.Errorf("artifact %s: %w", s.at, err)
			}
		}
	}
	for _, c := range held {
		if s.size >= offset {
			break
		}
		if err := s.takeOver(c, offset); err != nil {
			return fmt.Errorf("artifact %s: read what is held: %w", s.at, err)
		}
	}
	return nil
}

// takeOver goes on behind a chunk, or behind that part of it which lies before an offset.
func (s *bucketSink) takeOver(c chunk, offset int64) error {
	body := make([]byte, c.Size)
	if err := s.bucket.read(s.ctx, s.at+c.Key, c, body, 0); err != nil {
		return err
	}
	if rest := offset - s.size; rest < c.Size || !strings.HasPrefix(c.Key, s.begin+"/") {
		_, err := s.Write(body[:min(rest, c.Size)])
		return err
	}
	s.sum.Write(body)
	c.SHA256 = sumOf(body)
	s.chunks = append(s.chunks, c)
	s.size += c.Size
	return nil
}

// Write appends.
func (s *bucketSink) Write(p []byte) (int, error) {
	if s.writer == "" {
		return 0, fmt.Errorf("artifact %s: written before it was begun", s.at)
	}
	done := 0
	for done < len(p) {
		n := min(len(p)-done, s.bucket.chunk-len(s.buffer))
		s.buffer = append(s.buffer, p[done:done+n]...)
		s.sum.Write(p[done : done+n])
		s.size += int64(n)
		done += n
		if len(s.buffer) == s.bucket.chunk {
			if err := s.put(s.ctx); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// put begins to put what is in the buffer, once the chunk before it is there.
func (s *bucketSink) put(ctx context.Context) error {
	if err := s.wait(); err != nil || len(s.buffer) == 0 {
		return err
	}
	body := s.buffer
	c := chunk{Key: chunkKey(s.begin, s.size-int64(len(body)), s.writer), Size: int64(len(body)), SHA256: sumOf(body)}
	s.chunks = append(s.chunks, c)
	s.buffer, s.spare = s.spare[:0], body
	s.putting = make(chan error, 1)
	go func(done chan<- error) {
		err := s.bucket.objects.Put(ctx, s.at+c.Key, body)
		if err == nil {
			s.bucket.cache.add(s.at+c.Key, body)
		}
		done <- err
	}(s.putting)
	return nil
}

// wait waits for the chunk that is being put.
func (s *bucketSink) wait() error {
	if s.putting != nil {
		if err := <-s.putting; err != nil {
			s.failed = fmt.Errorf("artifact %s: %w", s.at, err)
		}
		s.putting = nil
	}
	return s.failed
}

// flush puts everything.
func (s *bucketSink) flush(ctx context.Context) error {
	if err := s.put(ctx); err != nil {
		return err
	}
	return s.wait()
}

// Commit makes the artifact whole: the manifest is put when all chunks are there. A list then shows whether another
// writer was first; of two that see each other with other bytes both withdraw, and both get an error.
func (s *bucketSink) Commit() (Info, error) {
	info, err := s.commit()
	if err != nil {
		return Info{}, fmt.Errorf("finish artifact %s: %w", s.at, err)
	}
	return info, nil
}

func (s *bucketSink) commit() (Info, error) {
	if s.writer == "" {
		return Info{}, errors.New("nothing was written")
	}
	if err := s.flush(s.ctx); err != nil {
		return Info{}, err
	}
	m := &manifest{Size: s.size, SHA256: hex.EncodeToString(s.sum.Sum(nil)), Chunks: s.chunks}
	if err := s.bucket.publish(s.ctx, s.at, wholeKey+s.writer, m); err != nil {
		return Info{}, err
	}
	return Info{Name: s.name, Size: m.Size, SHA256: m.SHA256}, nil
}

// publish puts a manifest, and takes it back if there is another one with other contents.
func (b *Bucket) publish(ctx context.Context, at, key string, m *manifest) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := b.objects.Put(ctx, at+key, text); err != nil {
		return err
	}
	c, err := b.look(ctx, at)
	if err != nil {
		return err
	}
	for _, o := range c.whole {
		if o.Key == at+key {
			continue
		}
		other, err := b.readManifest(ctx, o)
		if err != nil {
			return err
		}
		if other.Size != m.Size || other.SHA256 != m.SHA256 {
			return errors.Join(errOther, b.objects.Delete(ctx, at+key))
		}
	}
	if len(c.whole) == 0 {
		return errors.New("another process has removed it")
	}
	b.remember(at, m)
	return nil
}

// Close keeps what is there for a later Sink of the same name, also when the context has ended.
func (s *bucketSink) Close() error {
	err := s.wait()
	if s.writer != "" && s.validator != "" && err == nil {
		err = s.flush(context.WithoutCancel(s.ctx))
	}
	return err
}

// Discard takes the unfinished artifact away. What another writer may go on with stays until it is swept.
func (s *bucketSink) Discard() error {
	err := s.wait()
	if s.validator != "" {
		return err
	}
	for _, c := range s.chunks {
		err = errors.Join(err, s.bucket.objects.Delete(context.WithoutCancel(s.ctx), s.at+c.Key))
	}
	return err
}
