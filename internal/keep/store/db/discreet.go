package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// HideUser takes the user part of a database URL out of an error: drivers and servers repeat it when they cannot connect.
// What the error wraps stays to be decided by.
func HideUser(err error, where string) error {
	cfg, bad := pgx.ParseConfig(where)
	if err == nil || bad != nil {
		return err
	}
	return hideUser(err, cfg)
}

func hideUser(err error, cfg *pgx.ConnConfig) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		if inner := errors.Unwrap(connect); inner != nil { // the outer text begins with user and database
			text = strings.ReplaceAll(text, connect.Error(), "cannot connect: "+eachOnce(inner.Error()))
		}
	}
	for _, secret := range []string{cfg.Password, cfg.User} {
		if secret != "" {
			text = strings.ReplaceAll(text, `"`+secret+`"`, `"…"`)
			text = strings.ReplaceAll(text, "user="+secret, "user=…")
		}
	}
	if cfg.Password != "" {
		text = strings.ReplaceAll(text, cfg.Password, "…")
	}
	return &discreetError{text, err}
}

// eachOnce leaves out lines that were there before: an address is tried with TLS and without, and both say the same.
func eachOnce(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

type discreetError struct {
	text  string
	cause error
}

func (e *discreetError) Error() string { return e.text }

func (e *discreetError) Unwrap() error { return e.cause }

// discreet opens connections whose errors do not show who we are, and tries again where the server has no room for one more.
type discreet struct {
	driver.Connector
	cfg *pgx.ConnConfig
}

// A server that is full has room again when another process has done its work: a command that just begins does not end for that.
const (
	fullTries = 60
	fullEvery = 500 * time.Millisecond
)

// Connect opens one connection.
func (d discreet) Connect(ctx context.Context) (driver.Conn, error) {
	for try := 1; ; try++ {
		c, err := d.Connector.Connect(ctx)
		if !full(err) || try == fullTries {
			return c, hideUser(err, d.cfg)
		}
		select {
		case <-ctx.Done():
			return nil, hideUser(err, d.cfg)
		case <-time.After(fullEvery):
		}
	}
}

// full reports whether a server, a database or a role has as many connections as it may have.
func full(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "53300"
}
