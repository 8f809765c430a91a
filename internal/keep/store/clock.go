package store

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// metaClock is the name of the latest time that the ledger has seen.
const metaClock = "clock"

// How the latest time is kept: often enough to see a clock that was set back, not at every look.
const (
	clockEvery = 10 * time.Second
	clockBack  = time.Minute // less than this is a clock that is being kept right
)

// KeepTime notes what time it is. Where the clock was set back since the last note, everything that waits for a moment
// waits for as much earlier a one: a poll in a minute stays a poll in a minute, and a dead holder's lease does not last for
// a day. It returns by how much. On PostgreSQL leases go by the server's clock, and nothing is done.
func (s *Ledger) KeepTime(ctx context.Context) (back time.Duration, err error) {
	if s.Postgres() {
		return 0, nil
	}
	text, err := s.Meta(ctx, metaClock)
	if err != nil {
		return 0, err
	}
	last, _ := strconv.ParseInt(text, 10, 64) // nothing is noted yet
	now := s.millis()
	if ahead := now - last; ahead >= 0 && ahead < clockEvery.Milliseconds() {
		return 0, nil
	}
	if last-now > clockBack.Milliseconds() {
		back = time.Duration(last-now) * time.Millisecond
	}
	err = s.tx(ctx, "keep time", relaxed, func(t *txn) error {
		// Another process may have seen the same: only one of them moves what waits.
		n, err := t.change(ctx, `INSERT INTO meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value
			WHERE meta.value = $3`, metaClock, strconv.FormatInt(now, 10), text)
		if err != nil || n == 0 || back == 0 {
			back = back * time.Duration(n)
			return err
		}
		return t.setBack(ctx, back)
	})
	return back, err
}

// setBack moves every moment that something waits for.
func (t *txn) setBack(ctx context.Context, by time.Duration) error {
	for _, c := range []struct{ table, column string }{
		{"segments", "due_ms"}, {"segments", "lease_until_ms"}, {"segments", "absent_ms"},
		{"runs", "due_ms"}, {"runs", "lease_until_ms"}, {"drivers", "until_ms"}, {"resends", "not_before_ms"}, {"gates", "until_ms"},
	} {
		_, err := t.ExecContext(ctx, `UPDATE `+c.table+` SET `+c.column+` = `+c.column+` - $1 WHERE `+c.column+` IS NOT NULL`, by.Milliseconds())
		if err != nil {
			return fmt.Errorf("set back %s of %s: %w", c.column, c.table, err)
		}
	}
	// The search for a job that may have been made waits until its create call is surely over.
	if _, err := t.ExecContext(ctx, `UPDATE segments SET intended_ms = intended_ms - $1 WHERE state = 'intended'`, by.Milliseconds()); err != nil {
		return fmt.Errorf("set back intents: %w", err)
	}
	return nil
}
