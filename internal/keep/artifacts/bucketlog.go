package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// appended is the destination of a log.
type appended interface {
	io.WriteCloser
	Sync() error
}

// Log begins a log. One Sync is one object: what was not synced is lost with the process.
func (b *Bucket) Log(run, name string) (*Log, error) {
	at, err := b.at(run, name)
	if err != nil {
		return nil, err
	}
	l := &bucketLog{bucket: b, at: at, writer: random()}
	if err := l.open(context.Background()); errors.Is(err, fs.ErrExist) { // any other error: the next Sync tries it again
		return nil, fmt.Errorf("open log %s: %w", at, err)
	}
	return &Log{at: at, file: l}, nil
}

// open marks the log as having a writer, and makes sure that it has no other. Of two that open it at once none may have
// it.
func (l *bucketLog) open(ctx context.Context) error {
	own := l.at + logKey + "opened." + l.writer
	if err := l.bucket.objects.Put(ctx, own, []byte("opened\n")); err != nil {
		return err
	}
	for o, err := range l.bucket.objects.List(ctx, l.at) {
		if err != nil {
			return err
		}
		if o.Key != own {
			return errors.Join(fs.ErrExist, l.bucket.objects.Delete(ctx, own))
		}
	}
	l.opened = true
	return nil
}

// mostInLog is how many bytes of a log wait for a Sync, and mostUnput how many while the store is away.
const mostInLog, mostUnput = 4 << 20, 64 << 20

// bucketLog puts what was written since the last Sync. No context ends it: what is in hand is kept.
type bucketLog struct {
	bucket     *Bucket
	at, writer string
	putting    sync.Mutex // one at a time, in the order of the offsets
	opened     bool
	offset     int64

	mu      sync.Mutex
	waiting []byte
}

// Write keeps the bytes in memory. Too many of them are put at once; where that does not work, they wait for the next Sync.
func (l *bucketLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.waiting = append(l.waiting, p...)
	n := len(l.waiting)
	l.mu.Unlock()
	if n < mostInLog {
		return len(p), nil
	}
	if err := l.Sync(); err != nil && n >= mostUnput {
		return 0, err
	}
	return len(p), nil
}

// Sync puts what waits. What could not be put waits on, and gets another key: the put that failed may yet arrive.
func (l *bucketLog) Sync() error {
	l.putting.Lock()
	defer l.putting.Unlock()
	if !l.opened {
		if err := l.open(context.Background()); err != nil {
			return err
		}
	}
	l.mu.Lock()
	body := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	if len(body) == 0 {
		return nil
	}
	if err := l.bucket.objects.Put(context.Background(), l.at+chunkKey("log", l.offset, l.writer), body); err != nil {
		l.mu.Lock()
		l.waiting = slices.Concat(body, l.waiting)
		l.mu.Unlock()
		l.writer = random()
		return err
	}
	l.offset += int64(len(body))
	return nil
}

// Close puts what waits.
func (l *bucketLog) Close() error { return l.Sync() }
