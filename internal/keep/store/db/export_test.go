package db

import (
	"context"
	"database/sql"
	"time"
)

// Pools returns the connections that write and those that read.
func (s *DB) Pools() (write, read *sql.DB) { p := s.engine.(postgres); return p.write, p.read }

// Unblock and EndCopies end what sleeps.
func (s *DB) Unblock(ctx context.Context, err error) { s.engine.unblock(ctx, err) }

func (s *DB) EndCopies(ctx context.Context, after time.Duration) error {
	return s.engine.(postgres).endCopies(ctx, after)
}
