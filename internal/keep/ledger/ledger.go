// Package ledger opens a ledger: the faces of one database, each to be handed to those who need it.
package ledger

import (
	"context"
	"time"

	"assay/internal/keep/store/clients"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/runs"
	"assay/internal/keep/store/sending"
)

// Ledger is an open ledger. It is safe for concurrent use.
type Ledger struct {
	Work    *sending.Store    // steps of segments, for the engine
	Leases  *sending.Leases   // who works on what, and what is due
	Limits  *sending.Limits   // what accounts may send
	Uploads *sending.Uploads  // files that requests show, at their providers
	Imports *sending.Importer // answers made elsewhere
	Runs    *runs.Store       // runs begun, edited, ordered about, labelled
	Clients *clients.Store    // users of a gateway
	Reader  *read.Reader      // rows
	Pages   *read.Pages       // pages and sums for people
	Reuse   *read.Reuse       // answers of other runs

	db *db.DB
}

// Options are the settings of a ledger. The zero value works.
type Options db.Options

// Connections to PostgreSQL that one process may have, all taken together.
const (
	UsualConnections = db.UsualConnections
	LeastConnections = db.LeastConnections
)

// Away reports whether a ledger could not be opened because its server cannot be reached now, and may be again soon.
func Away(err error) bool { return db.Unreachable(err) }

// Open opens the ledger at a path (SQLite) or a postgres:// URL, and brings it up to date.
func Open(ctx context.Context, where string, o Options) (*Ledger, error) {
	d, err := db.Open(ctx, where, db.Options(o))
	if err != nil {
		return nil, err
	}
	return &Ledger{
		Work: sending.New(d), Leases: sending.NewLeases(d), Limits: sending.NewLimits(d), Imports: sending.NewImporter(d),
		Uploads: sending.NewUploads(d),
		Runs:    runs.New(d), Clients: clients.New(d), Reader: read.New(d), Pages: read.NewPages(d), Reuse: read.NewReuse(d), db: d,
	}, nil
}

// Close ends all connections.
func (l *Ledger) Close() error { return l.db.Close() }

// Snapshot writes the ledger as it is now into a new file, while others use it. A PostgreSQL ledger has tools of its own.
func (l *Ledger) Snapshot(ctx context.Context, file string) error { return l.db.Snapshot(ctx, file) }

// Postgres reports whether the ledger is PostgreSQL, which many workers may share.
func (l *Ledger) Postgres() bool { return l.db.Postgres() }

// Away reports whether an error means that the ledger cannot be reached now, and may be again soon. What was to be written may
// have been: only what may be written twice can be tried again.
func (l *Ledger) Away(err error) bool { return l.db.Away(err) }

// Now returns the time by which everything in the ledger waits. Processes that share a PostgreSQL ledger may share its clock, so
// that a wait that protects money does not depend on who looks.
func (l *Ledger) Now() time.Time { return l.db.Now() }
