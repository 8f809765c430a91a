package artifacts

import (
	"context"
	"iter"
	"time"
)

// Objects is what a bucket needs of an object store. Nothing is built on conditions, on multipart uploads or on the order of
// a list: some servers promise them and break the promise in silence.
type Objects interface {
	// Put writes an object, whole or not at all, and durably. The same bytes twice are no error.
	Put(ctx context.Context, key string, body []byte) error
	// Get reads n bytes from an offset. An object that is not there is fs.ErrNotExist, and nothing else is.
	Get(ctx context.Context, key string, offset, n int64) ([]byte, error)
	// List walks over the objects whose keys begin so.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, key string) error
	// String says where the objects are, without secrets.
	String() string
}

// Object is what a list says of an object.
type Object struct {
	Key  string
	Size int64
	Time time.Time // when it was put, by the store's clock
}

// A call that hangs must end: the time for one grows with the bytes that it carries.
const (
	callTime = 30 * time.Second
	listTime = 5 * time.Minute
	callRate = 64 << 10 // bytes a second
)

// timed gives every call to an object store a deadline.
type timed struct{ Objects }

func limitFor(bytes int64) time.Duration {
	return callTime + time.Duration(bytes/callRate)*time.Second
}

func (t timed) Put(ctx context.Context, key string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, limitFor(int64(len(body))))
	defer cancel()
	return t.Objects.Put(ctx, key, body)
}

func (t timed) Get(ctx context.Context, key string, offset, n int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limitFor(n))
	defer cancel()
	return t.Objects.Get(ctx, key, offset, n)
}

func (t timed) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		ctx, cancel := context.WithTimeout(ctx, listTime)
		defer cancel()
		t.Objects.List(ctx, prefix)(yield)
	}
}

func (t timed) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return t.Objects.Delete(ctx, key)
}
