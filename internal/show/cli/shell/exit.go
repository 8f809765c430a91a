package shell

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/send/batchrun"
	"assay/internal/send/origin"
	"assay/internal/send/workspace"
)

// Exit codes, as `assay help exit-codes` prints them. Where several apply, the first of 2, 1, 5, 4, 6, 3 wins.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitIncomplete  = 3
	ExitBudget      = 4
	ExitHeld        = 5
	ExitGate        = 6
	ExitInterrupted = 130
)

// ExitCodeHelp is the text of `assay help exit-codes`.
const ExitCodeHelp = `  0    done
  1    failed
  2    wrong usage, or a problem in the study
  3    done, but incomplete
  4    stopped by the budget
  5    something is held and waits for a decision
  6    a gate under ` + "`require`" + ` failed, or ` + "`spend --check`" + ` found a difference
  130  interrupted; every answer that arrived is kept
`

// ExitError is an error that knows its exit code and what the user could do about it.
type ExitError struct {
	Code int
	Err  error
	Hint string
	told bool // it was printed
}

func (e *ExitError) Error() string {
	if e.Hint == "" {
		return e.Err.Error()
	}
	return fmt.Sprintf("%s (%s)", e.Err, e.Hint)
}

func (e *ExitError) Unwrap() error { return e.Err }

// Usage is an error in how the command was called.
func Usage(hint, format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...), Hint: hint}
}

// Unread is Usage for a file that cannot be read; the error of a dataset is complete as it is.
func Unread(err error, hint, format string, args ...any) error {
	if remote, ok := errors.AsType[assay.Problems](err); ok {
		return remote
	}
	return Usage(hint, format, args...)
}

// ExitCode returns the code a command's error stands for.
func ExitCode(err error) int {
	err = explained(err, "")
	var known *ExitError
	var problems assay.Problems
	var asked *batchrun.UsageError
	var mistaken *results.Mistake
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &known):
		return known.Code
	case errors.As(err, &problems), errors.As(err, &mistaken), errors.As(err, &asked):
		return ExitUsage
	}
	return ExitFailed
}

// Told prints one error of several. What it returns has the same exit code and is not printed again.
func Told(w *World, err error) error {
	Complain(w, err)
	return &ExitError{Code: ExitCode(err), Err: err, told: true}
}

// Complain prints an error: problems one on a line, everything else after the program's name.
func Complain(w *World, err error) {
	if w.torn != nil && w.torn(err) {
		err = torn(err)
	}
	err = explained(err, w.typed)
	if known, ok := errors.AsType[*ExitError](err); ok && known.told {
		return
	}
	var problems assay.Problems
	if errors.As(err, &problems) {
		for line := range strings.SplitSeq(problems.Error(), "\n") {
			w.Warn(line)
		}
		return
	}
	w.Warn("assay: " + err.Error())
}

// torn explains an error of a connection to PostgreSQL, of which it often says no more than that it ended. That of a call names it.
func torn(err error) error {
	if _, ok := errors.AsType[*ExitError](err); ok {
		return err
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return err
	}
	return &ExitError{Code: ExitFailed, Err: fmt.Errorf("the connection to PostgreSQL was lost: %w", err),
		Hint: "type the same command again: what was begun goes on, and nothing is asked twice"}
}

// explained gives the errors of a workspace the exit code and the hint of the command line. Typed are the flags that lead to the home.
func explained(err error, typed string) error {
	if _, ok := errors.AsType[*ExitError](err); ok || err == nil {
		return err
	}
	if e, ok := errors.AsType[*workspace.LedgerError](err); ok {
		return &ExitError{Code: ExitFailed, Err: err, Hint: ledgerHint(e.DB, err)}
	}
	if hint, ok := adviceOnRuns(err, typed); ok {
		return &ExitError{Code: ExitUsage, Err: err, Hint: hint}
	}
	if hint, ok := adviceOnNames(err, typed); ok {
		return &ExitError{Code: ExitUsage, Err: err, Hint: hint}
	}
	return err
}

// adviceOnRuns returns what to do about a run that cannot be found or begun as it was wanted.
func adviceOnRuns(err error, typed string) (hint string, ok bool) {
	if e, ok := errors.AsType[*workspace.NoRunError](err); ok {
		if e.Ref == "" {
			return "assay run STUDY begins one", true
		}
		return nearRuns(e.Others), true
	}
	if _, ok := errors.AsType[*workspace.UnclearRunError](err); ok {
		return "", true
	}
	if _, ok := errors.AsType[*workspace.UnpreparedError](err); ok {
		return "assay run STUDY begins again", true
	}
	if e, ok := errors.AsType[*workspace.ChangedError](err); ok {
		return "undo the change, or `assay resume " + e.Run + typed + "` for the old study; `assay cancel " + e.Run + typed +
			"`, then the same command, takes over what was answered", true
	}
	if e, ok := errors.AsType[*workspace.ModeError](err); ok {
		return "`assay resume " + e.Run + typed +
			"` goes on as it began; `assay run STUDY --new` begins another, or cancel this one first: assay cancel " + e.Run + typed, true
	}
	if e, ok := errors.AsType[*workspace.ScopeError](err); ok {
		return "`assay resume " + e.Run + typed + "` goes on with it; once it is closed, or with --new, this part is a run of its own", true
	}
	return "", false
}

// adviceOnNames returns what to do about files, folders, lanes and segments that are not what was meant.
func adviceOnNames(err error, typed string) (hint string, ok bool) {
	if e, ok := errors.AsType[*workspace.PricesError](err); ok {
		if e.Form {
			return "assay list prices --help shows the form", true
		}
		return "", true
	}
	if _, ok := errors.AsType[*workspace.ForeignPlaceError](err); ok {
		return "--artifacts or ASSAY_ARTIFACTS names the folder or bucket that all workers share", true
	}
	if _, ok := errors.AsType[*origin.LostLedgerError](err); ok {
		return "`assay restore FILE` puts a backup back, `assay adopt PROVIDER --study FILE` recovers what providers still hold; " +
			"to begin anew, name another folder with --home", true
	}
	if e, ok := errors.AsType[*workspace.UndecidableError](err); ok {
		return "assay status " + e.Run + typed + " --segments lists them", true
	}
	if e, ok := errors.AsType[*workspace.LaneError](err); ok {
		if len(e.Stages) > 0 {
			return "say which with --stage", true
		}
		return e.Near, true
	}
	if e, ok := errors.AsType[*workspace.NotAskedError](err); ok {
		return "assay results " + e.Run + " --stage " + e.Stage + " --lane " + e.Lane + " shows what was asked", true
	}
	return "", false
}
