package db

import (
	"context"
	"database/sql"
)

// Durability is the kind of failure that a commit survives.
type Durability int

// The two kinds of commits.
const (
	Relaxed Durability = iota // survives a kill; may be lost with the power, and is then done again
	Durable                   // survives the power
)

// Txn is one write transaction.
type Txn struct {
	session
	db   *DB
	done func()
}

// session is the connection of a transaction.
type session interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
	Commit() error
	Rollback() error
}

// Millis returns the time by which the ledger waits, in milliseconds.
func (t *Txn) Millis() int64 { return t.db.Millis() }

// Clock returns the time by which leases are judged, in milliseconds.
func (t *Txn) Clock(ctx context.Context) (int64, error) { return t.db.engine.clock(ctx, t) }

// Bulk inserts rows as fast as the database can.
func (t *Txn) Bulk(ctx context.Context, table string, columns []string, rows [][]any) error {
	return t.db.engine.bulk(ctx, t, table, columns, rows)
}

// DropKeys ends the index of keys, if IndexKeys made it: its upkeep costs a run more than all else that it writes.
func (t *Txn) DropKeys(ctx context.Context) error { return t.db.engine.dropKeys(ctx, t) }

// Unique reports whether an error is a violated uniqueness.
func (t *Txn) Unique(err error) bool { return t.db.engine.unique(err) }

// Change executes a statement and returns how many rows it changed.
func (t *Txn) Change(ctx context.Context, text string, args ...any) (int64, error) {
	res, err := t.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// One executes a statement that has to change exactly one row; otherwise the error is none.
func (t *Txn) One(ctx context.Context, none error, text string, args ...any) error {
	n, err := t.Change(ctx, text, args...)
	if err == nil && n != 1 {
		err = none
	}
	return err
}

// Event writes a line of history. A segment of 0 means the run as a whole.
func (t *Txn) Event(ctx context.Context, run, segment int64, kind, text string) error {
	_, err := t.ExecContext(ctx, `INSERT INTO events (run_no, segment_no, at_ms, kind, text) VALUES ($1, $2, $3, $4, $5)`,
		run, Null(segment), t.Millis(), kind, text)
	return err
}
