package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Every call ends. A small one has a time to be over by; one that carries much may take as long as it likes while something
// moves. Only launches and live questions are left to the deadline of their caller, who knows how long those may take.

const (
	defaultDeadline = time.Minute
	defaultStall    = 2 * time.Minute
)

// overdueError is why a call was given up.
type overdueError struct{ code, text string }

func (e *overdueError) Error() string { return e.text }

// overdue returns why a call was given up by us, if it was.
func overdue(ctx context.Context) (*overdueError, bool) {
	var late *overdueError
	return late, errors.As(context.Cause(ctx), &late)
}

// inTime bounds a small call. One that carries much is bounded by Do.
func (c *Client) inTime(ctx context.Context, call Call) (context.Context, context.CancelFunc) {
	if call.unhurried || call.Length > trusted {
		return ctx, func() {}
	}
	most := cmp.Or(c.deadline, defaultDeadline)
	return context.WithTimeoutCause(ctx, most, &overdueError{"timeout", fmt.Sprintf("no answer within %s", most)})
}

// watch ends a call in which nothing moves.
type watch struct {
	timer *time.Timer
	wait  time.Duration
	end   context.CancelCauseFunc
}

// watched returns a context that ends when nothing has moved for too long.
func (c *Client) watched(ctx context.Context) (context.Context, *watch) {
	w := &watch{wait: cmp.Or(c.stall, defaultStall)}
	ctx, w.end = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(w.wait, func() { w.end(&overdueError{"stalled", fmt.Sprintf("nothing moved for %s", w.wait)}) })
	return ctx, w
}

func (w *watch) moved() { w.timer.Reset(w.wait) }

func (w *watch) over() {
	w.timer.Stop()
	w.end(nil)
}

// sends returns a body whose every byte that goes out is a move.
func (w *watch) sends(body io.Reader) io.Reader {
	if body == nil || body == http.NoBody {
		return body
	}
	return &movingBody{ReadCloser: closing(body), watch: w}
}

// receives returns the same for the body of an answer. The watch is over when it is closed.
func (w *watch) receives(body io.ReadCloser) io.ReadCloser {
	w.moved()
	return &movingBody{ReadCloser: body, watch: w, last: true}
}

// movingBody reports what moves through it.
type movingBody struct {
	io.ReadCloser
	watch *watch
	last  bool              // nothing comes after it
	fault func(error) error // makes a fault of an error; nil: whoever reads does
}

func (b *movingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.moved()
	}
	if err != nil && err != io.EOF && b.fault != nil {
		err = b.fault(err)
	}
	return n, err
}

func (b *movingBody) Close() error {
	err := b.ReadCloser.Close()
	if b.last {
		b.watch.over()
	}
	return err
}
