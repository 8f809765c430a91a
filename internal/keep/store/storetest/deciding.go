package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// decisions: the first decision of a condition is kept, whatever is found later, by whom and how often.
func decisions(t *testing.T, fresh Fresh) {
	t.Run("stand after a process has gone", func(t *testing.T) { t.Parallel(); decidedOnce(t, fresh) })
	t.Run("are one where many decide at once", func(t *testing.T) { t.Parallel(); decidedTogether(t, fresh) })
}

// decidedOnce opens the ledger once more, as a process does that is started after a kill, and decides otherwise.
func decidedOnce(t *testing.T, fresh Fresh) {
	where := fresh(t)
	b := &bench{t: t, ctx: t.Context(), clock: newClock()}
	b.s = open(t, where, b.clock)
	b.run = b.newRun("r1", nil)
	first := store.Decision{Run: b.run.No, Stage: "more", Condition: "x > 1", Why: "it is not so: x > 1"}
	stands, err := b.s.Runs.Decide(b.ctx, first)
	b.ok(err)
	want := first
	want.Given = b.clock.now()
	if diff := cmp.Diff(want, stands); diff != "" {
		t.Errorf("the first decision (-want +got):\n%s", diff)
	}
	b.ok(b.s.Close())

	b.clock.pass(time.Hour)
	b.s = open(t, where, b.clock)
	second := store.Decision{Run: b.run.No, Stage: "more", Condition: "x > 0", Passed: true}
	stands, err = b.s.Runs.Decide(b.ctx, second)
	b.ok(err)
	if diff := cmp.Diff(want, stands); diff != "" {
		t.Errorf("the second decision (-want +got):\n%s", diff)
	}
	lane := store.Decision{Run: b.run.No, Stage: "more", Lane: "gpt", Condition: "y", Passed: true}
	stands, err = b.s.Runs.Decide(b.ctx, lane)
	b.ok(err)
	lane.Given = b.clock.now()
	if diff := cmp.Diff(lane, stands); diff != "" {
		t.Errorf("a lane of the stage (-want +got):\n%s", diff)
	}
	var all []store.Decision
	for d, err := range b.s.Reader.Decisions(b.ctx, b.run.No) {
		b.ok(err)
		all = append(all, d)
	}
	if diff := cmp.Diff([]store.Decision{want, lane}, all); diff != "" {
		t.Errorf("all decisions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"gate closed", "gate opened"}, b.gateEvents()); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// decidedTogether has two processes come to one gate, each with a finding of its own.
func decidedTogether(t *testing.T, fresh Fresh) {
	where := fresh(t)
	b := &bench{t: t, ctx: t.Context(), clock: newClock()}
	b.s = open(t, where, b.clock)
	b.run = b.newRun("r1", nil)
	ledgers := []*ledger.Ledger{b.s, open(t, where, b.clock)}
	const n = 8
	got, errs := make([]store.Decision, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			d := store.Decision{Run: b.run.No, Stage: "more", Condition: "x", Passed: i%2 == 0}
			got[i], errs[i] = ledgers[i%2].Runs.Decide(b.ctx, d)
		})
	}
	wg.Wait()
	b.ok(errors.Join(errs...))
	for i := range got {
		if diff := cmp.Diff(got[0], got[i]); diff != "" {
			t.Errorf("who came as number %d was answered otherwise (-first +this):\n%s", i, diff)
		}
	}
	if events := b.gateEvents(); len(events) != 1 {
		t.Errorf("history has %q, want one decision", events)
	}
}

// gateEvents returns the words of the run's history that gates left.
func (b *bench) gateEvents() []string {
	b.t.Helper()
	var words []string
	events, err := b.s.Reader.Events(b.ctx, b.run.No, 0, 100)
	b.ok(err)
	for _, e := range events {
		if e.Kind == "gate closed" || e.Kind == "gate opened" {
			words = append(words, e.Kind)
		}
	}
	return words
}

// looks: the first result of an interim analysis is kept, whatever is found later, by whom and how often.
func looks(t *testing.T, fresh Fresh) {
	where := fresh(t)
	b := &bench{t: t, ctx: t.Context(), clock: newClock()}
	b.s = open(t, where, b.clock)
	b.run = b.newRun("r1", nil)
	first := store.Look{Run: b.run.No, Stage: "arena", Number: 1, Planned: 2, Level: 0.02, Bought: 40, Found: `{"claims":[]}`,
		Next: `[{"n":3}]`}
	stands, err := b.s.Runs.PutLook(b.ctx, first)
	b.ok(err)
	first.Given = b.clock.now()
	if diff := cmp.Diff(first, stands); diff != "" {
		t.Errorf("the first look (-want +got):\n%s", diff)
	}
	b.clock.pass(time.Hour)
	other := open(t, where, b.clock)
	const n = 6
	got, errs := make([]store.Look, n), make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			l := store.Look{Run: b.run.No, Stage: "arena", Number: 1, Planned: 2, Level: 0.02, Bought: 40 + i, Found: "{}",
				Stop: store.StopSettled}
			got[i], errs[i] = []*ledger.Ledger{b.s, other}[i%2].Runs.PutLook(b.ctx, l)
		})
	}
	wg.Wait()
	b.ok(errors.Join(errs...))
	for i := range got {
		if diff := cmp.Diff(first, got[i]); diff != "" {
			t.Errorf("who came as number %d was answered otherwise (-first +this):\n%s", i, diff)
		}
	}
	last := store.Look{Run: b.run.No, Stage: "arena", Number: 2, Planned: 2, Level: 0.03, Bought: 43, Found: "{}", Stop: store.StopRounds}
	last, err = b.s.Runs.PutLook(b.ctx, last)
	b.ok(err)
	var all []store.Look
	for l, err := range other.Reader.Looks(b.ctx, b.run.No) {
		b.ok(err)
		all = append(all, l)
	}
	if diff := cmp.Diff([]store.Look{first, last}, all); diff != "" {
		t.Errorf("all looks (-want +got):\n%s", diff)
	}
	for _, bad := range []store.Look{{Number: 3}, {Number: 3, Next: "[]", Stop: store.StopBudget}, {Number: 3, Stop: "tired"},
		{Number: 0, Stop: store.StopBudget}} {
		bad.Run, bad.Stage = b.run.No, "arena"
		if _, err := b.s.Runs.PutLook(b.ctx, bad); err == nil {
			t.Errorf("%+v was written", bad)
		}
	}
}
