// Package clients keeps what the users of a gateway send, spend and may spend: files, live calls, budgets.
package clients

import "assay/internal/keep/store/db"

// Store reads and writes what belongs to the users of a gateway. It is safe for concurrent use.
type Store struct{ db *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }
