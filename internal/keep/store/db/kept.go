package db

import (
	"container/list"
	"context"
	"database/sql"
	"errors"
	"sync"
)

// kept keeps the statements that were used last: SQLite takes as long to parse one as to run it. It parses one again whenever a value
// is bound that it had looked at to plan, as it does with that of LIMIT $1, and not with that of LIMIT CAST($1 AS BIGINT).
type kept struct {
	prepare func(ctx context.Context, text string) (*sql.Stmt, error)

	mu    sync.Mutex
	texts map[string]*list.Element
	order list.List // of keptOne, the one used last in front
}

type keptOne struct {
	text string
	stmt *sql.Stmt
}

// mostKept is how many statements are kept: more than a run uses again and again.
const mostKept = 96

// of returns the statement of a text, prepared now or earlier. One that is dropped while it runs ends by itself.
func (k *kept) of(ctx context.Context, text string) (*sql.Stmt, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.texts[text]; e != nil {
		k.order.MoveToFront(e)
		return e.Value.(keptOne).stmt, nil
	}
	stmt, err := k.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	if k.texts == nil {
		k.texts = map[string]*list.Element{}
	}
	k.texts[text] = k.order.PushFront(keptOne{text, stmt})
	if k.order.Len() > mostKept {
		old := k.order.Remove(k.order.Back()).(keptOne)
		delete(k.texts, old.text)
		err = old.stmt.Close()
	}
	return stmt, err
}

func (k *kept) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	for e := k.order.Front(); e != nil; e = e.Next() {
		err = errors.Join(err, e.Value.(keptOne).stmt.Close())
	}
	k.texts = nil
	k.order.Init()
	return err
}

// keptReader is a pool of readers that keeps its statements.
type keptReader struct {
	*sql.DB
	kept kept
}

func newKeptReader(db *sql.DB) *keptReader {
	return &keptReader{DB: db, kept: kept{prepare: db.PrepareContext}}
}

// QueryContext returns the pool's, with a statement that is kept.
func (r *keptReader) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := r.kept.of(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryRowContext returns the pool's, with a statement that is kept.
func (r *keptReader) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	stmt, err := r.kept.of(ctx, text)
	if err != nil {
		return r.DB.QueryRowContext(ctx, text, args...) // a row can carry the error, and only a pool can make one
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (r *keptReader) Close() error { return errors.Join(r.kept.close(), r.DB.Close()) }
