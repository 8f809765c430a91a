// Package read reads a ledger: rows for the analysis, pages for the dashboard, answers of other runs to use again.
package read

import "assay/internal/keep/store/db"

// Reader reads the rows of a ledger: it holds no lease, and changes nothing. It is safe for concurrent use.
type Reader struct{ db *db.DB }

// New returns the reader of a database.
func New(d *db.DB) *Reader { return &Reader{d} }

// Pages reads a ledger page by page, and sums of it, for people who look at runs. It is safe for concurrent use.
type Pages struct {
	db     *db.DB
	reader *Reader
}

// NewPages returns the pages of a database.
func NewPages(d *db.DB) *Pages { return &Pages{d, New(d)} }

// Reuse finds answers that can be reused. It is safe for concurrent use.
type Reuse struct {
	db     *db.DB
	reader *Reader
}

// NewReuse returns the finder of a database.
func NewReuse(d *db.DB) *Reuse { return &Reuse{d, New(d)} }
