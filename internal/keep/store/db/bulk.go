package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
)

// bulkSizes are the numbers of rows that one statement inserts. The program of a statement grows with them: that of 500 rows does not fit
// into a processor's cache, and takes longer for each row than that of 32.
var bulkSizes = []int{32, 8, 1}

// bulk inserts rows with statements of a few sizes, which are kept: parsing one takes as long as running it. They are the driver's own,
// because database/sql would look at every value once more. A row that cannot be written ends the whole transaction, so no statement
// keeps a journal to be undone alone.
func (d sqlite) bulk(ctx context.Context, _ *Txn, table string, columns []string, rows [][]any) error {
	w := d.writer
	ctx = context.WithoutCancel(ctx)
	return w.conn.Raw(func(conn any) error {
		for _, size := range bulkSizes {
			if len(rows) < size {
				continue
			}
			stmt, err := w.bulks.of(ctx, conn, table, columns, size)
			if err != nil {
				return err
			}
			for ; len(rows) >= size; rows = rows[size:] {
				if err := w.insert(ctx, stmt, rows[:size]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// insert runs a statement with the values of its rows, in memory that is used again.
func (w *writer) insert(ctx context.Context, stmt driver.StmtExecContext, rows [][]any) error {
	args := w.args[:0]
	for _, row := range rows {
		for _, value := range row {
			switch value.(type) {
			case nil, int64, string, []byte:
			default:
				v, err := driver.DefaultParameterConverter.ConvertValue(value)
				if err != nil {
					return err
				}
				value = v
			}
			args = append(args, driver.NamedValue{Ordinal: len(args) + 1, Value: value})
		}
	}
	_, err := stmt.ExecContext(ctx, args)
	clear(args)
	w.args = args
	return err
}

// bulks are the statements that insert rows: a few for each table.
type bulks map[string]driver.StmtExecContext

// of returns the statement that inserts so many rows, prepared now or earlier.
func (b bulks) of(ctx context.Context, conn any, table string, columns []string, size int) (driver.StmtExecContext, error) {
	tuple := "(" + strings.TrimSuffix(strings.Repeat("?,", len(columns)), ",") + "),"
	text := "INSERT OR FAIL INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " +
		strings.TrimSuffix(strings.Repeat(tuple, size), ",")
	if stmt := b[text]; stmt != nil {
		return stmt, nil
	}
	preparer, ok := conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("insert into %s: a %T prepares no statements", table, conn)
	}
	made, err := preparer.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	stmt, ok := made.(driver.StmtExecContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("insert into %s: a %T runs no statements", table, made), made.Close())
	}
	b[text] = stmt
	return stmt, nil
}

func (b bulks) close() error {
	var err error
	for _, stmt := range b {
		err = errors.Join(err, stmt.(driver.Stmt).Close())
	}
	return err
}
