package simulator

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync"
)

// session is a resumable upload: bytes on disk, and the file they will be.
type session struct {
	id    string
	total int64 // as announced; -1: not announced

	mu       sync.Mutex
	file     *file
	received int64
	over     bool
}

// newSession begins an upload of what will be f.
func (s *Server) newSession(c *call, f *file, total int64) *session {
	n := &session{id: letters(base62, 40)(s.newID(c.v.name, c.now)), file: f, total: total}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[n.id] = n
	return n
}

func (s *Server) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

func (s *Server) endSession(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
}

// append writes what r holds to the end and tells how much that was. What came before an error is kept.
func (n *session) append(r io.Reader) (int64, error) {
	f, err := os.OpenFile(n.file.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	got, err := io.Copy(f, r)
	n.received += got
	return got, errors.Join(err, f.Close())
}

// keepWhole forgets the bytes behind the last whole unit.
func (n *session) keepWhole(unit int64) { n.rewind(n.received % unit) }

// rewind forgets so many bytes at the end. A file that cannot be cut shows when it is finished.
func (n *session) rewind(bytes int64) {
	if err := os.Truncate(n.file.path, n.received-bytes); err == nil {
		n.received -= bytes
	}
}

// finish closes the session: the file is whole.
func (n *session) finish() error {
	f, err := os.OpenFile(n.file.path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	n.file.size, n.file.sum, n.over = size, h.Sum(nil), true
	return nil
}
