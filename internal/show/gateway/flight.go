package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"
)

// flight is a live call in flight, or one whose answer is still kept for a client that lost it.
type flight struct {
	once string // the client's key for it; empty: none
	sum  string // of the user, the API and the body

	mu     sync.Mutex
	moved  chan struct{} // closed when something below changes, and made anew
	events [][]byte      // of a stream
	ended  bool
	body   []byte // of an answer that is no stream
	err    error
	alone  bool        // its client hung up before it had the answer
	kept   *time.Timer // at its end the answer is forgotten; nil: it is not kept
}

// change does something under the lock, and wakes those who wait.
func (f *flight) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.moved)
	f.moved = make(chan struct{})
}

func (f *flight) add(events ...[]byte) {
	if len(events) > 0 {
		f.change(func() { f.events = append(f.events, events...) })
	}
}

func (f *flight) end(body []byte, err error) {
	f.change(func() { f.ended, f.body, f.err = true, body, err })
}

// leave notes that a client hung up.
func (f *flight) leave() { f.change(func() { f.alone = true }) }

// since is what came after so many events, whether that is all, and what to wait for where it is not.
func (f *flight) since(n int) (events [][]byte, ended bool, moved chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events[n:], f.ended, f.moved
}

const (
	keptAnswer = 10 * time.Minute // for which an answer is kept that its client lost
	noticed    = 2 * time.Second  // within which a hang-up is noticed, mostly
	mostKept   = 1000             // answers that are kept
	mostBytes  = 64 << 20         // of all of them
)

// board finds the flight that a call repeats, or begins one. A client that says it tries again is given the answer of the call
// that it gave up, each of several equal ones to one; a key of its own leads to its call in any case.
func (s *Server) board(ctx context.Context, c *call, api string, body []byte) (f *flight, first bool, err error) {
	sum := sha256.Sum256(append([]byte(c.user.Name+"\n"+api+"\n"), body...))
	f = &flight{once: c.Header.Get("Idempotency-Key"), sum: hex.EncodeToString(sum[:]), moved: make(chan struct{})}
	if f.once != "" {
		f.once = c.user.Name + "\n" + f.once
	}
	again := c.Header.Get("X-Stainless-Retry-Count")
	give := time.NewTimer(noticed)
	defer give.Stop()
	for waits := true; ; {
		old, other, moved := s.same(f, again != "" && again != "0", waits)
		switch {
		case other:
			return nil, false, wrong(http.StatusBadRequest, "idempotency_key_reused", "", "The Idempotency-Key was used for another request.")
		case old != nil:
			return old, false, nil
		case moved == nil:
			return f, true, nil
		}
		select { // it says that it gave a call up, and here that call has its client still
		case <-moved:
		case <-give.C:
			waits = false
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// same finds the flight that a call repeats; where there is none it begins the call's own, under the same lock. Moved is closed when a
// flight of the same words changes, of which none is free, where the call waits for one.
func (s *Server) same(f *flight, again, waits bool) (old *flight, other bool, moved chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.flights {
		if f.once != "" && o.once == f.once {
			return o, o.sum != f.sum, nil
		}
		if f.once != "" || !again || o.once != "" || o.sum != f.sum {
			continue
		}
		o.mu.Lock()
		free, change, over := o.alone, o.moved, o.ended
		if free {
			o.alone = false
		}
		o.mu.Unlock()
		if free {
			return o, false, nil
		}
		if !over {
			moved = change
		}
	}
	if moved == nil || !waits {
		s.flights = append(s.flights, f)
		return nil, false, nil
	}
	return nil, false, moved
}

// land lets a flight go: at once where its client has the answer, else after a while. One under a key is kept in any case.
func (s *Server) land(f *flight) {
	f.mu.Lock()
	keep := f.err == nil && (f.alone || f.once != "")
	f.mu.Unlock()
	if !keep {
		s.forget(f)
		return
	}
	timer := time.AfterFunc(keptAnswer, func() { s.forget(f) })
	f.mu.Lock()
	f.kept = timer
	f.mu.Unlock()
}

func (s *Server) forget(f *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.flights {
		if o == f {
			s.flights = append(s.flights[:i:i], s.flights[i+1:]...)
			return
		}
	}
}

// trim forgets the oldest answers where there are too many.
func (s *Server) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := 0
	for _, f := range s.flights {
		_, n := f.over()
		bytes += n
	}
	for i := 0; (len(s.flights) > mostKept || bytes > mostBytes) && i < len(s.flights); {
		f := s.flights[i]
		over, n := f.over()
		if !over {
			i++
			continue
		}
		f.kept.Stop() // it holds the answer
		bytes -= n
		s.flights = append(s.flights[:i:i], s.flights[i+1:]...)
	}
}

// over reports whether a flight has ended and is kept, and how large its answer is.
func (f *flight) over() (bool, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.body)
	for _, e := range f.events {
		n += len(e)
	}
	return f.ended && f.kept != nil, n
}
