package db

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errPooled is the error of a pooler that hands the session of one client to another.
var errPooled = errors.New("a pooler between this program and PostgreSQL does not keep a session for its client (PgBouncer in " +
	"transaction or statement mode?): name PostgreSQL itself, or a pool in session mode")

// sessions makes sure, once, that connections have sessions of their own: statements are prepared in them, and settings and locks last.
type sessions struct{ seen atomic.Bool }

// with returns what gives a new connection its settings, names and values in turn; those that the URL has stay.
func (s *sessions) with(cfg *pgx.ConnConfig, settings []string) func(context.Context, *pgx.Conn) error {
	var text strings.Builder
	for i := 0; i < len(settings); i += 2 {
		if cfg.RuntimeParams[settings[i]] == "" {
			fmt.Fprintf(&text, "SET %s TO %s; ", settings[i], settings[i+1])
		}
	}
	return func(ctx context.Context, c *pgx.Conn) error {
		if !s.seen.Load() {
			if err := alone(ctx, c, cfg); err != nil {
				return err
			}
			s.seen.Store(true)
		}
		_, err := c.PgConn().Exec(ctx, text.String()).ReadAll()
		return err
	}
}

// alone returns errPooled where the session of a connection is not its own. A server that has the process number which it gave when it was
// connected to has nobody before it; a pooler is tried with a second connection, which must not see what the first one has set.
func alone(ctx context.Context, c *pgx.Conn, cfg *pgx.ConnConfig) error {
	var pid uint32
	if err := c.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid); err != nil || pid == c.PgConn().PID() {
		return err
	}
	other, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer other.Close(context.WithoutCancel(ctx))
	word := rand.Text()
	if _, err := c.Exec(ctx, `SELECT set_config('assay.session', $1, false)`, pgx.QueryExecModeSimpleProtocol, word); err != nil {
		return err
	}
	tx, err := other.Begin(ctx)                                     // whose session it has, it has until the end
	if _, refused := errors.AsType[*pgconn.PgError](err); refused { // as in statement mode
		return errPooled
	}
	if err != nil {
		return err
	}
	theirs, err := sessionWord(ctx, tx)
	if err != nil {
		return err
	}
	ours, err := sessionWord(ctx, c)
	if err != nil {
		return err
	}
	if theirs == word || ours != word {
		return errPooled
	}
	return nil
}

func sessionWord(ctx context.Context, c interface {
	QueryRow(ctx context.Context, text string, args ...any) pgx.Row
}) (word string, err error) {
	err = c.QueryRow(ctx, `SELECT COALESCE(current_setting('assay.session', true), '')`, pgx.QueryExecModeSimpleProtocol).Scan(&word)
	return word, err
}
