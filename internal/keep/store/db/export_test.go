package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"

	"github.com/jackc/pgx/v5"
)

// Connector returns one of ours before another.
func Connector(c driver.Connector) driver.Connector { return discreet{c, &pgx.ConnConfig{}} }

// Pools returns the connections that write and those that read.
func (s *DB) Pools() (write, read *sql.DB) { p := s.engine.(postgres); return p.write, p.read }

// Unblock and EndCopies end what sleeps.
func (s *DB) Unblock(ctx context.Context, err error) { s.engine.unblock(ctx, err) }

func (s *DB) EndCopies(ctx context.Context, after time.Duration) error {
	return s.engine.(postgres).endCopies(ctx, after)
}
