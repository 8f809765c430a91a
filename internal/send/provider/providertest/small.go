package providertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
	"assay/internal/simulator"
)

// fenced takes back what was uploaded, twice, and has a launch arrive after that. The next attempt uploads anew.
func fenced(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	fence, ok := w.batch.(provider.Fencer)
	if f, finds := w.batch.(provider.Finder); finds && f.Stamped() != ok {
		t.Fatalf("%s: jobs carry a stamp: %v; what was uploaded can be taken back: %v", s.Kind, f.Stamped(), ok)
	}
	if !ok {
		return
	}
	c := w.input(questions(3)...)
	h := w.prepare(c)
	for i := range 2 {
		if err := fence.Fence(context.Background(), h); err != nil {
			t.Errorf("time %d: %v", i+1, err)
		}
	}
	if r := w.batch.Launch(context.Background(), c.BatchInput, h); r.Status == provider.Accepted {
		if st := w.settle(w.job(c, h, r.Job)); st.State != provider.StateFailed || len(st.Parts) > 0 {
			t.Errorf("made of nothing: %+v", st)
		}
	}
	diff(t, map[string]int{}, w.billed())
	c.Stamp.Attempt++
	job := w.launch(c)
	diff(t, 3, w.collect(job, w.settle(job)).endings(c)[assay.Answered])
}

// mishaps returns the ways in which a small call fails that may work when it is repeated.
func mishaps() []string {
	return []string{"500", "429=1s", "drop", "drop-reply", "truncate", "error-200"}
}

// smallCalls has the calls fail that cancel a job and delete what is left of it: each returns a fault, or was done all
// the same, and is done when it is repeated. What the job had done is fetched after all of that.
func smallCalls(t *testing.T, s Subject) {
	ctx := context.Background()
	for _, how := range mishaps() {
		w := newWorld(t, s, simulator.Options{Rate: 0.1}, "cancel "+how+" once")
		c := w.input(questions(100)...)
		job := w.launch(c)
		w.clock.Advance(5 * time.Minute)
		stop, stops := w.batch.(provider.Canceler)
		if stops {
			w.again(how, "cancel", func() error { return stop.Cancel(ctx, job) })
		}
		st := w.settle(job)
		got := w.collect(job, st).endings(c)[assay.Answered]
		if stops && (got < 10 || got > 90) || !stops && got != 100 {
			t.Errorf("%s: %d answers, %s", how, got, st.State)
		}
		w.strike("delete "+how+" once", "file "+how+" once")
		if rm, ok := w.batch.(provider.Remover); ok {
			w.again(how, "remove", func() error { return rm.Remove(ctx, job) })
		}
	}
}

// strike adds rules of what goes wrong from now on.
func (w *world) strike(rules ...string) {
	w.t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/sim/faults", strings.NewReader("* "+strings.Join(rules, "\n* ")))
	reply := httptest.NewRecorder()
	if w.sim.ServeHTTP(reply, r); reply.Code != http.StatusOK {
		w.t.Fatalf("%v: %s", rules, reply.Body)
	}
}

// again makes a call until it works, and wants a fault of every time that it does not. A call that was done and lost its
// reply may find nothing to do any more.
func (w *world) again(how, what string, call func() error) {
	w.t.Helper()
	for range 4 {
		err := call()
		w.clean(err)
		if err == nil {
			return
		}
		f := provider.FaultOf(err)
		if f == nil {
			w.t.Errorf("%s: %s: no fault in %v", how, what, err)
		} else if f.Status/100 == 4 && f.Status != 429 && (how == "drop-reply" || how == "truncate") {
			return
		}
		w.clock.Advance(time.Minute)
	}
	w.t.Errorf("%s: %s never works", how, what)
}

// liveModelFaults has the list of models fail.
func liveModelFaults(t *testing.T, s Subject) {
	for _, how := range append(mishaps(), "revoke", "redirect") {
		w := newWorld(t, s, simulator.Options{}, "models "+how+" once")
		m, ok := w.live.(provider.Modeler)
		if !ok {
			return
		}
		models, err := m.Models(context.Background())
		if models == nil && err == nil { // it has no such list
			return
		}
		w.wantFault(how, err)
		if models, err = m.Models(context.Background()); err != nil || len(models) == 0 {
			t.Errorf("%s, and then: %v, %v", how, models, err)
		}
	}
}
