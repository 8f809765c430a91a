package driving

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// quiet writes a message once a minute, and how often it came meanwhile: while a database is away, every piece of work meets the same.
type quiet struct {
	slog.Handler
	written *messages
}

// messages are those that were written in the last minute, and those that came again since.
type messages struct {
	mu    sync.Mutex
	swept time.Time
	all   map[string]*message
}

// message is when one was written, and how often it came since.
type message struct {
	at       time.Time
	repeated int
}

const (
	quietFor       = time.Minute // the same message is not written again
	forgottenAfter = time.Hour   // nor is it kept how often it came
)

func newQuiet(to slog.Handler) quiet { return quiet{to, &messages{all: map[string]*message{}}} }

// Handle writes a record, or counts it.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	key := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "run" || a.Key == "segment" {
			key += " " + a.Value.String()
		}
		return true
	})
	repeated, write := q.written.now(key, r.Time)
	if !write {
		return nil
	}
	if repeated > 0 {
		r.AddAttrs(slog.Int("repeated", repeated))
	}
	return q.Handler.Handle(ctx, r)
}

// now reports whether a message is to be written at a time, and how often it came since it was written last. A message that does not
// come again is forgotten.
func (w *messages) now(key string, at time.Time) (repeated int, write bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.Sub(w.swept) >= quietFor {
		w.swept = at
		maps.DeleteFunc(w.all, func(_ string, m *message) bool {
			return at.Sub(m.at) >= quietFor && m.repeated == 0 || at.Sub(m.at) >= forgottenAfter
		})
	}
	m, ok := w.all[key]
	if ok && at.Sub(m.at) < quietFor {
		m.repeated++
		return 0, false
	}
	if ok {
		repeated = m.repeated
	}
	w.all[key] = &message{at: at}
	return repeated, true
}

// WithAttrs returns a handler that adds attributes.
func (q quiet) WithAttrs(all []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(all), q.written}
}

// WithGroup returns a handler that opens a group.
func (q quiet) WithGroup(name string) slog.Handler {
	return quiet{q.Handler.WithGroup(name), q.written}
}
