package backend

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"sync"

	"assay/internal/simulator/dice"
)

// Session is a resumable upload: bytes on disk, and the file they will be.
type Session struct {
	ID    string
	Total int64 // as announced; -1: not announced

	sync.Mutex // of what follows
	File       *File
	Received   int64
	Over       bool
}

// NewSession begins an upload of what will be f.
func (c *Call) NewSession(f *File, total int64) *Session {
	f.Account = cmp.Or(f.Account, c.Account)
	n := &Session{ID: dice.Letters(dice.Base62, 40)(c.NewNumber()), File: f, Total: total}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.sessions[n.ID] = n
	return n
}

// Session finds an upload that has begun; nil: there is none.
func (c *Call) Session(id string) *Session {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.s.sessions[id]
}

// EndSession forgets an upload.
func (c *Call) EndSession(id string) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	delete(c.s.sessions, id)
}

// Append writes what r holds to the end and returns how much that was. What came before an error is kept.
func (n *Session) Append(r io.Reader) (int64, error) {
	f, err := os.OpenFile(n.File.Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	got, err := io.Copy(f, r)
	n.Received += got
	return got, errors.Join(err, f.Close())
}

// KeepWhole forgets the bytes behind the last whole unit.
func (n *Session) KeepWhole(unit int64) { n.Rewind(n.Received % unit) }

// Rewind forgets so many bytes at the end. A file that cannot be cut shows when it is finished.
func (n *Session) Rewind(bytes int64) {
	if err := os.Truncate(n.File.Path, n.Received-bytes); err == nil {
		n.Received -= bytes
	}
}

// Finish closes the session: the file is whole.
func (n *Session) Finish() error {
	f, err := os.OpenFile(n.File.Path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	size, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	n.File.Size, n.File.Sum, n.Over = size, h.Sum(nil), true
	return nil
}
