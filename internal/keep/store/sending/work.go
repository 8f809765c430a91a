// Package sending keeps what it takes to send runs: who works on what, what an account may send, and every step of a segment from its plan
// to its outcomes.
package sending

import (
	"context"
	"sync/atomic"

	"assay/internal/keep/store/db"
	"assay/internal/keep/store/read"
)

// Store writes the steps of segments and what comes of them. It is safe for concurrent use.
type Store struct {
	db     *db.DB
	reader *read.Reader
}

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d, read.New(d)} }

// Leases gives work to one process at a time, and lists what is due. It is safe for concurrent use.
type Leases struct {
	db        *db.DB
	reader    *read.Reader
	takenOver atomic.Int64
}

// NewLeases returns the leases of a database.
func NewLeases(d *db.DB) *Leases { return &Leases{db: d, reader: read.New(d)} }

// Away reports whether an error means that the ledger cannot be reached now, and may be again soon.
func (s *Leases) Away(err error) bool { return s.db.Away(err) }

// Current returns a *db.NewerError where a newer program has changed the ledger since it was opened.
func (s *Leases) Current(ctx context.Context) error { return s.db.Current(ctx) }

// Limits keeps what accounts may send: models that take nothing for a while, tokens that wait, caps that workers share. It is safe for
// concurrent use.
type Limits struct{ db *db.DB }

// NewLimits returns the limits of a database.
func NewLimits(d *db.DB) *Limits { return &Limits{d} }

// Importer writes answers that were made elsewhere. It is safe for concurrent use.
type Importer struct{ db *db.DB }

// NewImporter returns the importer of a database.
func NewImporter(d *db.DB) *Importer { return &Importer{d} }
