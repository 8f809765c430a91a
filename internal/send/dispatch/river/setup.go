package river

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"assay/internal/keep/store/db"
	"assay/internal/send/engine"
)

const (
	schema      = "assay_river" // where the queue keeps its tables, apart from the ledger's
	lockKey     = 0x61737361    // of the advisory lock under which its tables are made
	connections = 6             // usually
)

var errURL = errors.New("the URL cannot be read: want postgres://user@host:port/database") // the cause would repeat the password

// Share returns how many of a process's connections to PostgreSQL the queue takes; the ledger has the others.
func Share(most int) int { return min(connections, most/4) }

// open connects to the database that holds the queue.
func open(ctx context.Context, url string, most int) (*pgxpool.Pool, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	cfg.MaxConns = int32(most)
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "assay worker"
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", db.Redact(url), db.HideUser(err, url))
	}
	return pool, nil
}

// migrate brings the queue's tables up to date, one process at a time.
func migrate(ctx context.Context, pool *pgxpool.Pool, clock engine.Clock, log *slog.Logger) (err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("prepare the job queue: %w", db.HideUser(err, pool.Config().ConnString()))
	}
	defer conn.Release()
	// Trying, not waiting: an index that is built beside running statements waits for all of them, a wait for this lock too.
	for locked := false; !locked; {
		if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock($1)`, lockKey).Scan(&locked); err != nil {
			return fmt.Errorf("lock the job queue: %w", err)
		}
		if !locked {
			if err := clock.Sleep(ctx, 20*time.Millisecond); err != nil {
				return err
			}
		}
	}
	defer func() {
		_, unlock := conn.Exec(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, lockKey)
		err = errors.Join(err, unlock)
	}()
	if _, err := conn.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+schema); err != nil {
		return fmt.Errorf("make the schema of the job queue: %w", err)
	}
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema, Logger: log})
	if err != nil {
		return fmt.Errorf("prepare the job queue: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("make the tables of the job queue: %w", err)
	}
	return nil
}

// Query runs one query that reads, and hands over each of its rows.
type Query func(ctx context.Context, text string, row func(columns []string, values []any) error) error

// ErrUnseen is the error of a role that may not read the queue's tables.
var ErrUnseen = errors.New("this role may not read the tables of schema " + schema)

// Alive reports whether any process takes jobs from a database: one of them leads, and records it every few seconds.
func Alive(ctx context.Context, query Query) (alive bool, err error) {
	there, may := false, false
	err = query(ctx, `SELECT has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = '`+schema+`' AND c.relname = 'river_leader'`,
		func(_ []string, values []any) error { there, may = true, values[0] == true; return nil })
	if err != nil || !there {
		return false, err
	}
	if !may {
		return false, ErrUnseen
	}
	err = query(ctx, leader, func(_ []string, values []any) error { alive = values[0] == true; return nil })
	return alive, err
}

// leader is whether some process is the leader now.
const leader = `SELECT EXISTS (SELECT 1 FROM ` + schema + `.river_leader WHERE expires_at > now())`

// led waits until some process leads, so that all others know that jobs are taken: [Alive] looks at that.
func led(ctx context.Context, pool *pgxpool.Pool, clock engine.Clock) error {
	for {
		var alive bool
		if err := pool.QueryRow(ctx, leader).Scan(&alive); alive || err != nil {
			return err
		}
		if err := clock.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}
