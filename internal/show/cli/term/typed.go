package term

import (
	"context"
	"io"
)

// Typed reads what a person types at a prompt, until the context ends: Ctrl-C is noticed while a line is awaited.
type Typed struct {
	Context context.Context
	From    io.Reader
}

// Read returns what was typed.
func (t *Typed) Read(p []byte) (int, error) {
	type piece struct {
		text []byte
		err  error
	}
	came := make(chan piece, 1)
	go func() { // the read itself cannot be ended; the process is about to
		text := make([]byte, len(p))
		n, err := t.From.Read(text)
		came <- piece{text[:n], err}
	}()
	select {
	case <-t.Context.Done():
		return 0, t.Context.Err()
	case c := <-came:
		return copy(p, c.text), c.err
	}
}
