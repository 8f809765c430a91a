package db

import (
	"context"
	"strconv"

	"assay/internal/assay"
)

// In SQLite requests are found by their items, which come in the order of the work: every entry of an index in random order rewrites a
// page of it (docs/dev/ledger.md has the figures). PostgreSQL keeps an index of keys, too: only its owner could make one later.

// asked finds attempts by item and key.
func (sqlite) asked(attempt string, run int64, refs []assay.Ref) (string, []any) {
	text, args := make([]byte, 0, 14*len(refs)), append(make([]any, 0, 1+2*len(refs)), run)
	for i := range refs {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(append(text, "($"...), int64(len(args)+1), 10)
		text = strconv.AppendInt(append(text, ",$"...), int64(len(args)+2), 10)
		text = append(text, ')')
		args = append(args, refs[i].Item, refs[i].Key[:])
	}
	return attempt + `.rowid IN (SELECT named.rowid FROM (VALUES ` + string(text) + `) AS ref CROSS JOIN attempts named
		WHERE named.run_no = $1 AND named.item = ref.column1 AND named.key = ref.column2)`, args
}

// asked finds attempts by key.
func (postgres) asked(attempt string, run int64, refs []assay.Ref) (string, []any) {
	args := append(make([]any, 0, 1+len(refs)), run)
	for i := range refs {
		args = append(args, refs[i].Key[:])
	}
	return attempt + `.run_no = $1 AND ` + attempt + `.key IN (` + Placeholders(2, len(args)) + `)`, args
}

// manyAttempts is how many attempts of a run are read in order to find one of them by its key: a fraction of a page's time.
const manyAttempts = 100_000

// indexKeys makes the index for a large run. Where a run is at work, nothing is made: it could not write meanwhile.
func (sqlite) indexKeys(ctx context.Context, s *DB, run int64) error {
	var wanted bool
	err := s.read.QueryRowContext(ctx, `SELECT NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = 'attempts_key')
		AND NOT EXISTS (SELECT 1 FROM runs WHERE state <> 'closed')
		AND $2 < (SELECT COALESCE(SUM(requests), 0) FROM segments WHERE run_no = $1)`, run, manyAttempts).Scan(&wanted)
	if err != nil || !wanted {
		return err
	}
	return s.Tx(ctx, "index keys", Relaxed, func(t *Txn) error {
		_, err := t.ExecContext(ctx, `CREATE INDEX IF NOT EXISTS attempts_key ON attempts (run_no, key)`)
		return err
	})
}

func (sqlite) dropKeys(ctx context.Context, t *Txn) error {
	_, err := t.ExecContext(ctx, `DROP INDEX IF EXISTS attempts_key`)
	return err
}

// indexKeys has nothing to do: the index is always there.
func (postgres) indexKeys(context.Context, *DB, int64) error { return nil }

func (postgres) dropKeys(context.Context, *Txn) error { return nil }
