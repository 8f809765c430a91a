// Package hooks takes providers' notices that a job has ended. A notice that is signed wakes a poll of the job, and does nothing
// else: what it reports is not believed, and a job without a notice is polled as ever.
package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Receiver answers notices on one path for each provider, such as /openai.
type Receiver struct {
	by   map[string]Verifier
	wake func(ctx context.Context, job string) error
	now  func() time.Time
	jobs chan string

	mu   sync.Mutex
	seen map[string]time.Time // ids of notices that were taken, and when
}

const (
	// largest is how many bytes a notice may have.
	largest = 64 << 10
	// skew is how much the time of a notice may differ from ours.
	skew = 5 * time.Minute
	// repeats is how long providers send a notice again.
	repeats = 72 * time.Hour
	// most is how many ids are remembered, and waiting how many jobs may wait for their wake.
	most, waiting = 100_000, 1000
)

// Verifier is what the notices of a provider are verified with.
type Verifier struct {
	Secrets []Secret
	Tokens  *Tokens // nil: it sends none, or they are not taken
}

// New makes a receiver for providers whose verifiers are given. wake makes the poll of a job come at once, where it is one of ours.
func New(by map[string]Verifier, now func() time.Time, wake func(ctx context.Context, job string) error) *Receiver {
	return &Receiver{by: by, wake: wake, now: now, jobs: make(chan string, waiting), seen: map[string]time.Time{}}
}

// Work wakes the polls of jobs whose notices were taken until the context ends. failed is called with each that did not work.
func (r *Receiver) Work(ctx context.Context, failed func(error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case job := <-r.jobs:
			if err := r.wake(ctx, job); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
	}
}

// ServeHTTP verifies a notice and answers at once; what it wakes is done after.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	by, ok := r.by[strings.Trim(q.URL.Path, "/")]
	switch {
	case !ok:
		http.NotFound(w, q)
		return
	case q.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "want POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, largest))
	if err != nil {
		http.Error(w, "the body is too large or was cut off", http.StatusRequestEntityTooLarge)
		return
	}
	id, is := by.verify(q, body, r.now())
	switch is {
	case forged:
		http.Error(w, "the signature is not the provider's", http.StatusUnauthorized)
		return
	case stale:
		http.Error(w, "the time of the notice is more than five minutes from now", http.StatusBadRequest)
		return
	}
	if !r.take(q.URL.Path+" "+id, jobOf(body)) {
		http.Error(w, "too many notices wait", http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// verify checks a notice, and returns the id under which it counts once: a token is good for one notice, whatever stands beside it.
func (v Verifier) verify(q *http.Request, body []byte, now time.Time) (id string, is judgement) {
	id, signature := q.Header.Get("webhook-id"), q.Header.Get("webhook-signature")
	if v.Tokens != nil && isToken(signature) {
		sum := sha256.Sum256([]byte(signature))
		return hex.EncodeToString(sum[:]), v.Tokens.verify(q.Context(), signature, now)
	}
	return id, verify(v.Secrets, id, q.Header.Get("webhook-timestamp"), signature, body, now)
}

// take puts a job into the line of those to be woken, once for each notice. It reports whether there was room.
func (r *Receiver) take(id, job string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if at, ok := r.seen[id]; job == "" || ok && now.Sub(at) < repeats {
		return true
	}
	select {
	case r.jobs <- job:
	default:
		return false // not remembered: the provider sends it again
	}
	if len(r.seen) >= most {
		r.forget(now)
	}
	r.seen[id] = now
	return true
}

// forget drops the ids that providers do not repeat any more; where none is so old, all: a repeat wakes a poll and nothing else.
func (r *Receiver) forget(now time.Time) {
	for id, at := range r.seen {
		if now.Sub(at) >= repeats {
			delete(r.seen, id)
		}
	}
	if len(r.seen) >= most {
		clear(r.seen)
	}
}

// jobOf returns the job that a notice is about; empty: it is about none. Nothing else of it is read.
func jobOf(body []byte) string {
	var notice struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &notice) != nil {
		return ""
	}
	return notice.Data.ID
}
