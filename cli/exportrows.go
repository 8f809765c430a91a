package cli

import (
	"context"
	"iter"

	"assay"
	"assay/export"
	"assay/results"
	"assay/store"
	"assay/study"
	"assay/waves"
)

// rowsOf walks over the rows of one table. A row is used again for the next one.
type rowsOf[T any] iter.Seq2[*T, error]

// exportBlock is how many requests are held while their verdicts are read.
const exportBlock = 250

// exporter knows what all rows of a run need.
type exporter struct {
	exported
	*results.Rows
	study  *study.Study
	lanes  map[[2]string]store.Lane // by stage and name
	params map[[2]string]assay.Params
	jobs   map[int64]string      // by segment
	costs  map[string]assay.Cost // by stage
}

func (e exported) teller(ctx context.Context) (*exporter, error) {
	rows, err := e.h.results().Rows(ctx, e.run)
	if err != nil {
		return nil, err
	}
	return &exporter{exported: e, Rows: rows, study: rows.Study, lanes: rows.Lanes, params: rows.Params, jobs: rows.Jobs, costs: rows.Costs}, nil
}

// tell yields a block of requests with their verdicts; it reports whether the walk goes on.
func (t *exporter) tell(ctx context.Context, block []store.Answer, yield func(*export.Request, error) bool) bool {
	return t.Block(ctx, block, yield)
}

func (t *exporter) verdict(v *store.Verdict) (*export.Verdict, error) { return t.Verdict(v) }

func (t *exporter) verb(stage string) string { return t.Verb(stage) }

func (t *exporter) reading(at assay.Coordinates) (waves.Reading, error) { return t.Reading(at) }

// requests are the rows of the table of requests.
func (e exported) requests(ctx context.Context) rowsOf[export.Request] {
	return walkRows(ctx, e, (*results.Rows).All)
}

// verdicts are the rows of the table of verdicts.
func (e exported) verdicts(ctx context.Context) rowsOf[export.Verdict] {
	return walkRows(ctx, e, (*results.Rows).Verdicts)
}

// items are the rows of the table of items.
func (e exported) items(ctx context.Context) rowsOf[export.Item] {
	return walkRows(ctx, e, (*results.Rows).Items)
}

func walkRows[T any](ctx context.Context, e exported, walk func(*results.Rows, context.Context) iter.Seq2[*T, error]) rowsOf[T] {
	return func(yield func(*T, error) bool) {
		rows, err := e.h.results().Rows(ctx, e.run)
		if err != nil {
			yield(nil, err)
			return
		}
		walk(rows, ctx)(yield)
	}
}
