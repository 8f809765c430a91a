package term

import (
	"io"
	"sync"
)

// Lines lets several goroutines write whole lines into one stream.
type Lines struct {
	To io.Writer

	mu sync.Mutex
}

// Write passes a line on.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.To.Write(p)
}

// Prefixed writes every line behind a text that says what it is about.
type Prefixed struct {
	To     io.Writer
	Prefix string
}

// Write passes a line on behind its prefix.
func (p *Prefixed) Write(line []byte) (int, error) {
	if _, err := p.To.Write(append([]byte(p.Prefix), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
