package store

import (
	"context"
	"database/sql"
	"fmt"
)

// Headline is what a run found, in a few words, as it was last computed.
type Headline struct {
	Version string // of the run when it was computed: Version spells it
	Text    string
}

// PutHeadline keeps what a run found, so that a list of runs has it without computing anything. It replaces the one before.
func (s *Ledger) PutHeadline(ctx context.Context, run int64, h Headline) error {
	return s.tx(ctx, "keep a headline", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO headlines (run_no, version, text) VALUES ($1, $2, $3)
			ON CONFLICT (run_no) DO UPDATE SET version = excluded.version, text = excluded.text`, run, h.Version, h.Text)
		return err
	})
}

// Headlines reads what runs found, those of them for which it is kept. One whose version is not that of the run is out of date.
func (s *Reader) Headlines(ctx context.Context, runs []int64) (map[int64]Headline, error) {
	all := map[int64]Headline{}
	if len(runs) == 0 {
		return all, nil
	}
	err := s.each(ctx, func(rows *sql.Rows) error {
		var run int64
		var h Headline
		err := rows.Scan(&run, &h.Version, &h.Text)
		all[run] = h
		return err
	}, `SELECT run_no, version, text FROM headlines WHERE run_no IN (`+numbers(runs)+`)`)
	if err != nil {
		return nil, fmt.Errorf("read headlines: %w", err)
	}
	return all, nil
}
