// Package runs begins runs and writes what people and studies do to them: edits, orders, labels, verdicts and decisions.
package runs

import (
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/read"
)

// Store begins runs and changes them. It is safe for concurrent use.
type Store struct {
	db     *db.DB
	reader *read.Reader
}

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d, read.New(d)} }
