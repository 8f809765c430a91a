package driving

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// quiet writes a message once a minute, and how often it came meanwhile: while a database is away, every piece of work meets the same.
type quiet struct {
	slog.Handler
	said *sayings
}

// sayings are the messages that were written.
type sayings struct {
	mu   sync.Mutex
	last map[string]time.Time
	more map[string]int // since then
}

// quietFor is how long the same message is not written again.
const quietFor = time.Minute

func newQuiet(to slog.Handler) quiet {
	return quiet{to, &sayings{last: map[string]time.Time{}, more: map[string]int{}}}
}

// Handle writes a record, or counts it.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	key := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "run" || a.Key == "segment" {
			key += " " + a.Value.String()
		}
		return true
	})
	q.said.mu.Lock()
	if last, ok := q.said.last[key]; ok && r.Time.Sub(last) < quietFor {
		q.said.more[key]++
		q.said.mu.Unlock()
		return nil
	}
	if n := q.said.more[key]; n > 0 {
		r.AddAttrs(slog.Int("repeated", n))
	}
	q.said.last[key] = r.Time
	delete(q.said.more, key)
	q.said.mu.Unlock()
	return q.Handler.Handle(ctx, r)
}

// WithAttrs returns a handler that adds attributes.
func (q quiet) WithAttrs(all []slog.Attr) slog.Handler {
	return quiet{q.Handler.WithAttrs(all), q.said}
}

// WithGroup returns a handler that opens a group.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name), q.said} }
