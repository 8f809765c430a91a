package runs

import (
	"context"
	"fmt"
	"strings"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
	"assay/internal/keep/store/state"
)

// SecondVerdicts writes the verdicts of judges, or their fallbacks, that were asked once more. Each replaces a
// malformed or failed one of an earlier try, which stays in the ledger as stale; if there is none, or one of that try
// or a later one, nothing happens.
func (s *Store) SecondVerdicts(ctx context.Context, verdicts []store.Verdict) error {
	return s.db.Tx(ctx, "second verdicts", db.Relaxed, func(t *db.Txn) error {
		for i := range verdicts {
			v := &verdicts[i]
			key := v.At.Key()
			n, err := t.Change(ctx, `UPDATE verdicts SET stale = 1 WHERE run_no = $1 AND key = $2 AND stale = 0 AND second_try < $3
				AND state IN ('malformed', 'failed')`, v.Run, key[:], v.Again)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			if _, err := addVerdict(ctx, t, v); err != nil {
				return fmt.Errorf("second verdict of %s on %s: %w", v.At.Judge, v.At.Item, err)
			}
		}
		return nil
	})
}

// Label writes a person's verdict in the place of others that the same person gave on the same, by the keys of their coordinates.
func (s *Store) Label(ctx context.Context, v store.Verdict, others []assay.Key) error {
	return s.db.Tx(ctx, "label", db.Relaxed, func(t *db.Txn) error {
		if err := state.Lock(ctx, t, v.Run); err != nil {
			return err
		}
		for _, k := range others {
			if _, err := withdraw(ctx, t, v.Run, k); err != nil {
				return err
			}
		}
		_, err := addVerdict(ctx, t, &v)
		return err
	})
}

// TakeLabels writes labels of another run. A label of the same person and subject in this one is kept, withdrawn or not.
func (s *Store) TakeLabels(ctx context.Context, labels []store.TakenLabel) error {
	if len(labels) == 0 {
		return nil
	}
	return s.db.Tx(ctx, "take labels over", db.Relaxed, func(t *db.Txn) error {
		for i := range labels {
			list, args := db.KeyList(labels[i].Others, labels[i].Verdict.Run)
			var there bool
			if err := t.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM verdicts WHERE run_no = $1 AND key IN (`+list+`))`,
				args...).Scan(&there); err != nil {
				return err
			}
			if there {
				continue
			}
			if _, err := addVerdict(ctx, t, &labels[i].Verdict); err != nil {
				return err
			}
		}
		return nil
	})
}

// withdraw takes back a person's verdict.
func withdraw(ctx context.Context, t *db.Txn, run int64, key assay.Key) (int64, error) {
	return t.Change(ctx, `UPDATE verdicts SET stale = 1 WHERE run_no = $1 AND key = $2 AND stale = 0 AND judge LIKE 'human:%'`, run, key[:])
}

// AddVerdicts writes verdicts and returns how many are new. One with the same coordinates that is not stale is kept,
// unless it only notes that there was no answer.
func (s *Store) AddVerdicts(ctx context.Context, verdicts []store.Verdict) (int64, error) {
	var n int64
	err := s.db.Tx(ctx, "add verdicts", db.Relaxed, func(t *db.Txn) error {
		n = 0
		for i := range verdicts {
			m, err := addVerdict(ctx, t, &verdicts[i])
			if err == nil && m == 0 {
				m, err = comeAfterAll(ctx, t, &verdicts[i])
			}
			if err != nil {
				return fmt.Errorf("verdict of %s on %s: %w", verdicts[i].At.Judge, verdicts[i].At.Item, err)
			}
			n += m
		}
		return nil
	})
	return n, err
}

// comeAfterAll writes a verdict in the place of one that was noted when no answer was there: the answer has come since. The note stays
// in the ledger as stale.
func comeAfterAll(ctx context.Context, t *db.Txn, v *store.Verdict) (int64, error) {
	if v.State == assay.VerdictFailed || v.State == assay.VerdictMissing {
		return 0, nil
	}
	key := v.At.Key()
	n, err := t.Change(ctx, `UPDATE verdicts SET stale = 1 WHERE run_no = $1 AND key = $2 AND stale = 0 AND state IN ('failed', 'missing')`,
		v.Run, key[:])
	if err != nil || n == 0 {
		return 0, err
	}
	return addVerdict(ctx, t, v)
}

func addVerdict(ctx context.Context, t *db.Txn, v *store.Verdict) (int64, error) {
	key, fields := v.At.Key(), v.Fields
	if fields == "" {
		fields = "{}"
	}
	var ord any
	if v.Segment != 0 {
		ord = v.Ord
	}
	var score any
	if v.Score != nil {
		score = *v.Score
	}
	row := append(make([]any, 0, len(verdictColumns)), v.Run, key[:], v.Direction, db.NullKey(v.Subject), db.NullKey(v.Against),
		string(v.State), db.Null(db.Clean(v.Label)), score, db.Clean(v.Reason), db.Clean(fields), db.Null(v.Segment), ord, v.Again, v.By,
		t.Millis())
	return t.Change(ctx, insertVerdict, verdictAt.Values(row, &v.At)...)
}

var (
	verdictAt      = assay.AllCoordinates()
	verdictColumns = append([]string{"run_no", "key", "direction", "subject_key", "against_key", "state", "label", "score", "reason",
		"fields", "segment_no", "ord", "second_try", "fallback", "at_ms"}, verdictAt.Names()...)
	insertVerdict = `INSERT INTO verdicts (` + strings.Join(verdictColumns, ", ") + `)
		VALUES (` + db.Placeholders(1, len(verdictColumns)) + `) ON CONFLICT DO NOTHING`
)

// Withdraw takes back verdicts of people, by the keys of their coordinates: they stay in the ledger, marked stale. It
// returns how many it took back. Verdicts of models and rules are never withdrawn.
func (s *Store) Withdraw(ctx context.Context, run int64, keys []assay.Key) (int64, error) {
	var n int64
	err := s.db.Tx(ctx, "withdraw verdicts", db.Relaxed, func(t *db.Txn) error {
		n = 0
		for _, k := range keys {
			m, err := withdraw(ctx, t, run, k)
			if err != nil {
				return err
			}
			n += m
		}
		return nil
	})
	return n, err
}
