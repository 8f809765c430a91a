package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"assay/internal/assay"
)

// Tuning is what a person allows a run to send live, set while it goes on. It stands before what the study says.
type Tuning struct {
	Every     Limits            `json:"every,omitzero"`      // of every lane that is not named
	Lanes     map[string]Limits `json:"lanes,omitempty"`     // by name
	Providers map[string]Limits `json:"providers,omitempty"` // of all lanes of a provider together
}

// Limits are caps on live requests. Zero: as the study says.
type Limits struct {
	Concurrency int     `json:"concurrency,omitempty"` // requests in flight
	Rate        float64 `json:"rate,omitempty"`        // requests a second
}

// Over is the limits, with those of another where they say nothing.
func (l Limits) Over(other Limits) Limits {
	if l.Concurrency == 0 {
		l.Concurrency = other.Concurrency
	}
	if l.Rate == 0 {
		l.Rate = other.Rate
	}
	return l
}

// Lane is what is set for a lane.
func (t Tuning) Lane(name string) Limits { return t.Lanes[name].Over(t.Every) }

// Limits reads what was tuned.
func (r Run) Limits() (Tuning, error) {
	var t Tuning
	if r.Tuned == "" {
		return t, nil
	}
	if err := json.Unmarshal([]byte(r.Tuned), &t); err != nil {
		return t, fmt.Errorf("read the limits of run %s: %w", r.ID, err)
	}
	return t, nil
}

// PausedByUser is the reason of lanes that a person paused.
const PausedByUser = "nothing new is sent until it is unpaused"

// Retuning changes the limits of a run.
type Retuning struct {
	Run     int64
	Was     string // Run.Tuned as it was seen
	Is      Tuning
	Budget  *assay.Money // nil: as it is
	Pause   []string     // lanes that send nothing more until they are unpaused, in all stages
	Unpause []string
	What    string // changed, in words
}

// Tune changes what a run may send, at once for every process that works on it, and wakes it where it is open. It reports whether
// the limits were still as they were seen: another person may have been first.
func (s *Ledger) Tune(ctx context.Context, r Retuning) (bool, error) {
	text, err := json.Marshal(r.Is)
	if err != nil {
		return false, err
	}
	is := string(text)
	if is == "{}" {
		is = ""
	}
	other := errors.New("the limits are others by now")
	err = s.tx(ctx, "tune run", durable, func(t *txn) error {
		if err := t.one(ctx, other, `UPDATE runs SET tuned = $3 WHERE no = $1 AND tuned = $2`, r.Run, r.Was, is); err != nil {
			return err
		}
		if r.Budget != nil {
			if _, err := t.ExecContext(ctx, `UPDATE runs SET budget_nano = $2 WHERE no = $1`, r.Run, nanos(r.Budget)); err != nil {
				return err
			}
		}
		for _, lane := range r.Pause {
			_, err := t.ExecContext(ctx, `UPDATE lanes SET state = 'paused', reason = $3 WHERE run_no = $1 AND lane = $2 AND state = 'open'`, r.Run, lane, PausedByUser)
			if err != nil {
				return err
			}
		}
		for _, lane := range r.Unpause {
			if _, err := t.ExecContext(ctx, `UPDATE lanes SET state = 'open', reason = '' WHERE run_no = $1 AND lane = $2 AND state = 'paused'`, r.Run, lane); err != nil {
				return err
			}
		}
		return errors.Join(t.event(ctx, r.Run, 0, "tuned", clean(r.What)), t.wakeRun(ctx, r.Run))
	})
	if errors.Is(err, other) {
		return false, nil
	}
	return err == nil, err
}
