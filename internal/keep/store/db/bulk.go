package db

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
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
		preparer, ok := conn.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("insert into %s: a %T prepares no statements", table, conn)
		}
		name := table + " " + strings.Join(columns, " ")
		b := w.bulks[name]
		if b == nil {
			b = &inserts{table, columns, make([]columnKind, len(columns)), map[int]driver.StmtExecContext{}, nil}
			w.bulks[name] = b
		}
		for _, size := range bulkSizes {
			for ; len(rows) >= size; rows = rows[size:] {
				if err := b.insert(ctx, preparer, rows[:size]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// inserts are the statements that insert rows into some columns of a table.
type inserts struct {
	table   string
	columns []string
	kinds   []columnKind                   // of the columns, as far as rows have shown
	kept    map[int]driver.StmtExecContext // by the number of rows
	args    []driver.NamedValue            // of the last rows; their memory is used again
}

// columnKind tells how the values of a column are passed: to bind one is a third of what inserting it costs. Kinds only grow, so that
// statements are parsed again a few times and then never.
type columnKind byte

const (
	empty  columnKind = iota // NULL was in every row so far: none is passed
	shared                   // the rows of a statement had the same value: it is passed once
	own                      // each row passes its value
)

// insert writes rows with one statement.
func (b *inserts) insert(ctx context.Context, conn driver.ConnPrepareContext, rows [][]any) error {
	for _, row := range rows {
		for i, value := range row {
			switch value.(type) {
			case nil, int64, string, []byte:
				continue
			}
			v, err := driver.DefaultParameterConverter.ConvertValue(value)
			if err != nil {
				return err
			}
			row[i] = v
		}
	}
	if b.grow(rows) {
		if err := b.close(); err != nil {
			return err
		}
	}
	stmt, err := b.statement(ctx, conn, len(rows))
	if err != nil {
		return err
	}
	b.args = b.args[:0]
	add := func(v any) { b.args = append(b.args, driver.NamedValue{Ordinal: len(b.args) + 1, Value: v}) }
	for i, kind := range b.kinds {
		if kind == shared {
			add(rows[0][i])
		}
	}
	for _, row := range rows {
		for i, kind := range b.kinds {
			if kind == own {
				add(row[i])
			}
		}
	}
	_, err = stmt.ExecContext(ctx, b.args)
	clear(b.args)
	return err
}

// grow makes the kinds such that the rows can be passed, and reports whether any had to change.
func (b *inserts) grow(rows [][]any) bool {
	grew := false
	for i, kind := range b.kinds {
		now := kind
		for _, row := range rows {
			if now == own {
				break
			}
			if !same(row[i], rows[0][i]) {
				now = own
			} else if row[i] != nil {
				now = max(now, shared)
			}
		}
		grew = grew || now != kind
		b.kinds[i] = now
	}
	return grew
}

func same(a, b any) bool {
	if x, ok := a.([]byte); ok {
		y, ok := b.([]byte)
		return ok && (x == nil) == (y == nil) && bytes.Equal(x, y)
	}
	if _, ok := b.([]byte); ok {
		return false
	}
	return a == b
}

// statement returns the one that inserts so many rows, prepared now or earlier.
func (b *inserts) statement(ctx context.Context, conn driver.ConnPrepareContext, size int) (driver.StmtExecContext, error) {
	if stmt := b.kept[size]; stmt != nil {
		return stmt, nil
	}
	prepared, err := conn.PrepareContext(ctx, b.text(size))
	if err != nil {
		return nil, err
	}
	stmt, ok := prepared.(driver.StmtExecContext)
	if !ok {
		return nil, errors.Join(fmt.Errorf("insert into %s: a %T runs no statements", b.table, prepared), prepared.Close())
	}
	b.kept[size] = stmt
	return stmt, nil
}

// text returns the statement. What rows share comes first, so that its parameters alone have numbers: the driver looks up the name of each
// that has one.
func (b *inserts) text(size int) string {
	var names, once, each []string
	for _, kind := range []columnKind{shared, own, empty} {
		for i, k := range b.kinds {
			switch {
			case k != kind:
				continue
			case kind == shared:
				once = append(once, "?"+strconv.Itoa(len(once)+1))
			case kind == own:
				each = append(each, "?")
			default:
				each = append(each, "NULL")
			}
			names = append(names, b.columns[i])
		}
	}
	tuple := "(" + strings.Join(append(once, each...), ",") + ")"
	return "INSERT OR FAIL INTO " + b.table + " (" + strings.Join(names, ",") + ") VALUES " +
		tuple + strings.Repeat(","+tuple, size-1)
}

// close lets the statements go; others are prepared when they are needed.
func (b *inserts) close() error {
	var err error
	for _, stmt := range b.kept {
		err = errors.Join(err, stmt.(driver.Stmt).Close())
	}
	clear(b.kept)
	return err
}
