package store

import "context"

// InsertOutcomes is the floor of settling: the same rows into the same table with the same indexes, and nothing else.
func (s *Ledger) InsertOutcomes(ctx context.Context, segment, run int64, block []Settlement) error {
	return s.tx(ctx, "floor", relaxed, func(t *txn) error {
		rows := make([][]any, len(block))
		for i := range block {
			rows[i] = outcomeRow(segment, run, &block[i], 0, false, s.millis())
		}
		return s.engine.bulk(ctx, t, "outcomes", outcomeColumns, rows)
	})
}

// InsertCalls writes so many calls of one user that have ended, and their sums, at once.
func (s *Ledger) InsertCalls(ctx context.Context, n int) error {
	return s.tx(ctx, "many calls", relaxed, func(t *txn) error {
		rows := make([][]any, n)
		for i := range rows {
			rows[i] = []any{"anna", "openai", "m", int64(1), int64(5), int64(2), "answered", int64(9), int64(1), int64(3)}
		}
		if err := s.engine.bulk(ctx, t, "client_calls", []string{"owner", "provider", "model", "began_ms", "high_nano", "ended_ms", "ending", "input_tokens", "output_tokens", "cost_nano"}, rows); err != nil {
			return err
		}
		_, err := t.ExecContext(ctx, `INSERT INTO client_sums (owner, calls, in_flight, taken_nano, no_most) SELECT owner, COUNT(*), 0, SUM(cost_nano), 0 FROM client_calls GROUP BY owner`)
		return err
	})
}
