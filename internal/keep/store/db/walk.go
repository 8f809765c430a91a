package db

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"time"

	"assay/internal/assay"
)

// Query reads rows at once: its caller does nothing else before it has closed them.
func (s *DB) Query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return s.read.QueryContext(ctx, text, sought(args)...)
}

// QueryRow reads one row.
func (s *DB) QueryRow(ctx context.Context, text string, args ...any) *sql.Row {
	return s.read.QueryRowContext(ctx, text, sought(args)...)
}

// sought returns the arguments of a query as both databases take them: a text that neither can hold is in no row.
func sought(args []any) []any {
	given := args
	for i, a := range given {
		s, ok := a.(string)
		if !ok || Clean(s) == s {
			continue
		}
		if &args[0] == &given[0] {
			args = slices.Clone(given)
		}
		args[i] = Clean(s)
	}
	return args
}

// Each calls a function for every row of a query.
func (s *DB) Each(ctx context.Context, row func(*sql.Rows) error, text string, args ...any) error {
	rows, err := s.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Keys reads rows of a key and a number.
func (s *DB) Keys(ctx context.Context, text string, args ...any) (map[assay.Key]int64, error) {
	rows, err := s.Query(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	defer rows.Close()
	all := map[assay.Key]int64{}
	var key []byte
	var n int64
	for rows.Next() {
		if err := rows.Scan(&key, &n); err != nil {
			return nil, fmt.Errorf("read keys: %w", err)
		}
		all[assay.Key(key)] = n
	}
	return all, rows.Err()
}

// Walk streams the rows of a query, each as its scan reads it. The caller may read and write meanwhile, and walk over others: where no
// connection comes free for them, because all are held by callers that wait for one more, they are read at once.
func Walk[T any](ctx context.Context, s *DB, doing string, scan func(*sql.Rows) (T, error), text string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		leave, free := s.enter(ctx)
		if !free {
			atOnce(each(ctx, s.read, doing, scan, text, args))(yield)
			return
		}
		defer leave()
		each(ctx, s.stream, doing, scan, text, args)(yield)
	}
}

// each reads rows one by one.
func each[T any](ctx context.Context, from reader, doing string, scan func(*sql.Rows) (T, error), text string,
	args []any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := from.QueryContext(ctx, text, sought(args)...)
		if err != nil {
			yield(none, fmt.Errorf("%s: %w", doing, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				yield(none, fmt.Errorf("%s: %w", doing, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, fmt.Errorf("%s: %w", doing, err))
		}
	}
}

// atOnce reads all rows before it hands out the first.
func atOnce[T any](rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		all, err := Collect(rows)
		if err != nil {
			var none T
			yield(none, err)
		}
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// mostWait is how long a walk waits for one of the connections of walks.
const mostWait = time.Second

// enter takes a place among those who walk; false: none came free.
func (s *DB) enter(ctx context.Context) (leave func(), free bool) {
	if s.places == nil {
		return func() {}, true
	}
	leave = func() { <-s.places }
	select {
	case s.places <- struct{}{}:
		return leave, true
	default:
	}
	wait := time.NewTimer(mostWait)
	defer wait.Stop()
	select {
	case s.places <- struct{}{}:
		return leave, true
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil, false
}

// Collect reads a short walk to its end.
func Collect[T any](rows iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range rows {
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}
