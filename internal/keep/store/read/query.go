package read

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"assay/internal/keep/store"
)

// asks returns the words that a query may begin with. What else a database understands may write in ways that a transaction
// which only reads does not see: COPY … TO PROGRAM, ATTACH, VACUUM INTO.
func asks() []string {
	return []string{"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "SHOW", "PRAGMA"}
}

// Query runs one query that a person wrote. Nothing can be written through it: the transaction only reads, and is rolled
// back. Each row is handed over as it comes.
func (s *Reader) Query(ctx context.Context, text string, row func(columns []string, values []any) error) error {
	if !slices.Contains(asks(), firstWord(text)) {
		return fmt.Errorf("query: %w", store.ErrNoQuery)
	}
	tx, done, err := s.db.ReadOnly(ctx)
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

// firstWord returns the word that a text begins with, in capitals, after spaces, comments and brackets.
func firstWord(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n\f\v(")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			_, text, _ = strings.Cut(text, "*/")
		default:
			end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
			if end < 0 {
				end = len(text)
			}
			return strings.ToUpper(text[:end])
		}
	}
}
