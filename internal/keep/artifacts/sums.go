package artifacts

import (
	"crypto/sha256"
	"hash"
	"hash/crc32"
	"sync"
)

// sums are the hash and the checksum of what is written.
type sums struct {
	sha hash.Hash
	crc uint32
}

func newSums() sums { return sums{sha: sha256.New()} }

func (s *sums) reset() {
	s.sha.Reset()
	s.crc = 0
}

// Write adds bytes; it never fails.
func (s *sums) Write(p []byte) (int, error) {
	s.crc = crc32.Update(s.crc, crc32.MakeTable(crc32.Castagnoli), p)
	return s.sha.Write(p)
}

// written remembers the checksums of the artifacts that were finished last, by their names and hashes.
type written struct {
	mu   sync.Mutex
	sums map[[3]string]uint32
	last [1024][3]string // the names, in a ring
	next int
}

func (w *written) add(run, name, sha string, crc uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sums == nil {
		w.sums = map[[3]string]uint32{}
	}
	key := [3]string{run, name, sha}
	if _, there := w.sums[key]; there {
		return
	}
	delete(w.sums, w.last[w.next])
	w.sums[key], w.last[w.next] = crc, key
	w.next = (w.next + 1) % len(w.last)
}

func (w *written) of(run, name, sha string) (uint32, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	crc, ok := w.sums[[3]string{run, name, sha}]
	return crc, ok
}
