package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// busyMillis is how long to wait for another process that writes.
const busyMillis = 30_000

type sqlite struct {
	path   string
	writer *writer
}

func (s *DB) openSQLite(ctx context.Context, path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
		return err
	}
	if err := refuseNetwork(filepath.Dir(abs)); err != nil {
		return err
	}
	if err := create(abs); err != nil {
		return err
	}
	// A page in a cache takes twice its size: the allocator rounds up to powers of two.
	// The log is a property of the file. What writes makes it, for a new ledger under the lock of its migration: SQLite lets two that make
	// it at once not wait for each other, but fail.
	pool, err := s.openPool(abs, url.Values{"_txlock": {"immediate"}}, "journal_mode(WAL)", "synchronous(NORMAL)", "cache_size(-4000)",
		"wal_autocheckpoint(0)")
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	readers, err := s.openPool(abs, nil, "query_only(1)", "cache_size(-1000)")
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	if err := migrate(ctx, readers, pool, sqliteDialect(abs)); err != nil {
		return errors.Join(unopened(err, abs), readers.Close(), pool.Close())
	}
	w := newWriter(pool, abs)
	readers.SetMaxOpenConns(mostReaders)
	readers.SetMaxIdleConns(mostReaders)
	walkers, err := s.openPool(abs, nil, "query_only(1)", "cache_size(-1000)")
	if err != nil {
		return errors.Join(err, readers.Close(), w.Close())
	}
	walkers.SetMaxIdleConns(mostReaders)
	s.engine, s.write, s.read, s.stream = sqlite{abs, w}, w, newKeptReader(readers), newKeptReader(walkers)
	return nil
}

// create makes the file of a new ledger before SQLite does: the side files get its mode. One that is there is not opened: closing it would
// end the locks of all connections that this process has to it, and another process could take their log away.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// unopened returns the reason why SQLite cannot open a file, which SQLite does not give. None of this process's
// connections has one that it cannot open.
func unopened(err error, path string) error {
	var e *driver.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_READONLY:
		return fmt.Errorf("%w: %w", err, fs.ErrPermission)
	case lib.SQLITE_CANTOPEN:
	default:
		return err
	}
	f, why := os.OpenFile(path, os.O_RDWR, 0)
	if why != nil {
		return why
	}
	return errors.Join(err, f.Close())
}

// Full reports whether an error means that there is no room on a disk.
func Full(err error) bool {
	var e *driver.Error
	return errors.Is(err, syscall.ENOSPC) || errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_FULL
}

// mostReaders is how many connections read at a time, and are kept: a new one parses the schema, and every statement that it is asked for.
const mostReaders = 4

func (s *DB) openPool(path string, q url.Values, pragmas ...string) (*sql.DB, error) {
	if q == nil {
		q = url.Values{}
	}
	q["_pragma"] = append([]string{fmt.Sprintf("busy_timeout(%d)", busyMillis), "foreign_keys(1)"}, pragmas...)
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	return s.pools(u.String())
}

// clock returns this process's own.
func (sqlite) clock(_ context.Context, t *Txn) (int64, error) {
	now := t.db.own()
	t.db.clocks.look(now.Round(0), now, 0)
	return now.UnixMilli(), nil
}

func (sqlite) clockText(ours string) string { return ours }

func (sqlite) has(column, pattern string) string { return column + ` LIKE ` + pattern + ` ESCAPE '\'` }

func (sqlite) bytewise(column string) string { return column }

// indexDigests makes the index if no run has looked for equal requests before: it takes less than a second for
// 300,000 attempts, once, and its upkeep costs every large run a tenth of its time, for its entries are in random order.
func (sqlite) indexDigests(ctx context.Context, s *DB) error {
	var n int64
	err := s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND name = 'attempts_digest'`).Scan(&n)
	if err != nil || n > 0 {
		return err
	}
	return s.Tx(ctx, "index digests", Relaxed, func(t *Txn) error {
		_, err := t.ExecContext(ctx, `CREATE INDEX IF NOT EXISTS attempts_digest ON attempts (digest) WHERE digest IS NOT NULL`)
		return err
	})
}

// unblock has nothing to do: a process that sleeps in a transaction keeps the file, and nobody can take it away.
func (sqlite) unblock(context.Context, error) {}

// yielded is never so: there is one writer at a time.
func (sqlite) yielded(error) bool { return false }

// away is never so: the ledger is a file.
func (sqlite) away(error) bool { return false }

func (sqlite) unique(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && (e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE || e.Code() == lib.SQLITE_CONSTRAINT_PRIMARYKEY)
}

func (sqlite) violation(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_CONSTRAINT
}

// reader opens the file read-only: a pragma cannot undo that.
func (d sqlite) reader(ctx context.Context) (*sql.Tx, func(), error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(d.path),
		RawQuery: url.Values{"mode": {"ro"}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", busyMillis), "query_only(1)"}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	done := func() { conn.Close(); db.Close() }
	if _, err := driver.Limit(conn, lib.SQLITE_LIMIT_ATTACHED, 0); err != nil {
		done()
		return nil, nil, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		done()
		return nil, nil, err
	}
	return tx, done, nil
}

// errNetwork returns the error for SQLite on a network file system.
func errNetwork(dir, kind string) error {
	return fmt.Errorf("%s is on a network file system (%s), where SQLite's locks do not hold: use a local folder, or PostgreSQL with --db",
		dir, kind)
}
