package sending

import (
	"context"
	"errors"
	"fmt"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// Import writes answers made elsewhere as one settled segment, all or none. An answer that is there already is
// ErrDuplicate.
func (s *Importer) Import(ctx context.Context, b store.Import) error {
	if b.File == "" || len(b.Attempts) == 0 || len(b.Attempts) != len(b.Outcomes) {
		return errors.New("import: want a file and one outcome for each attempt")
	}
	var d delta
	for i := range b.Outcomes {
		if !b.Outcomes[i].Outcome.Ending.Stands() {
			return fmt.Errorf("import: %s is no answer", b.Outcomes[i].Outcome.Ending)
		}
		d.count(&b.Outcomes[i], false)
	}
	if b.Model == "" {
		d.mute = 0 // people take no tokens
	}
	d.lane.Run, d.lane.Stage, d.lane.Lane, d.lane.Open = b.Run, b.Stage, b.Lane, 0 // they were never in flight
	return s.db.Tx(ctx, "import", db.Relaxed, func(t *db.Txn) error {
		err := importBlock(ctx, t, b, d)
		if s.db.Unique(err) {
			return fmt.Errorf("stage %s, lane %s: an answer is there already: %w", b.Stage, b.Lane, store.ErrDuplicate)
		}
		return err
	})
}

func importBlock(ctx context.Context, t *db.Txn, b store.Import, d delta) error {
	var segment int64
	now := t.Millis()
	err := t.QueryRowContext(ctx, `INSERT INTO segments (run_no, stage, lane, turn, mode, purpose, provider, model, nonce, imported,
		state, moved_from, moved_ms, created_ms, launched_ms, settled_ms, requests, n_answered, n_cut, n_refused,
		cost_nano, cost_priced, cost_unknown, cache_hits, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_unknown)
		VALUES ($1, $2, $3, $4, 'reuse', 'wave', $5, $6, '', $7, 'settled', 'launched', $8, $8, $8, $8, $9, $10, $11, $12,
		$13, $14, $15, $16, $17, $18, $19, $20, $21) RETURNING no`,
		b.Run, b.Stage, b.Lane, b.Turn, b.Provider, b.Model, b.File, now, len(b.Attempts), d.n[0], d.n[1], d.n[3],
		int64(d.cost.Sum), d.cost.Priced, d.cost.Unknown, d.hits, d.usage.Input, d.usage.Cached, d.usage.Output, d.usage.Reasoning,
		d.mute).Scan(&segment)
	if err != nil {
		return err
	}
	attempts, outcomes := make([][]any, len(b.Attempts)), make([][]any, len(b.Attempts))
	for i, a := range b.Attempts {
		a.Ord, a.Try, a.Digest = int64(i), 1, nil
		attempts[i] = attemptRow(segment, b.Run, &a)
		o := b.Outcomes[i]
		o.Ord, o.Key = int64(i), a.Key
		outcomes[i] = outcomeRow(entry{segment: segment, run: b.Run, at: now}, &o, false)
	}
	if err := t.Bulk(ctx, "attempts", attemptColumns, attempts); err != nil {
		return err
	}
	if err := t.Bulk(ctx, "outcomes", outcomeColumns, outcomes); err != nil {
		return err
	}
	if err := state.AddToLane(ctx, t, d.lane); err != nil {
		return err
	}
	_, err = t.ExecContext(ctx, `UPDATE lanes SET imported = imported + $4 WHERE run_no = $1 AND stage = $2 AND lane = $3`,
		b.Run, b.Stage, b.Lane, len(b.Attempts))
	return err
}
