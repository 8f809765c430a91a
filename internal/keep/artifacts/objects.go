package artifacts

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"assay/internal/keep/objects"
)

// A call that hangs must end: the time for one grows with the bytes that it carries.
const (
	callTime = 30 * time.Second
	listTime = 5 * time.Minute
	callRate = 64 << 10 // bytes a second
)

// timed reads and writes objects that fit into memory, and gives every call to their store a deadline.
type timed struct{ store objects.Store }

func limitFor(bytes int64) time.Duration {
	return callTime + time.Duration(bytes/callRate)*time.Second
}

// Put writes an object.
func (t timed) Put(ctx context.Context, key string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, limitFor(int64(len(body))))
	defer cancel()
	return t.store.Put(ctx, key, objects.Bytes(body))
}

// Get reads n bytes from an offset.
func (t timed) Get(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, limitFor(n))
	defer cancel()
	resp, err := t.store.Get(ctx, key, http.Header{"Range": {fmt.Sprintf("bytes=%d-%d", offset, offset+n-1)}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.store, err)
	}
	if resp.StatusCode/100 != 2 || int64(len(got)) != n {
		return nil, fmt.Errorf("%s: want %d bytes of %s from %d, got %d (%s)", t.store, n, key, offset, len(got), resp.Status)
	}
	return got, nil
}

// List walks over the objects whose keys begin so.
func (t timed) List(ctx context.Context, prefix string) iter.Seq2[objects.Object, error] {
	return func(yield func(objects.Object, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, listTime)
		defer cancel()
		t.store.List(ctx, prefix)(yield)
	}
}

// Delete removes an object.
func (t timed) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return t.store.Delete(ctx, key)
}
