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
