package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"
)

// Look is what was found after a round of a stage that buys its pairs in rounds, and what was decided.
type Look struct {
	Run     int64
	Stage   string
	Number  int     // from 1
	Planned int     // looks in all
	Level   float64 // the error that it might spend
	Bought  int     // comparisons until it
	Found   string  // strengths, claims and what is given up, as JSON
	Next    string  // the comparisons of the next round, as JSON; empty: there is none
	Stop    Stop
	Given   time.Time
}

// Stop is why there is no further round.
type Stop string

// The reasons.
const (
	StopNone      Stop = ""
	StopSettled   Stop = "settled"   // all that bears on the goal is known
	StopHopeless  Stop = "hopeless"  // what is not known is not worth the rest of the rounds
	StopBudget    Stop = "budget"    // the money of the rounds is spent
	StopRounds    Stop = "rounds"    // the rounds are used up
	StopExhausted Stop = "exhausted" // there is nothing left to compare
	StopBought    Stop = "bought"    // what was bought to settle a pair did not
)

// Words say a reason in a sentence's end.
func (s Stop) Words() string {
	switch s {
	case StopSettled:
		return "the goal is settled"
	case StopHopeless:
		return "the rest of its rounds would hardly settle what is open"
	case StopBudget:
		return "its budget is spent"
	case StopRounds:
		return "its rounds are used up"
	case StopExhausted:
		return "there is nothing left to compare"
	case StopBought:
		return "what was bought to settle a pair did not settle it"
	}
	return "it goes on"
}

// PutLook writes what a look found and decided, and returns what stands: the first look of a number is kept, whatever is found later.
func (s *Ledger) PutLook(ctx context.Context, l Look) (Look, error) {
	err := s.tx(ctx, "put look", durable, func(t *txn) error {
		n, err := t.putLook(ctx, l)
		if err != nil || n == 0 {
			return err
		}
		return t.event(ctx, l.Run, 0, "look", fmt.Sprintf("stage %s, round %d of %d: %s", l.Stage, l.Number, l.Planned, l.Stop.Words()))
	})
	if err != nil {
		return l, err
	}
	for stands, err := range s.looks(ctx, `AND stage = $2 AND number = $3`, l.Run, l.Stage, l.Number) {
		return stands, err
	}
	return l, fmt.Errorf("look %d of stage %s: %w", l.Number, l.Stage, ErrNotFound)
}

func (t *txn) putLook(ctx context.Context, l Look) (int64, error) {
	return t.change(ctx, `INSERT INTO looks (run_no, stage, number, planned, level, bought, found, next, stop, at_ms) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT DO NOTHING`, l.Run, l.Stage, l.Number, l.Planned, l.Level, l.Bought, clean(l.Found), clean(l.Next), string(l.Stop), t.s.millis())
}

// Looks walks over the looks of a run, by stage and number.
func (s *Reader) Looks(ctx context.Context, run int64) iter.Seq2[Look, error] {
	return s.looks(ctx, `ORDER BY stage, number`, run)
}

func (s *Reader) looks(ctx context.Context, where string, args ...any) iter.Seq2[Look, error] {
	return walk(ctx, s, "read looks", func(rows *sql.Rows) (Look, error) {
		var l Look
		var at int64
		err := rows.Scan(&l.Run, &l.Stage, &l.Number, &l.Planned, &l.Level, &l.Bought, &l.Found, &l.Next, &l.Stop, &at)
		l.Given = time.UnixMilli(at).UTC()
		return l, err
	}, `SELECT run_no, stage, number, planned, level, bought, found, next, stop, at_ms FROM looks WHERE run_no = $1 `+where, args...)
}
