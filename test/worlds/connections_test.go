package worlds

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"

	"modernc.org/sqlite"
)

// connections are those that processes of a machine have to its ledger. One that a process has closed is given to the next, with its
// statements: parsing the tables and the queries anew takes a third of the time of a world.
type connections struct {
	mu      sync.Mutex
	idle    map[string][]*connection // by the name that they were opened by
	own     *sql.DB                  // that of the slot
	tables  []string                 // of the ledger
	dropped bool                     // somebody changed the file below them
}

// open returns a pool of them.
func (c *connections) open(dsn string) (*sql.DB, error) { return sql.OpenDB(connector{c, dsn}), nil }

// drop closes those that no process has, before somebody changes the file below them.
func (c *connections) drop() error {
	c.dropped = true
	return errors.Join(c.own.Close(), c.dropOthers(""))
}

// dropOthers closes those that no process has, but for those to one file.
func (c *connections) dropOthers(file string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for dsn, idle := range c.idle {
		if file != "" && strings.Contains(dsn, file) {
			continue
		}
		for _, one := range idle {
			err = errors.Join(err, one.end())
		}
		delete(c.idle, dsn)
	}
	return err
}

// bring gives the ledger the rows of a copy, as if it had become that file. Nobody may use it meanwhile.
func (c *connections) bring(book, file string) error {
	own := c.own
	if c.dropped { // another file is in its place
		var err error
		if own, err = sql.Open("sqlite", "file:"+book); err != nil {
			return err
		}
		own.SetMaxOpenConns(1)
		defer own.Close()
	}
	if _, err := own.Exec("ATTACH ? AS synced", file); err != nil {
		return err
	}
	text := "BEGIN; "
	for _, name := range c.tables {
		text += fmt.Sprintf("DELETE FROM main.%[1]s; INSERT INTO main.%[1]s SELECT * FROM synced.%[1]s; ", name)
	}
	_, err := own.Exec(text + "COMMIT; PRAGMA wal_checkpoint(TRUNCATE); DETACH synced")
	return err
}

type connector struct {
	of  *connections
	dsn string
}

// Driver returns SQLite's.
func (c connector) Driver() driver.Driver { return &sqlite.Driver{} }

// Connect returns a connection that was used before, or a new one.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if idle := c.of.idle[c.dsn]; len(idle) > 0 {
		c.of.idle[c.dsn] = idle[:len(idle)-1]
		return idle[len(idle)-1], nil
	}
	conn, err := c.Driver().Open(c.dsn)
	if err != nil {
		return nil, err
	}
	return &connection{link: conn.(link), from: c, idle: map[string][]*statement{}}, nil
}

// link is what SQLite's connections can do.
type link interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.SessionResetter
	driver.Validator
}

// connection is one that outlives its process.
type connection struct {
	link
	from connector
	idle map[string][]*statement // by their texts
}

// PrepareContext returns a statement that was used before, or a new one.
func (c *connection) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if idle := c.idle[text]; len(idle) > 0 {
		c.idle[text] = idle[:len(idle)-1]
		return idle[len(idle)-1], nil
	}
	stmt, err := c.link.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &statement{order: stmt.(order), on: c, text: text}, nil
}

// Close gives the connection back.
func (c *connection) Close() error {
	if !c.IsValid() {
		return c.end()
	}
	c.from.of.mu.Lock()
	defer c.from.of.mu.Unlock()
	if c.from.of.idle == nil {
		c.from.of.idle = map[string][]*connection{}
	}
	c.from.of.idle[c.from.dsn] = append(c.from.of.idle[c.from.dsn], c)
	return nil
}

func (c *connection) end() error {
	var err error
	for _, idle := range c.idle {
		for _, s := range idle {
			err = errors.Join(err, s.order.Close())
		}
	}
	return errors.Join(err, c.link.Close())
}

// order is what SQLite's statements can do.
type order interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// statement is one that outlives its process.
type statement struct {
	order
	on   *connection
	text string
}

// Close gives the statement back.
func (s *statement) Close() error {
	s.on.idle[s.text] = append(s.on.idle[s.text], s)
	return nil
}
