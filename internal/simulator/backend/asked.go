package backend

import (
	"maps"
	"slices"
	"sync"
)

// maxNames bounds how many models a simulator remembers to have been asked.
const maxNames = 1000

// roll is the names of models that were asked.
type roll struct {
	mu    sync.Mutex
	known map[string]bool
}

func newRoll() *roll { return &roll{known: map[string]bool{}} }

func (r *roll) add(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) < maxNames {
		r.known[name] = true
	}
}

func (r *roll) names() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.known))
}
