package ledger_test

import (
	"errors"
	"testing"
	"time"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// clockRun opens a ledger and begins a run in it that is due in a minute.
func clockRun(t *testing.T, where string) (*ledger.Ledger, store.Run) {
	t.Helper()
	l := clockOpen(t, where)
	run, err := l.Runs.CreateRun(t.Context(), store.NewRun{ID: "run1", Study: "demo", Settings: "{}"})
	err = errors.Join(err, l.Runs.OpenRun(t.Context(), run.No), l.Leases.RunDue(t.Context(), run.No, l.Now().Add(time.Minute)))
	if err != nil {
		t.Fatal(err)
	}
	return l, run
}

// clockOpen opens a ledger as the program does.
func clockOpen(t *testing.T, where string) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), where, ledger.Options{Now: time.Now, SharedTime: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if _, err := l.Leases.KeepTime(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestALeaseThatOnlyTheDatabaseEndedIsNotTaken sets the database's clock ahead under a lease. Neither a process that has seen it
// before, nor one that begins now, takes it from its holder, who can go on.
func TestALeaseThatOnlyTheDatabaseEndedIsNotTaken(t *testing.T) {
	t.Parallel()
	where, set := server.Clocked(t)
	holder, run := clockRun(t, where)
	other := clockOpen(t, where)
	const ttl = 2 * time.Second
	l, err := holder.Leases.HoldRun(t.Context(), run.No, "holder", ttl)
	if err != nil {
		t.Fatal(err)
	}
	set(10 * time.Minute)
	late := clockOpen(t, where)
	for name, who := range map[string]*ledger.Ledger{"one that saw it": other, "one that begins": late} {
		var held *store.HeldError
		if _, err := who.Leases.HoldRun(t.Context(), run.No, name, ttl); !errors.As(err, &held) || held.Holder != "holder" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := holder.Leases.Renew(t.Context(), l, ttl); err != nil {
		t.Errorf("its holder: %v", err)
	}
	// when a whole lease has passed by every clock, its holder is dead
	if !eventually(func() bool { _, err = other.Leases.HoldRun(t.Context(), run.No, "other", ttl); return err == nil }) {
		t.Errorf("a lease that ended by all clocks: %v", err)
	}
}

// TestADatabaseClockThatIsSetBackKeepsNothingWaiting sets the database's clock back: what was due in a minute, and a lease, end as soon as
// they would have.
func TestADatabaseClockThatIsSetBackKeepsNothingWaiting(t *testing.T) {
	t.Parallel()
	where, set := server.Clocked(t)
	set(10 * time.Minute)
	l, run := clockRun(t, where)
	if _, err := l.Leases.HoldRun(t.Context(), run.No, "holder", time.Minute); err != nil {
		t.Fatal(err)
	}
	set(0)
	if _, err := l.Leases.HoldRun(t.Context(), run.No, "another", time.Minute); err == nil { // any look at the clock
		t.Error("a lease that has not ended was taken")
	}
	if back, err := l.Leases.KeepTime(t.Context()); err != nil || back < 9*time.Minute || back > 10*time.Minute {
		t.Errorf("it was set back by %s, %v", back, err)
	}
	if back, err := l.Leases.KeepTime(t.Context()); err != nil || back != 0 {
		t.Errorf("and once more by %s, %v", back, err)
	}
	now, err := l.Reader.Run(t.Context(), run.No)
	if err != nil {
		t.Fatal(err)
	}
	if in := time.Until(now.Due); in < 50*time.Second || in > 70*time.Second {
		t.Errorf("due in %s", in)
	}
	if in := time.Until(now.Lease.Until); in < 50*time.Second || in > 70*time.Second {
		t.Errorf("the lease ends in %s", in)
	}
}

// eventually waits a few seconds for something to be so.
func eventually(so func() bool) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return false
}
