package cli

import (
	"errors"

	"assay/internal/send/workspace"
)

// explained gives the errors of a workspace the exit code and the hint of the command line. Typed are the flags that lead to the home.
func explained(err error, typed string) error {
	if _, ok := errors.AsType[*exitError](err); ok || err == nil {
		return err
	}
	if e, ok := errors.AsType[*workspace.LedgerError](err); ok {
		return &exitError{code: exitFailed, err: err, hint: ledgerHint(e.DB, err)}
	}
	if hint, ok := adviceOnRuns(err, typed); ok {
		return &exitError{code: exitUsage, err: err, hint: hint}
	}
	if hint, ok := adviceOnNames(err, typed); ok {
		return &exitError{code: exitUsage, err: err, hint: hint}
	}
	return err
}

// adviceOnRuns is what to do about a run that cannot be found or begun as it was wanted.
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
		if e.InFlight {
			return "`assay resume " + e.Run + typed + "` goes on with the old study; once nothing of that is in flight, the same command as now asks again what was changed", true
		}
		return "undo the change, or `assay resume " + e.Run + typed + "` for the old study; `assay cancel " + e.Run + typed + "`, then the same command, takes over what was answered", true
	}
	if e, ok := errors.AsType[*workspace.ModeError](err); ok {
		return "`assay resume " + e.Run + typed + "` goes on as it began; `assay run STUDY --new` begins another, or cancel this one first: assay cancel " + e.Run + typed, true
	}
	if e, ok := errors.AsType[*workspace.ScopeError](err); ok {
		return "`assay resume " + e.Run + typed + "` goes on with it; once it is closed, or with --new, this part is a run of its own", true
	}
	return "", false
}

// adviceOnNames is what to do about files, folders, lanes and segments that are not what was meant.
func adviceOnNames(err error, typed string) (hint string, ok bool) {
	if e, ok := errors.AsType[*workspace.PricesError](err); ok {
		if e.Form {
			return "assay prices --help shows the form", true
		}
		return "", true
	}
	if _, ok := errors.AsType[*workspace.ForeignPlaceError](err); ok {
		return "--artifacts or ASSAY_ARTIFACTS names the folder or bucket that all workers share", true
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
