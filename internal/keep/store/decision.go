package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"assay/internal/assay"
)

// Decision is what a gate of a run decided.
type Decision struct {
	Run       int64
	Stage     string
	Lane      string // empty: the stage as a whole
	Condition string
	Passed    bool
	Why       string // where it did not pass
	Given     time.Time
}

// Decide writes what a gate decided, and returns what stands: the first decision is kept, whatever is found later.
func (s *Ledger) Decide(ctx context.Context, d Decision) (Decision, error) {
	err := s.tx(ctx, "decide", durable, func(t *txn) error {
		n, err := t.change(ctx, `INSERT INTO decisions (run_no, stage, lane, condition, passed, why, at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT DO NOTHING`, d.Run, d.Stage, d.Lane, d.Condition, flag(d.Passed), clean(d.Why), s.millis())
		if err != nil || n == 0 {
			return err
		}
		text := "stage " + d.Stage
		if d.Lane != "" {
			text += ", lane " + d.Lane
		}
		word := "gate opened"
		if !d.Passed {
			word, text = "gate closed", text+": "+d.Why
		}
		return t.event(ctx, d.Run, 0, word, text)
	})
	if err != nil {
		return d, err
	}
	for stands, err := range s.decisions(ctx, `AND stage = $2 AND lane = $3`, d.Run, d.Stage, d.Lane) {
		return stands, err
	}
	return d, fmt.Errorf("decision of stage %s: %w", d.Stage, ErrNotFound)
}

// Decisions walks over what the gates of a run have decided, by stage and lane.
func (s *Reader) Decisions(ctx context.Context, run int64) iter.Seq2[Decision, error] {
	return s.decisions(ctx, `ORDER BY stage, lane`, run)
}

func (s *Reader) decisions(ctx context.Context, where string, args ...any) iter.Seq2[Decision, error] {
	return walk(ctx, s, "read decisions", func(rows *sql.Rows) (Decision, error) {
		var d Decision
		var at int64
		err := rows.Scan(&d.Run, &d.Stage, &d.Lane, &d.Condition, &d.Passed, &d.Why, &at)
		d.Given = time.UnixMilli(at).UTC()
		return d, err
	}, `SELECT run_no, stage, lane, condition, passed, why, at_ms FROM decisions WHERE run_no = $1 `+where, args...)
}

// SetSpared says how many of a lane's planned requests in a stage need no asking: a condition left them out, or what they
// would have shown is known.
func (s *Ledger) SetSpared(ctx context.Context, run int64, stage, lane string, n int64) error {
	return s.tx(ctx, "set spared", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `UPDATE lanes SET spared = $4 WHERE run_no = $1 AND stage = $2 AND lane = $3 AND spared <> $4`, run, stage, lane, n)
		return err
	})
}

// VerdictsAt reads the verdicts that stand at these coordinates' keys. Where there is none, the key is not in the map.
func (s *Reader) VerdictsAt(ctx context.Context, run int64, keys []assay.Key) (map[assay.Key]Verdict, error) {
	all := make(map[assay.Key]Verdict, len(keys))
	for len(keys) > 0 {
		n := min(500, len(keys))
		list, args := keyList(keys[:n], run)
		for v, err := range walk(ctx, s, "read verdicts", scanVerdict, verdictColumns+`WHERE run_no = $1 AND stale = 0 AND key IN (`+list+`)`, args...) {
			if err != nil {
				return nil, err
			}
			all[v.At.Key()] = v
		}
		keys = keys[n:]
	}
	return all, nil
}

// SecondVerdicts writes what judges, or those in their place, said when they were asked once more. Each takes the place of a malformed or
// failed one of an earlier try, which stays in the ledger as stale; where none stands, or one of that try or a later one does, nothing
// happens.
func (s *Ledger) SecondVerdicts(ctx context.Context, verdicts []Verdict) error {
	return s.tx(ctx, "second verdicts", relaxed, func(t *txn) error {
		for i := range verdicts {
			v := &verdicts[i]
			key := v.At.Key()
			n, err := t.change(ctx, `UPDATE verdicts SET stale = 1 WHERE run_no = $1 AND key = $2 AND stale = 0 AND second_try < $3
				AND state IN ('malformed', 'failed')`, v.Run, key[:], v.Again)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			if _, err := t.addVerdict(ctx, v); err != nil {
				return fmt.Errorf("second verdict of %s on %s: %w", v.At.Judge, v.At.Item, err)
			}
		}
		return nil
	})
}
