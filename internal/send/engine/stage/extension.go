// Package stage cuts what a run has ready into segments: waves, canaries and what is sent again, as far as the budget covers it.
package stage

import (
	"context"
	"time"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
)

// Extension is one look at a run under its lease, and what it came to.
type Extension struct {
	*engine.Config
	*engine.Waits
	Lease  store.Lease
	Run    store.Run
	Policy engine.Policy
	Lanes  []store.Lane
	Still  bool // no segment moved by itself when the look began

	Made      int       // segments
	Next      time.Time // when to look again by itself; zero: when something settles
	Short     bool      // the budget left something out
	Waiting   bool      // requests wait for others to join them, or to be sent again
	Completed bool      // a group came to its end without anything to send: what waits for it can go on
}

// Grow makes the segments that can go out now.
func (x *Extension) Grow(ctx context.Context) error {
	var err error
	if x.Policy, err = x.Planner.Policy(ctx, x.Run); err != nil {
		return err
	}
	if err := x.DiscardScratch(ctx); err != nil {
		return err
	}
	if err := x.Planner.Absorb(ctx, x.Run); err != nil {
		return err
	}
	if err := x.Reload(ctx); err != nil {
		return err
	}
	if err := x.stopLanes(ctx); err != nil {
		return err
	}
	if err := x.canaries(ctx); err != nil {
		return err
	}
	if err := x.resends(ctx); err != nil {
		return err
	}
	if err := x.waves(ctx); err != nil {
		return err
	}
	if err := x.Reload(ctx); err != nil {
		return err
	}
	for _, l := range x.Lanes {
		if l.State == store.LaneOpen {
			if err := x.Ledger.Work.WakeLane(ctx, x.Run.No, l.Stage, l.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Extension) Reload(ctx context.Context) (err error) {
	x.Lanes, err = x.Ledger.Reader.Lanes(ctx, x.Run.No)
	return err
}

func (x *Extension) LaneOf(stage, name string) (store.Lane, bool) {
	for _, l := range x.Lanes {
		if l.Stage == stage && l.Name == name {
			return l, true
		}
	}
	return store.Lane{}, false
}

// DiscardScratch takes away what a killed process had begun to write: nothing of it left this machine.
func (x *Extension) DiscardScratch(ctx context.Context) error {
	planned, err := x.Ledger.Reader.Segments(ctx, x.Run.No, store.Planned)
	if err != nil {
		return err
	}
	for _, g := range planned {
		// The run is ours, and only the holder of a run plans: whatever lease is on it belongs to the dead.
		l, err := x.Ledger.Leases.SeizeSegment(ctx, x.Lease, g.No, x.Holder, x.Timing.Lease)
		if err != nil {
			return err
		}
		for _, name := range inputNames(g.No) {
			if err := x.Files.Remove(ctx, x.Run.ID, name); err != nil {
				return err
			}
		}
		if err := x.Ledger.Work.Discard(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// stopLanes stops every lane that has too many errors.
func (x *Extension) stopLanes(ctx context.Context) error {
	for _, l := range x.Lanes {
		if _, err := hold.StopForErrors(ctx, x.Ledger, l, x.Policy.StopAbove[l.Name]); err != nil {
			return err
		}
	}
	return x.Reload(ctx)
}

// wake makes sure that the run is looked at again by a moment.
func (x *Extension) wake(at time.Time) {
	if x.Next.IsZero() || at.Before(x.Next) {
		x.Next = at
	}
	x.Waiting = true
}
