package runs_test

import (
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// TestWhatComesLateIsAskedAboutAndItsMoneyIsFree has a provider hand out a result of a first turn a day after its run was closed.
func TestWhatComesLateIsAskedAboutAndItsMoneyIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.plan.turns = 2 })
	late := w.plan.at("red", 1, 1).Key()
	w.fake.silent = true
	w.fake.answer = func(key assay.Key, _ string) (assay.Outcome, string) {
		o := assay.Outcome{Ending: assay.Answered, Text: "yes", Usage: assay.Usage{Known: true, Input: 1, Output: 1}}
		if key == late {
			return o, "missing"
		}
		return o, ""
	}
	for closed := false; !closed; {
		w.until(func() bool {
			r, err := w.s.Reader.Run(w.ctx, w.run.No)
			w.ok(err)
			closed = r.State == store.RunClosed
			return true
		})
	}
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	if l := w.lane("red"); r.Result != store.ResultIncomplete || r.Perhaps != 1000 || l.Endings[assay.Lost] != 1 ||
		l.Endings[assay.Answered] != 4 {
		t.Fatalf("%s, %s perhaps spent, endings %v\n%s", r.Result, r.Perhaps, l.Endings, w.history())
	}
	w.fake.silent = false
	for _, j := range w.fake.jobs {
		j.lines = append(j.lines, j.missing...)
	}
	w.clock.to(w.clock.Now().Add(24 * time.Hour))
	w.finished(store.ResultDone)
	if r, err = w.s.Reader.Run(w.ctx, w.run.No); err != nil || r.Perhaps != 0 || r.Spent != 12_000 {
		t.Errorf("%v: %s spent, %s perhaps", err, r.Spent, r.Perhaps)
	}
	w.billedOnce(6)
}

// TestALateLookFetchesNothingWhereTheNumbersStay looks a day after a result was given up: a small call, and no file.
func TestALateLookFetchesNothingWhereTheNumbersStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.answer = first(9, "missing", assay.Outcome{})
	w.ok(stepUntil(w, store.Settled))
	checks, fetches := w.fake.calls["check"], w.fake.calls["fetch"]
	w.clock.to(w.clock.Now().Add(24 * time.Hour))
	w.finished(store.ResultIncomplete)
	if w.fake.calls["check"] == checks || w.fake.calls["fetch"] != fetches {
		t.Errorf("%d looks and %d fetches more\n%s", w.fake.calls["check"]-checks, w.fake.calls["fetch"]-fetches, w.history())
	}
}
