package store

import (
	"context"
	"fmt"
)

// Query runs a query that a person wrote. Nothing can be written through it. Each row is handed over as it comes.
func (s *Store) Query(ctx context.Context, text string, row func(columns []string, values []any) error) error {
	tx, done, err := s.engine.reader(ctx)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer done()
	defer tx.Rollback()
	rows, err := tx.QueryContext(ctx, text)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return fmt.Errorf("query: %w", err)
		}
		if err := row(columns, values); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}
