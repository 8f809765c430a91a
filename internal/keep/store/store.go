// Package store is the ledger: the tables that remember runs, segments, attempts, outcomes, verdicts and money.
//
// One store serves SQLite and PostgreSQL, with one SQL text for both wherever the two understand the same words. Every
// method is one transaction. A segment moves through these states, each move a compare-and-set that carries the epoch of
// the lease; the same picture stands as CHECK constraints in migrations, so that nothing else can be stored:
//
//	planned ──> staged ──> uploaded ──> intended ──> launched ──> ended ──> fetched ──> settled
//	   │          │ ▲ ▲        │ ▲          │ │ ▲         │ │        │  ▲        │
//	   │          │ │ └────────┘ └──────────┘ │ │         │ │        │  └────────┘  a result is missing: fetch again
//	   │          │ │                         │ │         │ │        │
//	   │          │ └── no job was made ──────┼─┼─────────┘ └────────┤  token limit: staged again
//	   │          │                           ▼ │                    ▼
//	   │          │   fate unknown, or gone: held <──────────────── failed  (the job as a whole; nothing billed)
//	   ▼          ▼                           │
//	cancelled <───┴───────────────────────────┘  before launch, or dropped by `assay resolve`
//
// A live segment goes staged > launched > settled. Terminal states have one outcome for every attempt.
//
// A transaction changes rows in one order: segments, then lanes, then runs.
package store

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
)

// Ledger is an open ledger, to be written: leases, moves and everything that a run leaves behind. It reads as well. It is safe
// for concurrent use.
type Ledger struct {
	*Reader
	write  io.Closer
	around func(op string, call func() error) error

	digests sync.Mutex
	indexed bool // digests are, as far as this process knows
}

// Reader reads a ledger: it holds no lease, and changes nothing. It is safe for concurrent use.
type Reader struct {
	engine database
	read   reader           // SQLite: never waits for the writer
	stream reader           // for rows that are read one by one: what a caller does meanwhile may read and write, through other connections
	own    func() time.Time // this process's clock
	shared bool             // the database's clock counts
	skew   atomic.Int64     // by how much it is ahead of our own, in nanoseconds
}

// Options are what a store needs from outside. The zero value works.
type Options struct {
	Now func() time.Time // nil: the wall clock
	// SharedTime lets everything wait by the clock of a PostgreSQL database, however wrong Now is. Without it only leases do.
	SharedTime bool
	// Around wraps every ledger call, named op. It sees the moment before the call and the moment after its commit.
	Around func(op string, call func() error) error
}

// Errors that callers decide by.
var (
	ErrLeaseLost = errors.New("the lease is lost: another process works on this now")
	ErrStorage   = errors.New("the user has as many bytes of files as they may have")
	ErrBudget    = errors.New("the budget does not cover this")
	ErrRoom      = errors.New("more tokens wait at the provider than it takes at a time")
	ErrAnswered  = errors.New("a request of this segment has an answer by now")
	ErrNotFound  = errors.New("not in the ledger")
	ErrAmbiguous = errors.New("more than one run begins with")
	ErrDuplicate = errors.New("already in the ledger")
	ErrWoken     = errors.New("something happened since it was looked at")
)

// database hides where SQLite and PostgreSQL differ.
type database interface {
	// begin opens a transaction on a connection that durably commits where asked.
	begin(ctx context.Context, s *Ledger, d durability) (*txn, error)
	// clock is the time by which leases are judged, in milliseconds.
	clock(ctx context.Context, t *txn) (int64, error)
	// clockText is that time as SQL; ours is the placeholder that holds the process's own.
	clockText(ours string) string
	// bytewise is a text as SQL sorts it by its bytes, whatever the language of the database.
	bytewise(column string) string
	// bulk inserts rows as fast as the database can.
	bulk(ctx context.Context, t *txn, table string, columns []string, rows [][]any) error
	// indexDigests makes sure that equal requests are found by an index.
	indexDigests(ctx context.Context, s *Ledger) error
	// yielded reports whether the database gave a transaction up for the sake of another one: nothing of it was done.
	yielded(err error) bool
	// away reports whether an error means that the database cannot be reached now.
	away(err error) bool
	// unique reports whether an error is a violated uniqueness.
	unique(err error) bool
	// violation reports whether an error is any violated constraint.
	violation(err error) bool
	// reader opens what user-written queries run on: nothing can be written through it.
	reader(ctx context.Context) (*sql.Tx, func(), error)
}

type durability int

const (
	relaxed durability = iota // survives a kill; may be lost with the power, and is then done again
	durable                   // survives the power
)

// Open opens the ledger at a path (SQLite) or a postgres:// URL, and brings it up to date.
func Open(ctx context.Context, where string, o Options) (*Ledger, error) {
	s := &Ledger{Reader: &Reader{own: o.Now, shared: o.SharedTime}, around: o.Around}
	if s.own == nil {
		s.own = time.Now
	}
	if s.around == nil {
		s.around = func(_ string, call func() error) error { return call() }
	}
	var err error
	switch scheme, _, ok := strings.Cut(where, "://"); {
	case isPostgres(where):
		err = s.openPostgres(ctx, where)
	case ok:
		return nil, fmt.Errorf("open ledger: no database is reached by %s://: want a file, or postgres://user@host/database", scheme) // the rest may hold a password
	default:
		err = s.openSQLite(ctx, where)
	}
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", Redact(where), err)
	}
	return s, nil
}

// Close ends all connections.
func (s *Ledger) Close() error {
	return errors.Join(s.stream.Close(), s.read.Close(), s.write.Close())
}

// Postgres reports whether the ledger is PostgreSQL, which many workers may share.
func (s *Reader) Postgres() bool { _, ok := s.engine.(postgres); return ok }

// Away reports whether an error means that the ledger cannot be reached now, and may be again soon. What was to be written may
// have been: only what may be written twice can be tried again.
func (s *Reader) Away(err error) bool { return err != nil && s.engine.away(err) }

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

// Now is the time by which everything in the ledger waits. Processes that share a PostgreSQL ledger may share its clock, so
// that a wait that protects money does not depend on who looks.
func (s *Reader) Now() time.Time { return s.own().Add(time.Duration(s.skew.Load())) }

func (s *Reader) millis() int64 { return s.Now().UnixMilli() }

// txn is one write transaction.
type txn struct {
	session
	s    *Ledger
	done func()
}

// session is what a transaction runs on.
type session interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
	Commit() error
	Rollback() error
}

// reader is where everything is read that is not read in order to write.
type reader interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
	Close() error
}

// mostTries is how often a transaction is tried that the database gave up for the sake of another one.
const mostTries = 8

// tx runs one named write transaction. One that the database gave up for the sake of another is tried again: fn may be called
// several times, and sets what it returns anew each time.
func (s *Ledger) tx(ctx context.Context, op string, d durability, fn func(t *txn) error) error {
	return s.around(op, func() error {
		for n := 1; ; n++ {
			err := s.try(ctx, d, fn)
			if err == nil {
				return nil
			}
			if n == mostTries || !s.engine.yielded(err) || pause(ctx, n) != nil {
				return fmt.Errorf("%s: %w", op, err)
			}
		}
	})
}

func (s *Ledger) try(ctx context.Context, d durability, fn func(t *txn) error) error {
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

// Error says so.
func (e *commitError) Error() string { return "commit: " + e.cause.Error() }

// Unwrap is the cause.
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

// change executes a statement and returns how many rows it changed.
func (t *txn) change(ctx context.Context, text string, args ...any) (int64, error) {
	res, err := t.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// one executes a statement that has to change exactly one row; otherwise the error is none.
func (t *txn) one(ctx context.Context, none error, text string, args ...any) error {
	n, err := t.change(ctx, text, args...)
	if err == nil && n != 1 {
		err = none
	}
	return err
}

// event writes a line of history. A segment of 0 means the run as a whole.
func (t *txn) event(ctx context.Context, run, segment int64, kind, text string) error {
	_, err := t.ExecContext(ctx, `INSERT INTO events (run_no, segment_no, at_ms, kind, text) VALUES ($1, $2, $3, $4, $5)`,
		run, null(segment), t.s.millis(), kind, text)
	return err
}

// null stores a zero value as NULL.
func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func fromMillis(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}
