package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"assay/internal/assay"
)

// ErrReplaced says that what a person judged does not count any more: an edit of the study replaced it after it was shown.
var ErrReplaced = errors.New("the study was changed since this was shown, and it was asked again or is another text by now")

// Shown is what a person was shown: an answer, or an item.
type Shown struct {
	Segment, Ord int64     // of an answer, with
	Key          assay.Key // the request that it stands for; or

	Input, Item string // an item, with
	Sum         string // what ItemSum made of it
}

// ItemSum is short for what an item says.
func ItemSum(it assay.Item) (string, error) {
	fields, err := encodeFields(it.Fields)
	if err != nil {
		return "", fmt.Errorf("item %s: %w", it.ID, err)
	}
	sum := sha256.Sum256([]byte(fields))
	return hex.EncodeToString(sum[:8]), nil
}

// Label writes a person's verdict in the place of others that the same person gave on the same, by the keys of their coordinates. Where
// something that was shown has been replaced since, nothing is written: ErrReplaced.
func (s *Ledger) Label(ctx context.Context, v Verdict, others []assay.Key, shown []Shown) error {
	return s.tx(ctx, "label", relaxed, func(t *txn) error {
		if err := t.lockRun(ctx, v.Run); err != nil {
			return err
		}
		for _, a := range shown {
			still, err := t.stillShown(ctx, v.Run, a)
			if err != nil {
				return err
			}
			if !still {
				return ErrReplaced
			}
		}
		for _, k := range others {
			if _, err := t.withdraw(ctx, v.Run, k); err != nil {
				return err
			}
		}
		_, err := t.addVerdict(ctx, &v)
		return err
	})
}

// stillShown reports whether a person would be shown the same now.
func (t *txn) stillShown(ctx context.Context, run int64, a Shown) (still bool, err error) {
	if a.Item == "" {
		err = t.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM outcomes WHERE run_no = $1 AND key = $2 AND segment_no = $3 AND ord = $4 AND stands = 1)`,
			run, a.Key[:], a.Segment, a.Ord).Scan(&still)
		return still, err
	}
	it := assay.Item{ID: a.Item}
	var fields []byte
	err = t.QueryRowContext(ctx, `SELECT fields FROM items WHERE run_no = $1 AND input = $2 AND id = $3`, run, a.Input, a.Item).Scan(&fields)
	if err == nil {
		err = decodeFields(fields, &it.Fields)
	}
	if err != nil {
		return false, fmt.Errorf("item %s of %s: %w", a.Item, a.Input, notFound(err))
	}
	sum, err := ItemSum(it)
	return sum == a.Sum, err
}

// withdraw takes back what a person said.
func (t *txn) withdraw(ctx context.Context, run int64, key assay.Key) (int64, error) {
	return t.change(ctx, `UPDATE verdicts SET stale = 1 WHERE run_no = $1 AND key = $2 AND stale = 0 AND judge LIKE 'human:%'`, run, key[:])
}

// lockRun has the writers of a run take turns: its row is the first that each of them changes.
func (t *txn) lockRun(ctx context.Context, run int64) error {
	return t.one(ctx, fmt.Errorf("run %d: %w", run, ErrNotFound), `UPDATE runs SET digest = digest WHERE no = $1`, run)
}
