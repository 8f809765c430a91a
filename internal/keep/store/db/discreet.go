package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"

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

// discreet opens connections whose errors do not show who we are.
type discreet struct {
	driver.Connector
	cfg *pgx.ConnConfig
}

// Connect opens one connection.
func (d discreet) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := d.Connector.Connect(ctx)
	return c, hideUser(err, d.cfg)
}
