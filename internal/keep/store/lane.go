package store

import (
	"context"
	"fmt"
	"time"

	"assay/internal/assay"
)

// LaneState is whether a lane may send in a stage.
type LaneState string

// The states of a lane in a stage.
const (
	LaneOpen    LaneState = "open"
	LaneStopped LaneState = "stopped" // the provider refuses its key, its money or its requests
	LaneHeld    LaneState = "held"    // a person has to look
	LanePaused  LaneState = "paused"  // a person wants nothing sent for a while
)

// LaneCause is why a lane is not open, as far as something is decided by it. Words for people are in its reason.
type LaneCause string

// The causes that something is decided by.
const (
	CauseOther       LaneCause = ""
	CauseUser        LaneCause = "user"         // a person cancelled it
	CauseAccount     LaneCause = "account"      // its key was refused, or its account is empty
	CauseNothingGood LaneCause = "nothing good" // none of its first answers is of use
)

// Canary is where the one live request stands that goes before a lane's first batch.
type Canary string

// The states of a canary.
const (
	CanaryOff    Canary = "off"    // not wanted, or the lane cannot answer live
	CanaryDue    Canary = "due"    // to be asked
	CanaryAsked  Canary = "asked"  // in flight
	CanaryShown  Canary = "shown"  // answered; waits for a person's yes
	CanaryPassed Canary = "passed" // answered: the batches may go
	CanaryFailed Canary = "failed" // rejected: nothing more goes
)

// Lane is a lane in one stage of a run, with its requests counted by what stands for each now.
type Lane struct {
	Run             int64
	Stage, Name     string
	Provider, Model string
	Label           string
	Params          string // JSON of the effective parameters
	Planned         int64  // at most this many requests
	Spared          int64  // of them: those that need no asking
	State           LaneState
	Cause           LaneCause
	Reason          string // why it is not open, in words
	Canary          Canary
	Open            int64 // requests staged or sent that have not ended
	Endings         map[assay.Ending]int64
	CacheHits       int64
	Reused          int64
	Imported        int64 // answers made elsewhere
	Surplus         int64 // answers paid for twice
}

// Ended is how many requests have ended, with an answer or without.
func (l Lane) Ended() int64 { return ended(l.Endings) }

// ModelID is the model with its provider; empty: the answers were imported, and which model gave them is not known.
func (l Lane) ModelID() string {
	if l.Provider == "" && l.Model == "" {
		return ""
	}
	return l.Provider + "/" + l.Model
}

// PutLanes writes the lanes of a plan. What is already there keeps its state and its counters.
func (s *Ledger) PutLanes(ctx context.Context, lanes []Lane) error {
	return s.tx(ctx, "put lanes", relaxed, func(t *txn) error { return t.putLanes(ctx, lanes) })
}

func (t *txn) putLanes(ctx context.Context, lanes []Lane) error {
	for _, l := range lanes {
		if l.Canary == "" {
			l.Canary = CanaryOff
		}
		_, err := t.ExecContext(ctx, `INSERT INTO lanes (run_no, stage, lane, provider, model, label, params, planned, state, reason, canary)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'open', '', $9)
			ON CONFLICT (run_no, stage, lane) DO UPDATE SET provider = excluded.provider, model = excluded.model,
			label = excluded.label, params = excluded.params, planned = excluded.planned`,
			l.Run, l.Stage, l.Name, l.Provider, l.Model, l.Label, l.Params, l.Planned, string(l.Canary))
		if err != nil {
			return fmt.Errorf("lane %s: %w", l.Name, err)
		}
	}
	return nil
}

// LaneStop is a state that a lane is brought into, and why.
type LaneStop struct {
	State  LaneState
	Cause  LaneCause
	Reason string
	From   LaneCause // only a lane that is stopped for this; empty: any
}

// SetLane opens, stops or holds a lane in a stage, and writes the reason into the history.
func (s *Ledger) SetLane(ctx context.Context, run int64, stage, lane string, to LaneStop) error {
	return s.tx(ctx, "set lane", durable, func(t *txn) error {
		n, err := t.change(ctx, `UPDATE lanes SET state = $4, reason = $5, cause = $6
			WHERE run_no = $1 AND stage = $2 AND lane = $3 AND (state <> $4 OR reason <> $5 OR cause <> $6) AND ($7 = '' OR state = 'stopped' AND cause = $7)`,
			run, stage, lane, string(to.State), to.Reason, string(to.Cause), string(to.From))
		if err != nil || n == 0 {
			return err
		}
		return t.event(ctx, run, 0, "lane "+string(to.State), lane+" in "+stage+": "+to.Reason)
	})
}

// SetCanary moves a lane's canary on from a state; it reports whether it was there.
func (s *Ledger) SetCanary(ctx context.Context, run int64, stage, lane string, from, to Canary) (bool, error) {
	var moved int64
	err := s.tx(ctx, "set canary", durable, func(t *txn) (err error) {
		moved, err = t.change(ctx, `UPDATE lanes SET canary = $5 WHERE run_no = $1 AND stage = $2 AND lane = $3 AND canary = $4`,
			run, stage, lane, string(from), string(to))
		if err != nil || moved == 0 {
			return err
		}
		return t.event(ctx, run, 0, "canary "+string(to), lane+" in "+stage)
	})
	return moved == 1, err
}

// Lanes reads the lanes of a run in the order of stage and name.
func (s *Reader) Lanes(ctx context.Context, run int64) ([]Lane, error) {
	return s.lanes(ctx, `run_no = $1 ORDER BY stage, lane`, run)
}

// LanesOf reads the lanes of several runs in the order of run, stage and name.
func (s *Reader) LanesOf(ctx context.Context, runs []int64) ([]Lane, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	return s.lanes(ctx, `run_no IN (`+numbers(runs)+`) ORDER BY run_no, stage, lane`)
}

// Lane reads one lane of a stage.
func (s *Reader) Lane(ctx context.Context, run int64, stage, name string) (Lane, error) {
	all, err := s.lanes(ctx, `run_no = $1 AND stage = $2 AND lane = $3`, run, stage, name)
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("lane %s of stage %s: %w", name, stage, ErrNotFound)
	}
	if err != nil {
		return Lane{}, err
	}
	return all[0], nil
}

func (s *Reader) lanes(ctx context.Context, where string, args ...any) ([]Lane, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT run_no, stage, lane, provider, model, label, params, planned, state, cause, reason, canary,
		n_open, n_answered, n_cut, n_empty, n_refused, n_rejected, n_errored, n_expired, n_cancelled, n_lost,
		hits_answered + hits_cut + hits_empty + hits_refused, reused, imported, spared, surplus FROM lanes WHERE `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read lanes: %w", err)
	}
	defer rows.Close()
	var all []Lane
	for rows.Next() {
		var l Lane
		n := make([]int64, len(assay.Endings()))
		err := rows.Scan(&l.Run, &l.Stage, &l.Name, &l.Provider, &l.Model, &l.Label, &l.Params, &l.Planned, &l.State, &l.Cause, &l.Reason, &l.Canary,
			&l.Open, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7], &n[8], &l.CacheHits, &l.Reused, &l.Imported, &l.Spared, &l.Surplus)
		if err != nil {
			return nil, fmt.Errorf("read lanes: %w", err)
		}
		l.Endings = byEnding(n)
		all = append(all, l)
	}
	return all, rows.Err()
}

// byEnding names counters that stand in the order of assay.Endings.
func byEnding(n []int64) map[assay.Ending]int64 {
	m := map[assay.Ending]int64{}
	for i, e := range assay.Endings() {
		if n[i] != 0 {
			m[e] = n[i]
		}
	}
	return m
}

// GroupKey names what one lane is asked in one turn of one stage. Second tries after malformed verdicts are a group of
// their own.
type GroupKey struct {
	Stage, Lane string
	Turn        int
	Again       int // of a judge's further tries: which
}

// Group is what is known about a group of a run.
type Group struct {
	Run int64
	GroupKey
	First    time.Time // when its first request that has not gone became ready; zero: none waits
	Complete bool      // nothing can join it any more, and all of it is staged
}

// Groups reads the groups of a run that anything is known about.
func (s *Reader) Groups(ctx context.Context, run int64) ([]Group, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT run_no, stage, lane, turn, second_try, COALESCE(first_ms, 0), complete FROM groups
		WHERE run_no = $1 ORDER BY stage, lane, turn, second_try`, run)
	if err != nil {
		return nil, fmt.Errorf("read groups: %w", err)
	}
	defer rows.Close()
	var all []Group
	for rows.Next() {
		var g Group
		var first int64
		if err := rows.Scan(&g.Run, &g.Stage, &g.Lane, &g.Turn, &g.Again, &first, &g.Complete); err != nil {
			return nil, fmt.Errorf("read groups: %w", err)
		}
		if first != 0 {
			g.First = time.UnixMilli(first).UTC()
		}
		all = append(all, g)
	}
	return all, rows.Err()
}

// PutGroup writes what is known about a group.
func (s *Ledger) PutGroup(ctx context.Context, g Group) error {
	return s.tx(ctx, "put group", relaxed, func(t *txn) error {
		_, err := t.ExecContext(ctx, `INSERT INTO groups (run_no, stage, lane, turn, second_try, first_ms, complete) VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (run_no, stage, lane, turn, second_try) DO UPDATE SET first_ms = excluded.first_ms, complete = excluded.complete`,
			g.Run, g.Stage, g.Lane, g.Turn, g.Again, millis(g.First), flag(g.Complete))
		return err
	})
}
