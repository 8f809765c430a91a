package local

import (
	"context"
	"slices"
	"time"

	"assay/internal/keep/store"
)

// begins notes which lanes are paused when the process begins.
func (v *drive) begins(ctx context.Context) error {
	if v.begun {
		return nil
	}
	lanes, err := v.Engine.Ledger.Reader.Lanes(ctx, v.run)
	for _, l := range lanes {
		if l.State == store.LanePaused {
			v.paused = append(v.paused, l.Name)
		}
	}
	v.begun = err == nil
	return err
}

// justPaused reports whether all that is left waits for lanes that a person paused while this process was at work, and may let go on soon.
func (v *drive) justPaused() bool {
	fresh := slices.ContainsFunc(v.st.Paused, func(lane string) bool { return !slices.Contains(v.paused, lane) })
	return fresh && v.st.Held == 0 && !v.st.Budget && len(v.st.Verify) == 0
}

// alienLooks is how often a job is looked for under a key that did not make it: a provider may not find one for a moment.
const alienLooks = 3

// needsOtherKeys reports whether all that moves are jobs that other keys made, and that providers do not show to those here.
func (v *drive) needsOtherKeys(ctx context.Context) (bool, error) {
	n := 0
	for _, looks := range v.alien {
		if looks >= alienLooks {
			n++
		}
	}
	if n == 0 || v.st.Waiting {
		return false, nil
	}
	moving, err := v.Engine.Moving(ctx, v.run)
	return err == nil && moving == n, err
}

// idle reports whether nothing moves any more, though something did at the last look, which may have been another process's: what comes
// next, if anything, is a look for results that may come late.
func (v *drive) idle(ctx context.Context, next time.Time) (bool, error) {
	if next.IsZero() {
		return true, nil
	}
	if v.st.Waiting || v.st.Moving == 0 || next.Sub(v.Engine.Clock.Now()) <= v.Engine.Timing.Busy {
		return false, nil
	}
	moving, err := v.Engine.Moving(ctx, v.run)
	return err == nil && moving == 0, err
}
