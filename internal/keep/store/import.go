package store

import (
	"context"
	"errors"
	"fmt"
)

// Import is answers made elsewhere, of one lane in one turn of one stage. They have no job; what they cost was not spent
// by the run.
type Import struct {
	Run int64
	GroupKey
	Provider, Model string
	File            string // where they came from
	Attempts        []Attempt
	Outcomes        []Settlement // one for each attempt, in the same order; all of them answers
}

// Import writes answers made elsewhere as one settled segment, all or none. An answer that is there already is
// ErrDuplicate.
func (s *Ledger) Import(ctx context.Context, b Import) error {
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
	d.lane.run, d.lane.stage, d.lane.lane, d.lane.open = b.Run, b.Stage, b.Lane, 0 // they were never in flight
	return s.tx(ctx, "import", relaxed, func(t *txn) error {
		err := t.importBlock(ctx, b, d)
		if s.engine.unique(err) {
			return fmt.Errorf("stage %s, lane %s: an answer is there already: %w", b.Stage, b.Lane, ErrDuplicate)
		}
		return err
	})
}

func (t *txn) importBlock(ctx context.Context, b Import, d delta) error {
	var segment int64
	now := t.s.millis()
	err := t.QueryRowContext(ctx, `INSERT INTO segments (run_no, stage, lane, turn, mode, purpose, provider, model, nonce, imported,
		state, moved_from, moved_ms, created_ms, launched_ms, settled_ms, requests, n_answered, n_cut, n_refused,
		cost_nano, cost_priced, cost_unknown, cache_hits, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_unknown)
		VALUES ($1, $2, $3, $4, 'reuse', 'wave', $5, $6, '', $7, 'settled', 'launched', $8, $8, $8, $8, $9, $10, $11, $12,
		$13, $14, $15, $16, $17, $18, $19, $20, $21) RETURNING no`,
		b.Run, b.Stage, b.Lane, b.Turn, b.Provider, b.Model, b.File, now, len(b.Attempts), d.n[0], d.n[1], d.n[3],
		int64(d.cost.Sum), d.cost.Priced, d.cost.Unknown, d.hits, d.usage.Input, d.usage.Cached, d.usage.Output, d.usage.Reasoning, d.mute).Scan(&segment)
	if err != nil {
		return err
	}
	attempts, outcomes := make([][]any, len(b.Attempts)), make([][]any, len(b.Attempts))
	for i, a := range b.Attempts {
		a.Ord, a.Try, a.Digest = int64(i), 1, nil
		attempts[i] = attemptRow(segment, b.Run, &a)
		o := b.Outcomes[i]
		o.Ord, o.Key = int64(i), a.Key
		outcomes[i] = outcomeRow(segment, b.Run, &o, 0, false, now)
	}
	if err := t.s.engine.bulk(ctx, t, "attempts", attemptColumns, attempts); err != nil {
		return err
	}
	if err := t.s.engine.bulk(ctx, t, "outcomes", outcomeColumns, outcomes); err != nil {
		return err
	}
	if err := t.addToLane(ctx, d.lane); err != nil {
		return err
	}
	_, err = t.ExecContext(ctx, `UPDATE lanes SET imported = imported + $4 WHERE run_no = $1 AND stage = $2 AND lane = $3`, b.Run, b.Stage, b.Lane, len(b.Attempts))
	return err
}
