package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// WorkerKey is a key that a living worker or gateway has for a provider of a run.
type WorkerKey struct {
	Run      int64
	Provider string
	Account  string // the key's fingerprint
}

// PutWorkerKeys says, for a while, for which providers of which runs a worker has keys: these and no others. The hands of the
// dead go away by themselves.
func (s *Ledger) PutWorkerKeys(ctx context.Context, holder string, hands []WorkerKey, ttl time.Duration) error {
	return s.tx(ctx, "put worker keys", relaxed, func(t *txn) error {
		now, err := s.engine.clock(ctx, t)
		if err != nil {
			return err
		}
		if _, err := t.ExecContext(ctx, `DELETE FROM worker_keys WHERE holder = $1 OR until_ms <= $2`, holder, now); err != nil {
			return err
		}
		rows := make([][]any, len(hands))
		for i, h := range hands {
			rows[i] = []any{holder, h.Run, h.Provider, h.Account, now + ttl.Milliseconds()}
		}
		if len(rows) == 0 {
			return nil
		}
		return s.engine.bulk(ctx, t, "worker_keys", []string{"holder", "run_no", "provider", "account", "until_ms"}, rows)
	})
}

// KeyAlive reports whether a living worker or gateway has a key.
func (s *Reader) KeyAlive(ctx context.Context, k WorkerKey) (alive bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM worker_keys WHERE run_no = $1 AND provider = $3 AND account = $4 AND until_ms > `+s.engine.clockText("CAST($2 AS BIGINT)")+` AND CAST($2 AS BIGINT) > 0)`,
		k.Run, s.millis(), k.Provider, k.Account).Scan(&alive)
	if err != nil {
		return false, fmt.Errorf("read which keys are there: %w", err)
	}
	return alive, nil
}

// ProgramKey stands for a provider where a worker says that it may run the judging programs of a run. No provider has such a name.
const ProgramKey = "(program)"

// MayJudge reports whether a living worker may run the judging programs of a run.
func (s *Reader) MayJudge(ctx context.Context, run int64) (may bool, err error) {
	err = s.read.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM worker_keys WHERE run_no = $1 AND provider = $3 AND until_ms > `+s.engine.clockText("CAST($2 AS BIGINT)")+` AND CAST($2 AS BIGINT) > 0)`,
		run, s.millis(), ProgramKey).Scan(&may)
	if err != nil {
		return false, fmt.Errorf("read which workers may judge: %w", err)
	}
	return may, nil
}

// Stranded is a segment that no living worker can work on.
type Stranded struct {
	Segment  int64
	Stage    string
	Lane     string
	Provider string
	Account  string // the fingerprint of the one key that would do; empty: any key of the provider
	Due      time.Time
}

// Stranded lists the segments of a run that have been due for a while, that no process holds, and for which no living worker
// has the key. A process that drives a run alone says nothing about its keys: this is for ledgers that workers share.
func (s *Reader) Stranded(ctx context.Context, run int64, due time.Duration) ([]Stranded, error) {
	now := s.engine.clockText("$2")
	rows, err := s.read.QueryContext(ctx, `SELECT no, stage, lane, provider, wanted, due_ms FROM (
			SELECT no, stage, lane, provider, due_ms, CASE WHEN mode = 'batch' AND state IN ('intended', 'launched', 'ended') THEN COALESCE(account, '') ELSE '' END AS wanted
			FROM segments WHERE run_no = $1 AND due_ms + $3 <= $2 AND mode <> 'reuse' AND (holder IS NULL OR lease_until_ms <= `+now+`)) AS g
		WHERE NOT EXISTS (SELECT 1 FROM worker_keys h WHERE h.run_no = $1 AND h.provider = g.provider AND h.until_ms > `+now+` AND (g.wanted = '' OR g.wanted = h.account))
		ORDER BY no`, run, s.millis(), due.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("read what is stranded: %w", err)
	}
	defer rows.Close()
	var all []Stranded
	for rows.Next() {
		var g Stranded
		var at sql.NullInt64
		if err := rows.Scan(&g.Segment, &g.Stage, &g.Lane, &g.Provider, &g.Account, &at); err != nil {
			return nil, fmt.Errorf("read what is stranded: %w", err)
		}
		g.Due = fromMillis(at)
		all = append(all, g)
	}
	return all, rows.Err()
}
