// Package memo keeps what is dear to compute, by versions of what it is computed from.
package memo

import (
	"context"
	"sync"
	"time"
)

// Memo keeps what is dear to compute: at most once per version of what it is made from, by one computation at a time,
// and not more often than it is worth while its source keeps changing.
type Memo[K comparable, T any] struct {
	now     func() time.Time
	compute func(ctx context.Context, key K) (T, error)
	mu      sync.Mutex
	all     map[K]*kept[T]
	made    int // results and errors so far
}

type kept[T any] struct {
	value   T
	version string // of the value; empty: there is none yet
	at      time.Time
	took    time.Duration
	err     error
	failed  string        // the version that the error is about
	working chan struct{} // closed when the computation that goes on ends; nil: none does
	used    time.Time
}

// Found is the current result of a memo.
type Found[T any] struct {
	Value   T
	Known   bool // there is a value
	Current bool // it is that of the version asked for
	At      time.Time
	Err     error
}

const (
	maxKept  = 64               // results that are held
	calm     = 20               // a new computation waits this many times as long as the last one took
	calmMost = 10 * time.Minute // … at most
)

func New[K comparable, T any](now func() time.Time, compute func(ctx context.Context, key K) (T, error)) *Memo[K, T] {
	return &Memo[K, T]{now: now, compute: compute, all: map[K]*kept[T]{}}
}

// Get hands over what is known of a version. Where that is nothing, or old, a computation begins, and is waited for as
// long as the asker has patience. It goes on when the asker leaves.
func (m *Memo[K, T]) Get(ctx context.Context, key K, version string, patience time.Duration) Found[T] {
	k, working := m.begin(ctx, key, version)
	if working != nil {
		wait := time.NewTimer(patience)
		defer wait.Stop()
		select {
		case <-working:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	f := Found[T]{Value: k.value, Known: k.version != "", Current: k.version == version, At: k.at}
	if k.failed == version {
		f.Err = k.err
	}
	return f
}

// begin starts a computation where one is due; it returns what to wait for, nil where nothing is.
func (m *Memo[K, T]) begin(ctx context.Context, key K, version string) (*kept[T], chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.all[key]
	if !ok {
		m.forget()
		k = &kept[T]{}
		m.all[key] = k
	}
	k.used = m.now()
	switch {
	case k.version == version || k.failed == version:
		return k, nil
	case k.working != nil:
		return k, k.working
	case k.version != "" && m.now().Sub(k.at) < min(calm*k.took, calmMost):
		return k, nil
	}
	k.working = make(chan struct{})
	go m.work(context.WithoutCancel(ctx), key, version, k)
	return k, k.working
}

func (m *Memo[K, T]) work(ctx context.Context, key K, version string, k *kept[T]) {
	ctx, stop := context.WithTimeout(ctx, 30*time.Minute)
	defer stop()
	began := m.now()
	v, err := m.compute(ctx, key)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.made++
	k.at, k.took = m.now(), m.now().Sub(began)
	if err != nil {
		k.err, k.failed = err, version
	} else {
		k.value, k.version, k.failed, k.err = v, version, "", nil
	}
	close(k.working)
	k.working = nil
}

// forget lets the result go that was not asked for the longest, where there are too many.
func (m *Memo[K, T]) forget() {
	if len(m.all) < maxKept {
		return
	}
	var oldest K
	var at time.Time
	for key, k := range m.all {
		if k.working == nil && (at.IsZero() || k.used.Before(at)) {
			oldest, at = key, k.used
		}
	}
	delete(m.all, oldest)
}

// State returns a text that changes when there is a new result.
func (m *Memo[K, T]) State(key K) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.all[key]
	if !ok {
		return ""
	}
	return k.at.Format(time.RFC3339Nano)
}

// Count returns how many computations have ended.
func (m *Memo[K, T]) Count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made
}
