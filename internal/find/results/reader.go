// Package results reads a run back: answers and verdicts as rows, findings with their gates and juries, what people said,
// the input of a report, what changed between two runs, and what is true of a rehearsal.
//
// A row is one type wherever it is shown: `assay results`, exports, the JSON API and imports use the same fields under the
// same names. Nothing here writes to a ledger, except the labels that people give.
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
}

// Study is the study that a run works from; of a plain batch file, one that only names its provider.
func (r *Reader) Study(ctx context.Context, run store.Run) (*study.Study, error) {
	if b, ok := batchrun.Of(run); ok {
		return b.Study(), nil
	}
	return r.Scripts.Study(ctx, run)
}
