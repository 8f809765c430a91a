package db

import (
	"context"
	"database/sql/driver"
	"errors"
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
	if pooled(err) {
		const needs = "ignore_startup_parameters = synchronous_commit,statement_timeout,lock_timeout,idle_in_transaction_session_timeout"
		text = "a pooler between this program and PostgreSQL does not keep a session for its client (PgBouncer in transaction mode?): " +
			"name PostgreSQL itself, or a pool in session mode with " + needs
		return &discreetError{text, err}
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		if inner := errors.Unwrap(connect); inner != nil { // the outer text begins with user and database
			text = strings.ReplaceAll(text, connect.Error(), "cannot connect: "+inner.Error())
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

// pooled reports whether an error is of a pooler that does not pass settings on.
func pooled(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "08P01" && strings.Contains(e.Message, "startup parameter")
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
