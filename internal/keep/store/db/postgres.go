package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgres has its connections in three pools. A connection of the first two is never held while another one is waited for, so
// that they always come free; rows that a caller walks over have connections of their own, because the caller may do both.
type postgres struct{ write, read, stream *sql.DB }

// Connections to PostgreSQL that one process may have, all taken together.
const (
	UsualConnections = 32
	LeastConnections = 12
)

// How long a statement, a wait for a lock, and a transaction that does nothing may take. A walk may take as long as its caller.
const (
	statementTime = "300000" // milliseconds
	lockTime      = "30000"
	idleTime      = "60000" // a process that was stopped in the middle of a transaction keeps others out for so long
)

// pgSession is a transaction and the connection it runs on.
type pgSession struct {
	*sql.Tx
	conn *sql.Conn
}

func (s *DB) openPostgres(ctx context.Context, where string) error {
	cfg, err := pgx.ParseConfig(where)
	if err != nil {
		return errors.New("the URL cannot be read: want postgres://user@host:port/database") // the cause repeats the password
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "assay"
	}
	var alone sessions
	pool := func(most int, settings ...string) *sql.DB {
		// What is not asked to be durable is done again after a crash; a durable commit carries everything before it.
		set := alone.with(cfg, append(settings, "synchronous_commit", "off"))
		db := sql.OpenDB(discreet{stdlib.GetConnector(*cfg, stdlib.OptionAfterConnect(set)), cfg})
		db.SetMaxOpenConns(most)
		db.SetMaxIdleConns(most)
		db.SetConnMaxIdleTime(time.Minute)
		return db
	}
	most := cmp.Or(s.connections, UsualConnections)
	quarter := max(1, most/4)
	p := postgres{
		write: pool(quarter, "statement_timeout", statementTime, "lock_timeout", lockTime,
			"idle_in_transaction_session_timeout", idleTime),
		read:   pool(quarter, "statement_timeout", statementTime),
		stream: pool(most - 2*quarter),
	}
	s.engine, s.write, s.read, s.stream, s.places = p, p.write, p.read, p.stream, make(chan struct{}, most-2*quarter)
	if err := migrate(ctx, p.write, p.write, postgresDialect(p.write)); err != nil {
		return errors.Join(err, s.Close())
	}
	if !s.shared {
		return nil
	}
	if err := s.try(ctx, Relaxed, func(t *Txn) error { _, err := p.clock(ctx, t); return err }); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

func (p postgres) begin(ctx context.Context, s *DB, d Durability) (*Txn, error) {
	conn, err := p.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err == nil && d == Durable {
		if _, err = tx.ExecContext(ctx, "SET LOCAL synchronous_commit TO on"); err != nil {
			err = errors.Join(err, tx.Rollback()) // a connection waits for its transaction when it is closed
		}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Txn{session: pgSession{tx, conn}, db: s, done: func() { conn.Close() }}, nil
}

func (postgres) clockText(string) string {
	return `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`
}

func (postgres) has(column, pattern string) string {
	return `lower(` + column + ` COLLATE "C") LIKE ` + pattern
}

func (postgres) bytewise(column string) string { return column + ` COLLATE "C"` }

// smallSkew is a difference between clocks that does not matter: half of it is the round trip to the database.
const smallSkew = time.Second

// clock returns the database's own, so that workers need not agree on the time. By how much this process's is wrong is kept.
func (p postgres) clock(ctx context.Context, t *Txn) (int64, error) {
	var ms int64
	before := t.db.own()
	if err := t.QueryRowContext(ctx, `SELECT `+p.clockText("")).Scan(&ms); err != nil || !t.db.shared {
		return ms, err
	}
	took := t.db.own().Sub(before)
	t.db.clocks.look(time.UnixMilli(ms), before.Add(took/2), took)
	skew := time.UnixMilli(ms).Sub(before.Add(took / 2).Round(0))
	if skew.Abs() < smallSkew+took {
		skew = 0
	}
	t.db.skew.Store(int64(skew))
	return ms, nil
}

// yielded: a serialization failure, a deadlock, a lock that was waited for too long, or a connection that was dead before
// anything was sent on it.
func (postgres) yielded(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code == "40001" || e.Code == "40P01" || e.Code == "55P03"
	}
	var commit *commitError // the driver calls a connection that broke before the reply one that was closed before
	return pgconn.SafeToRetry(err) && !errors.As(err, &commit)
}

// copyTime is how long a COPY of ours may wait for its process, which sends all of it at once.
const copyTime = time.Minute

// unblock ends a COPY whose process was stopped in the middle of it, where a lock was waited for in vain: the server waits for the rest of
// the rows for as long as that process sleeps, and no timeout of a session ends that.
func (p postgres) unblock(ctx context.Context, err error) {
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "55P03" {
		_ = p.endCopies(ctx, copyTime) // what cannot be ended is waited for once more
	}
}

// endCopies ends connections of ours on which a COPY has waited for its rows for this long.
func (p postgres) endCopies(ctx context.Context, after time.Duration) error {
	_, err := p.read.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND usename = current_user AND application_name = current_setting('application_name')
		AND state = 'active' AND wait_event = 'ClientRead' AND query ILIKE 'copy %'
		AND query_start < clock_timestamp() - $1 * INTERVAL '1 millisecond'`, after.Milliseconds())
	return err
}

// away reports whether the connection was refused or broke, or the server is stopping, starting or full, or has closed
// the connection of a process that was asleep.
func (postgres) away(err error) bool {
	if errors.Is(err, errPooled) {
		return false
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		const unsupported = "08P01" // a pooler that does not know what it is asked for
		return strings.HasPrefix(e.Code, "08") && e.Code != unsupported || strings.HasPrefix(e.Code, "57P") ||
			e.Code == "53300" || e.Code == "25P03"
	}
	var file *fs.PathError
	if errors.As(err, &file) { // a disk's errors look like a network's
		return false
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}

func (postgres) bulk(ctx context.Context, t *Txn, table string, columns []string, rows [][]any) error {
	return t.session.(pgSession).conn.Raw(func(c any) error {
		n, err := c.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
		if err == nil && n != int64(len(rows)) {
			err = fmt.Errorf("copied %d of %d rows into %s", n, len(rows), table)
		}
		return err
	})
}

// indexDigests has nothing to do: the index is always there, for only its owner may make one, and it would block all
// writers meanwhile.
func (postgres) indexDigests(context.Context, *DB) error { return nil }

func (postgres) unique(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505"
}

func (postgres) violation(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && strings.HasPrefix(e.Code, "23")
}

func (p postgres) reader(ctx context.Context) (*sql.Tx, func(), error) {
	tx, err := p.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	return tx, func() {}, err
}
