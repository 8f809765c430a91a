package store

import (
	"database/sql"
	"errors"
)

// notFound turns an empty answer into the error callers decide by.
func NotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// Errors that callers decide by.
var (
	ErrLeaseLost = errors.New("the lease is lost: another process works on this now")
	ErrStorage   = errors.New("the user has as many bytes of files as they may have")
	ErrBudget    = errors.New("the budget does not cover this")
	ErrRoom      = errors.New("more tokens wait at the provider than it takes at a time")
	ErrAnswered  = errors.New("a request of this segment has an answer by now")
	ErrNotFound  = errors.New("not in the ledger")
	ErrAmbiguous = errors.New("more than one run begins with")
	ErrDuplicate = errors.New("already in the ledger")
	ErrWoken     = errors.New("something happened since it was looked at")
)
