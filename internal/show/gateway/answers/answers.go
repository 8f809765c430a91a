// Package answers joins clients to the live calls that are made for them: a client that tries again is given the answer of the call
// that it gave up, and an answer that its client lost is kept for a while.
package answers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"assay/internal/show/gateway/openai"
)

// Calls are the live calls of a gateway that are in flight or kept, oldest first. The zero value has none. They are safe for
// concurrent use.
type Calls struct {
	mu  sync.Mutex
	all []*Call
}

// Call is a live call in flight, or one whose answer is still kept for a client that lost it.
type Call struct {
	once string // the client's key for it; empty: none
	sum  string // of the user, the API and the body

	mu     sync.Mutex
	moved  chan struct{} // closed when something below changes, and made anew
	events [][]byte      // of a stream
	ended  bool
	body   []byte // of an answer that is no stream
	err    error
	less   []string    // members of its body that were left out
	alone  bool        // its client hung up before it had the answer
	kept   *time.Timer // at its end the answer is forgotten; nil: it is not kept
}

// change does something under the lock, and wakes those who wait.
func (f *Call) change(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
	close(f.moved)
	f.moved = make(chan struct{})
}

// Add takes events of a stream.
func (f *Call) Add(events ...[]byte) {
	if len(events) > 0 {
		f.change(func() { f.events = append(f.events, events...) })
	}
}

// End takes the answer, or why there is none.
func (f *Call) End(body []byte, err error) {
	f.change(func() { f.ended, f.body, f.err = true, body, err })
}

// Without notes which members of the body were left out, before anything of the answer comes.
func (f *Call) Without(names []string) { f.change(func() { f.less = names }) }

// Less returns which members of the body were left out.
func (f *Call) Less() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.less
}

// Leave notes that a client hung up before it had the answer.
func (f *Call) Leave() { f.change(func() { f.alone = true }) }

// Since returns what came after so many events, whether that is all, and what to wait for where it is not.
func (f *Call) Since(n int) (events [][]byte, ended bool, moved chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.events[n:], f.ended, f.moved
}

// Result returns the answer of a call that has ended, which has no body if it was streamed.
func (f *Call) Result() ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.body, f.err
}

const (
	keptAnswer = 10 * time.Minute // for which an answer is kept that its client lost
	noticed    = 2 * time.Second  // within which a hang-up is noticed, mostly
	mostKept   = 1000             // answers that are kept
	mostBytes  = 64 << 20         // of all of them
)

// Request is a call as its client makes it.
type Request struct {
	User, API string
	Body      []byte
	Once      string // the client's own key for it; empty: none
	Again     bool   // it is a further try, by the client's own account
}

// Join returns the call that a request repeats, or begins one. A client that tries again is given the answer of the call
// that it gave up, each of several equal ones to one; a key of its own leads to its call in any case.
func (s *Calls) Join(ctx context.Context, q Request) (f *Call, first bool, err error) {
	sum := sha256.Sum256(append([]byte(q.User+"\n"+q.API+"\n"), q.Body...))
	f = &Call{once: q.Once, sum: hex.EncodeToString(sum[:]), moved: make(chan struct{})}
	if f.once != "" {
		f.once = q.User + "\n" + f.once
	}
	give := time.NewTimer(noticed)
	defer give.Stop()
	for waits := true; ; {
		old, other, moved := s.same(f, q.Again, waits)
		switch {
		case other:
			return nil, false, openai.Wrong(http.StatusBadRequest, "idempotency_key_reused", "",
				"The Idempotency-Key was used for another request.")
		case old != nil:
			return old, false, nil
		case moved == nil:
			return f, true, nil
		}
		select { // by its own account it gave a call up, and here that call has its client still
		case <-moved:
		case <-give.C:
			waits = false
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// same returns the call that f repeats, or adds f if there is none, under one lock. If all calls with an equal body still
// have their client and waits is set, it returns a channel that is closed when one of them changes.
func (s *Calls) same(f *Call, again, waits bool) (old *Call, other bool, moved chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.all {
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
		s.all = append(s.all, f)
		return nil, false, nil
	}
	return nil, false, moved
}

// Release lets a call go that has ended, and forgets the oldest answers if there are too many.
func (s *Calls) Release(f *Call) {
	s.land(f)
	s.trim()
}

// land lets a call go: at once where its client has the answer, else after a while. One under a key is kept in any case.
func (s *Calls) land(f *Call) {
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

func (s *Calls) forget(f *Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.all {
		if o == f {
			s.all = append(s.all[:i:i], s.all[i+1:]...)
			return
		}
	}
}

// trim forgets the oldest answers if there are too many.
func (s *Calls) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := 0
	for _, f := range s.all {
		_, n := f.over()
		bytes += n
	}
	for i := 0; (len(s.all) > mostKept || bytes > mostBytes) && i < len(s.all); {
		f := s.all[i]
		over, n := f.over()
		if !over {
			i++
			continue
		}
		f.kept.Stop() // it holds the answer
		bytes -= n
		s.all = append(s.all[:i:i], s.all[i+1:]...)
	}
}

// over reports whether a call has ended and is kept, and how large its answer is.
func (f *Call) over() (bool, int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.body)
	for _, e := range f.events {
		n += len(e)
	}
	return f.ended && f.kept != nil, n
}
