package backend

import (
	"maps"
	"slices"
	"sync"
)

// maxModels bounds how many models a simulator remembers to have been asked.
const maxModels = 1000

// modelNames are the names of models that were asked.
type modelNames struct {
	mu    sync.Mutex
	known map[string]bool
}

func newModelNames() *modelNames { return &modelNames{known: map[string]bool{}} }

func (m *modelNames) add(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) < maxModels {
		m.known[name] = true
	}
}

func (m *modelNames) names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.known))
}
