package runs_test

import (
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func TestRefreshAsksAndDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.ok(stepUntil(w, store.Launched))
	looks := w.fake.calls["check"]
	asked, wrong, err := w.e.Refresh(w.ctx, w.run.No)
	w.ok(err)
	if g := w.segments()[0]; asked != 1 || len(wrong) != 0 || w.fake.calls["check"] != looks+1 || g.State != store.Launched ||
		g.JobWord != "running" {
		t.Errorf("asked %d, %v; segment %+v", asked, wrong, g)
	}
	w.clock.to(w.clock.Now().Add(w.fake.takes))
	_, _, err = w.e.Refresh(w.ctx, w.run.No)
	w.ok(err)
	if g := w.segments()[0]; g.State != store.Launched || g.JobWord != "ended" || w.fake.calls["fetch"] != 0 {
		t.Errorf("after its end: %s %q", g.State, g.JobWord)
	}
	w.fake.wobble = func(call string, _ int) error {
		if call == "check" {
			return &assay.Fault{Class: assay.FaultBusy, Status: 503}
		}
		return nil
	}
	if _, wrong, err = w.e.Refresh(w.ctx, w.run.No); err != nil || len(wrong) != 1 {
		t.Errorf("a busy provider: %v, %v", wrong, err)
	}
	w.fake.wobble = nil
	w.finished(store.ResultDone)
	w.billedOnce(3)
}
