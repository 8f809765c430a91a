// Package results opens a run to be read back. Its packages do so: rows of answers and verdicts, findings, the grid, labels of people,
// documents of reports, and lists of runs. None of them writes to a ledger, except the labels that people give.
package results

import (
	"context"

	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
	"assay/internal/send/batchrun"
	"assay/internal/send/script"
	"assay/internal/study"
)

// Reader reads the runs of one ledger. It is safe for concurrent use.
type Reader struct {
	Ledger    *read.Reader
	Pages     *read.Pages
	Scripts   *script.Library // the studies of runs
	Rehearsal bool            // the runs are rehearsals
	Bundled   bool            // the ledger came out of a bundle, which holds gold labels too

	// Gone reports whether the process of a holder of leases has ended; nil: that is not known before they run out.
	Gone func(holder string) bool

	// Elsewhere opens a run that a study names: of this home or another, or of a bundle beside the study. Nil: no other run can be read.
	Elsewhere func(ctx context.Context, from store.Run, name string) (*Opened, error)
}

// Opened is a run with what reads it, until it is closed.
type Opened struct {
	*Reader
	Run   store.Run
	Close func() error
}

// Study returns the study that a run works from; of a plain batch file, one that only names its provider.
func (r *Reader) Study(ctx context.Context, run store.Run) (*study.Study, error) {
	if b, ok := batchrun.Of(run); ok {
		return b.Study(), nil
	}
	return r.Scripts.Study(ctx, run)
}

// GivesVerdicts reports whether a stage gives verdicts.
func GivesVerdicts(st *study.Stage) bool {
	return st.Verb() == study.VerbJudge || st.Verb() == study.VerbCompare
}
