package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// writer is the one connection that writes to a SQLite ledger, and its statements.
type writer struct {
	pool *sql.DB
	conn *sql.Conn     // nil until something is written: most commands only read, and a connection costs more than what they read
	free chan struct{} // holds one while no goroutine writes
	kept kept
	sync Durability // what a commit is now
	log  string     // the file that commits are added to

	bulks map[string]*inserts // by table and columns

	trim     int64 // the log's size at which it is begun anew
	trimWait int   // for how many milliseconds readers are waited for then
}

func newWriter(pool *sql.DB, path string) *writer {
	w := &writer{pool: pool, free: make(chan struct{}, 1), log: path + "-wal", bulks: map[string]*inserts{},
		trim: logSize, trimWait: logWait}
	w.free <- struct{}{}
	return w
}

// Close ends the connection.
func (w *writer) Close() error {
	err := w.kept.close()
	for _, b := range w.bulks {
		err = errors.Join(err, b.close())
	}
	if w.conn != nil {
		err = errors.Join(err, w.conn.Close())
	}
	return errors.Join(err, w.pool.Close())
}

// begin takes the writing connection. The durability of a commit can only be set between transactions.
func (d sqlite) begin(ctx context.Context, s *DB, how Durability) (*Txn, error) {
	w := d.writer
	select {
	case <-w.free:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	done := func() { w.free <- struct{}{} }
	if err := w.begin(ctx, how); err != nil {
		done()
		return nil, err
	}
	return &Txn{session: w, db: s, done: done}, nil
}

func (w *writer) begin(ctx context.Context, how Durability) error {
	if w.conn == nil {
		conn, err := w.pool.Conn(ctx)
		if err != nil {
			return err
		}
		w.conn, w.kept.prepare = conn, conn.PrepareContext
	}
	if w.sync != how {
		level := "NORMAL"
		if how == Durable {
			level = "FULL"
		}
		if _, err := w.ExecContext(ctx, "PRAGMA synchronous="+level); err != nil {
			return err
		}
		w.sync = how
	}
	stmt, err := w.kept.of(ctx, "BEGIN IMMEDIATE")
	if err != nil {
		return err
	}
	if _, err = stmt.ExecContext(ctx); err != nil { // it may have to wait for another process, and can be cancelled
		_, _ = w.ExecContext(ctx, "ROLLBACK") // what is cancelled may have begun all the same; mostly there is nothing to undo
	}
	return err
}

// ExecContext runs a statement of a transaction. What has begun is ended: a transaction is short, and stopping one in the
// middle wins nothing.
func (w *writer) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	ctx = context.WithoutCancel(ctx)
	stmt, err := w.kept.of(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

// QueryContext reads rows in a transaction. Its statement is not kept: it may be asked again before its rows are read.
func (w *writer) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return w.conn.QueryContext(context.WithoutCancel(ctx), text, args...)
}

// QueryRowContext reads one row in a transaction.
func (w *writer) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	stmt, err := w.kept.of(ctx, text)
	if err != nil {
		return w.conn.QueryRowContext(ctx, text, args...) // a row can carry the error
	}
	return stmt.QueryRowContext(ctx, args...)
}

// Commit ends a transaction. One that cannot be committed is rolled back: the connection is everybody's.
func (w *writer) Commit() error {
	if _, err := w.ExecContext(context.Background(), "COMMIT"); err != nil {
		return errors.Join(err, w.Rollback())
	}
	w.trimLog()
	return nil
}

const (
	// logSize is how large the log may become. A larger one has its pages written less often, but for longer at a time.
	logSize = 32 << 20
	// logWait is for how many milliseconds readers are waited for when it is begun anew: most take less. Every time that was
	// not enough, the next wait is twice as long, up to logWaitMost: on a busy machine a reader may not run for that long.
	logWait, logWaitMost = 50, 1600
)

// trimLog writes what the log holds into the ledger and begins the log anew. SQLite by itself does so only if no process
// happens to read at that moment: beside busy readers the log would grow without end. What cannot be trimmed now, because
// a reader takes long, is tried again when the log has grown by an eighth; nothing is lost by it.
func (w *writer) trimLog() {
	info, err := os.Stat(w.log)
	if err != nil || info.Size() < w.trim {
		return
	}
	ctx := context.Background()
	if err := w.patience(ctx, w.trimWait); err != nil {
		return
	}
	var busy, frames, written int64
	err = w.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &written)
	if err == nil && busy == 0 {
		w.trim, w.trimWait = logSize, logWait
	} else {
		w.trim, w.trimWait = info.Size()*9/8, min(2*w.trimWait, logWaitMost)
	}
	_ = w.patience(ctx, busyMillis) // it cannot fail where it could be changed
}

// patience sets for how many milliseconds others are waited for.
func (w *writer) patience(ctx context.Context, millis int) error {
	_, err := w.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=%d", millis))
	return err
}

// Rollback undoes a transaction. After some errors, such as a full disk, SQLite has done so by itself: then another one
// can begin.
func (w *writer) Rollback() error {
	ctx := context.Background()
	_, err := w.ExecContext(ctx, "ROLLBACK")
	if err != nil {
		if _, e := w.ExecContext(ctx, "BEGIN"); e == nil {
			_, err = w.ExecContext(ctx, "ROLLBACK")
		}
	}
	return err
}
