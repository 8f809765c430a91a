package cli

import (
	"errors"
	"fmt"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/send/batchrun"
)

// Exit codes, as `assay help exit-codes` prints them. Where several apply, the first of 2, 1, 5, 4, 6, 3 wins.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitIncomplete  = 3
	exitBudget      = 4
	exitHeld        = 5
	exitGate        = 6
	exitInterrupted = 130
)

const exitCodeHelp = `  0    done
  1    failed
  2    wrong usage, or a problem in the study
  3    done, but incomplete
  4    stopped by the budget
  5    something is held and waits for a decision
  6    a gate under ` + "`require`" + ` failed
  130  interrupted; every answer that arrived is kept
`

// exitError is an error that knows its exit code and what the user could do about it.
type exitError struct {
	code int
	err  error
	hint string
}

func (e *exitError) Error() string {
	if e.hint == "" {
		return e.err.Error()
	}
	return fmt.Sprintf("%s (%s)", e.err, e.hint)
}

func (e *exitError) Unwrap() error { return e.err }

// usage is an error in how the command was called.
func usage(hint, format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

// exitCode is the code a command's error stands for.
func exitCode(err error) int {
	err = explained(err, "")
	var known *exitError
	var problems assay.Problems
	var asked *batchrun.UsageError
	var mistaken *results.Mistake
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &known):
		return known.code
	case errors.As(err, &problems), errors.As(err, &mistaken), errors.As(err, &asked):
		return exitUsage
	}
	return exitFailed
}
