package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

type postgres struct{ pool *sql.DB }

// pgSession is a transaction and the connection it runs on.
type pgSession struct {
	*sql.Tx
	conn *sql.Conn
}

func (s *Ledger) openPostgres(ctx context.Context, where string) error {
	cfg, err := pgx.ParseConfig(where)
	if err != nil {
		return errors.New("the URL cannot be read: want postgres://user@host:port/database") // the cause repeats the password
	}
	// What is not asked to be durable is done again after a crash; a durable commit carries everything before it.
	cfg.RuntimeParams["synchronous_commit"] = "off"
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "assay"
	}
	pool := sql.OpenDB(discreet{stdlib.GetConnector(*cfg), cfg})
	pool.SetMaxOpenConns(8)
	if err := migrate(ctx, pool, postgresDialect(pool)); err != nil {
		return errors.Join(err, pool.Close())
	}
	s.engine, s.write, s.read = postgres{pool}, pool, pool
	return nil
}

func (p postgres) begin(ctx context.Context, s *Ledger, d durability) (*txn, error) {
	conn, err := p.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err == nil && d == durable {
		_, err = tx.ExecContext(ctx, "SET LOCAL synchronous_commit TO on")
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &txn{session: pgSession{tx, conn}, s: s, done: func() { conn.Close() }}, nil
}

func (postgres) clockText(string) string {
	return `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)`
}

// clock is the database's own, so that workers need not agree on the time.
func (p postgres) clock(ctx context.Context, t *txn) (int64, error) {
	var ms int64
	err := t.QueryRowContext(ctx, `SELECT `+p.clockText("")).Scan(&ms)
	return ms, err
}

func (postgres) bulk(ctx context.Context, t *txn, table string, columns []string, rows [][]any) error {
	return t.session.(pgSession).conn.Raw(func(c any) error {
		n, err := c.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
		if err == nil && n != int64(len(rows)) {
			err = fmt.Errorf("copied %d of %d rows into %s", n, len(rows), table)
		}
		return err
	})
}

// indexDigests has nothing to do: the index is always there, for only its owner may make one, and all writers would
// stand still meanwhile.
func (postgres) indexDigests(context.Context, *Ledger) error { return nil }

func (postgres) unique(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "23505"
}

func (postgres) violation(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && strings.HasPrefix(e.Code, "23")
}

func (p postgres) reader(ctx context.Context) (*sql.Tx, func(), error) {
	tx, err := p.pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	return tx, func() {}, err
}
