// Package db is the database of a ledger, SQLite or PostgreSQL: connections, transactions and migrations.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"assay/internal/assay"
)

// DB is an open database. It is safe for concurrent use.
type DB struct {
	engine database
	write  io.Closer
	read   reader        // SQLite: never waits for the writer
	stream reader        // for rows that are read one by one: what a caller does meanwhile may read and write, through other connections
	places chan struct{} // of walks that have connections of their own; nil: as many as there are
	around func(op string, call func() error) error
	synced func()

	connections int
	pools       func(dsn string) (*sql.DB, error)

	own    func() time.Time // this process's clock
	shared bool             // the database's clock counts
	skew   atomic.Int64     // by how much it is ahead of our own, in nanoseconds
	clocks steady

	digests sync.Mutex
	indexed bool // digests are, as far as this process knows
}

// Options are the settings of a database. The zero value works.
type Options struct {
	Now func() time.Time // nil: the wall clock
	// SharedTime lets everything wait by the clock of a PostgreSQL database, however wrong Now is. Without it only leases do.
	SharedTime bool
	// Around wraps every ledger call, named op. It sees the moment before the call and the moment after its commit.
	Around func(op string, call func() error) error
	// Connections is how many a process has to PostgreSQL at most; 0: UsualConnections.
	Connections int
	// Synced is called after every commit that survives the power; nil: nothing is. It is for tests that take the power away.
	Synced func()
	// Connect makes the pools of a SQLite ledger; nil: they are new. It is for tests that open one ledger often, and keep its connections.
	Connect func(dsn string) (*sql.DB, error)
}

// database hides where SQLite and PostgreSQL differ.
type database interface {
	// begin opens a transaction on a connection that durably commits where asked.
	begin(ctx context.Context, s *DB, d Durability) (*Txn, error)
	// clock returns the time by which leases are judged, in milliseconds.
	clock(ctx context.Context, t *Txn) (int64, error)
	// clockText returns that time as SQL; ours is the placeholder that holds the process's own.
	clockText(ours string) string
	// bytewise returns a text as SQL sorts it by its bytes, whatever the language of the database.
	bytewise(column string) string
	// has returns the condition that a column has a text, letters of ASCII in any case; pattern is the placeholder of what Pattern makes.
	has(column, pattern string) string
	// bulk inserts rows as fast as the database can.
	bulk(ctx context.Context, t *Txn, table string, columns []string, rows [][]any) error
	// indexDigests makes sure that equal requests are found by an index.
	indexDigests(ctx context.Context, s *DB) error
	// asked returns the condition that an attempt is of one of some requests of a run, which is $1, and all arguments.
	asked(attempt string, run int64, refs []assay.Ref) (string, []any)
	// indexKeys makes sure that requests of a run are found by their keys alone, without reading a large run.
	indexKeys(ctx context.Context, s *DB, run int64) error
	// dropKeys ends the index of keys, if it was made: a run is about to write.
	dropKeys(ctx context.Context, t *Txn) error
	// yielded reports whether the database gave a transaction up for the sake of another one: nothing of it was done.
	yielded(err error) bool
	// unblock ends what keeps others out, if that is why a transaction yielded and whoever it belongs to is asleep.
	unblock(ctx context.Context, err error)
	// away reports whether an error means that the database cannot be reached now.
	away(err error) bool
	// unique reports whether an error is a violated uniqueness.
	unique(err error) bool
	// violation reports whether an error is any violated constraint.
	violation(err error) bool
	// reader opens what user-written queries run on: nothing can be written through it.
	reader(ctx context.Context) (*sql.Tx, func(), error)
}

// reader is where everything is read that is not read in order to write.
type reader interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
	Close() error
}

// Open opens the database at a path (SQLite) or a postgres:// URL, and brings its tables up to date.
func Open(ctx context.Context, where string, o Options) (*DB, error) {
	s := &DB{own: o.Now, shared: o.SharedTime, around: o.Around, synced: o.Synced, pools: o.Connect, connections: o.Connections}
	if s.own == nil {
		s.own = time.Now
	}
	if s.pools == nil {
		s.pools = func(dsn string) (*sql.DB, error) { return sql.Open("sqlite", dsn) }
	}
	if s.around == nil {
		s.around = func(_ string, call func() error) error { return call() }
	}
	var err error
	switch scheme, _, ok := strings.Cut(where, "://"); {
	case isPostgres(where):
		err = s.openPostgres(ctx, where)
	case ok: // the rest may hold a password
		return nil, fmt.Errorf("open ledger: no database is reached by %s://: want a file, or postgres://user@host/database", scheme)
	default:
		err = s.openSQLite(ctx, where)
	}
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", Redact(where), err)
	}
	return s, nil
}

// Close ends all connections.
func (s *DB) Close() error {
	return errors.Join(s.stream.Close(), s.read.Close(), s.write.Close())
}

// Snapshot writes the database as it is now into a new file, while others use it. A PostgreSQL database has tools of its own.
func (s *DB) Snapshot(ctx context.Context, file string) error {
	of, ok := s.engine.(sqlite)
	if !ok {
		return errors.New("a PostgreSQL ledger is saved by pg_dump")
	}
	pool, err := s.openPool(of.path, nil)
	if err != nil {
		return err
	}
	_, err = pool.ExecContext(ctx, `VACUUM INTO $1`, file)
	return errors.Join(err, pool.Close())
}

// Postgres reports whether the database is PostgreSQL, which many workers may share.
func (s *DB) Postgres() bool { _, ok := s.engine.(postgres); return ok }

// Away reports whether an error means that the ledger cannot be reached now, and may be again soon. What was to be written may
// have been: only what may be written twice can be tried again.
func (s *DB) Away(err error) bool { return err != nil && s.engine.away(err) }

// Unreachable reports whether a database could not be opened because PostgreSQL cannot be reached now, and may be again soon.
func Unreachable(err error) bool { return postgres{}.away(err) }

// Redact takes the user part and the parameters out of a database URL, for printing.
func Redact(where string) string {
	if !isPostgres(where) {
		return where
	}
	u, err := url.Parse(where)
	if err != nil {
		return "postgres://…"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

func isPostgres(where string) bool {
	return strings.HasPrefix(where, "postgres://") || strings.HasPrefix(where, "postgresql://")
}

// Now returns the time by which everything in the ledger waits. Processes that share a PostgreSQL ledger may share its clock, so
// that a wait that protects money does not depend on who looks.
func (s *DB) Now() time.Time { return s.own().Add(time.Duration(s.skew.Load())) }

// Millis returns Now in milliseconds.
func (s *DB) Millis() int64 { return s.Now().UnixMilli() }

// ClockText returns the time by which leases are judged as SQL; ours is the placeholder that holds the process's own.
func (s *DB) ClockText(ours string) string { return s.engine.clockText(ours) }

// Bytewise returns a column as SQL that sorts it by its bytes, whatever the language of the database.
func (s *DB) Bytewise(column string) string { return s.engine.bytewise(column) }

// Unique reports whether an error is a violated uniqueness.
func (s *DB) Unique(err error) bool { return s.engine.unique(err) }

// Violation reports whether an error is any violated constraint.
func (s *DB) Violation(err error) bool { return s.engine.violation(err) }

// ReadOnly opens a transaction through which nothing can be written, and what ends its connection.
func (s *DB) ReadOnly(ctx context.Context) (*sql.Tx, func(), error) { return s.engine.reader(ctx) }

// IndexDigests asks for the index that equal requests are found by, once.
func (s *DB) IndexDigests(ctx context.Context) error {
	s.digests.Lock()
	defer s.digests.Unlock()
	if s.indexed {
		return nil
	}
	err := s.engine.indexDigests(ctx, s)
	s.indexed = err == nil
	return err
}

// IndexKeys asks for the index by which requests of a run are found whose items are not known.
func (s *DB) IndexKeys(ctx context.Context, run int64) error { return s.engine.indexKeys(ctx, s, run) }

// mostTries is how often a transaction is tried that the database gave up for the sake of another one.
const mostTries = 8

// Tx runs one named write transaction. One that the database gave up for the sake of another is tried again: fn may be called
// several times, and sets what it returns anew each time.
func (s *DB) Tx(ctx context.Context, op string, d Durability, fn func(t *Txn) error) error {
	return s.around(op, func() error {
		for n := 1; ; n++ {
			err := s.try(ctx, d, fn)
			if err == nil {
				if d == Durable && s.synced != nil {
					s.synced()
				}
				return nil
			}
			if n == mostTries || !s.engine.yielded(err) || pause(ctx, n) != nil {
				return fmt.Errorf("%s: %w", op, err)
			}
			s.engine.unblock(ctx, err)
		}
	})
}

func (s *DB) try(ctx context.Context, d Durability, fn func(t *Txn) error) error {
	t, err := s.engine.begin(ctx, s, d)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer t.done()
	if err := fn(t); err != nil {
		return errors.Join(err, t.Rollback())
	}
	if err := t.Commit(); err != nil {
		return &commitError{err}
	}
	return nil
}

// commitError is a commit that did not work, or whose reply was lost: then it may have been done.
type commitError struct{ cause error }

// Error names the commit and the cause.
func (e *commitError) Error() string { return "commit: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *commitError) Unwrap() error { return e.cause }

// pause waits a moment before a further try, longer each time and never as long as another process.
func pause(ctx context.Context, n int) error {
	wait := time.NewTimer(time.Duration(rand.Int64N(int64(5*time.Millisecond) << n)))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
