package gateway_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
)

// watched is a place of files that does something before one is opened.
type watched struct {
	artifacts.Place
	before func(run string)
}

func (w watched) Open(ctx context.Context, run, name string) (artifacts.File, error) {
	w.before(run)
	return w.Place.Open(ctx, run, name)
}

// TestABatchThatABudgetNoLongerCoversMayBeTriedAgainAtOnce has the budget spent between the first look at it and the moment in
// which it is taken from.
func TestABatchThatABudgetNoLongerCoversMayBeTriedAgainAtOnce(t *testing.T) {
	t.Parallel()
	budget := assay.Dollars(0.01)
	r := newRig(t, rigOptions{budget: &budget})
	end := r.unserved(&budget)
	file := r.upload(bert, chat("a", "gpt-4o-mini", `,"max_completion_tokens":50`))
	files := r.home.Files
	var spent atomic.Bool
	r.home.Files = watched{files, func(run string) {
		if run != "gateway" || spent.Swap(true) {
			return
		}
		if _, err := r.home.Ledger.Clients.BeginClientCall(t.Context(), store.ClientCall{Owner: "bert", High: &budget},
			store.Allowance{}); err != nil {
			t.Error(err)
		}
	}}
	for range 2 { // the second finds the budget spent at the first look
		status, e := r.create(bert, file, "Idempotency-Key", "once")
		if status != 429 || e.text("error", "type") != "insufficient_quota" || e.text("error", "code") != "insufficient_quota" ||
			!spent.Load() {
			t.Errorf("beyond the budget: %d %v", status, e)
		}
	}
	all, err := r.home.Ledger.Reader.Runs(t.Context(), "gateway", store.RunPreparing)
	if err != nil || len(all) != 1 || !all[0].Abandoned() {
		t.Errorf("what is left of it: %+v (%v)", all, err)
	}
	r.home.Files = files
	end()
	raised := assay.Dollars(1)
	end = r.unserved(&raised)
	status, b := r.create(bert, file, "Idempotency-Key", "once")
	if _, again := r.create(bert, file, "Idempotency-Key", "once"); status != 200 || again.text("id") != b.text("id") {
		t.Errorf("with a higher budget: %d %v, and again %v", status, b, again)
	}
	end()
	r.start(rigOptions{budget: &raised})
	b = r.until(bert, b.text("id"), "completed", "failed", "cancelled")
	if rows := r.rows(bert, b.text("output_file_id")); len(rows) != 1 || len(r.sim.Ledger().Jobs) != 1 {
		t.Errorf("the batch came to %v, its answers to %v, with %d jobs", b, rows, len(r.sim.Ledger().Jobs))
	}
}

// TestARemovedUsersBatchIsFinishedAndGivenNoMoreMoney takes a user away whose batch is at its provider, or needs more money than was
// set aside for it. What they spent counts when they come back.
func TestARemovedUsersBatchIsFinishedAndGivenNoMoreMoney(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]bool{"a job that runs": false, "a batch that needs more": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			budget := assay.Dollars(0.01)
			r := newRig(t, rigOptions{budget: &budget, queue: time.Hour})
			if more {
				r.unserved(&budget)
			}
			_, b := r.create(bert, r.upload(bert, chat("a", "gpt-4o-mini", `,"max_completion_tokens":50`)))
			run := r.run()
			if more {
				little := assay.Money(1)
				if err := r.home.Ledger.Runs.SetBudget(t.Context(), run.No, &little); err != nil {
					t.Fatal(err)
				}
			} else {
				r.waitForSegments(1, store.Launched)
			}
			r.stop()
			r.pass("3h")
			r.start(rigOptions{removed: true})
			if status, _ := r.raw(bert, "GET", "/batches", nil); status != 401 {
				t.Errorf("a removed user is answered with %d", status)
			}
			r.wait("the batch is over", func() (bool, error) {
				now, err := r.home.Ledger.Reader.Run(t.Context(), run.No)
				if err != nil || now.State != store.RunClosed {
					return false, err
				}
				files, err := r.home.Ledger.Clients.ClientFilesOf(t.Context(), run.No)
				return len(files) > 0, err
			})
			now, err := r.home.Ledger.Reader.Run(t.Context(), run.No)
			if err != nil || *now.Budget > budget || more && *now.Budget != 1 {
				t.Errorf("it was given more money: %v (%v)", now.Budget, err)
			}
			r.stop()
			r.start(rigOptions{budget: &budget}) // who comes back finds their results
			b = r.until(bert, b.text("id"), "completed")
			answers, errors := r.rows(bert, b.text("output_file_id")), r.rows(bert, b.text("error_file_id"))
			if !more && (len(answers) != 1 || len(errors) != 0) ||
				more && (len(answers) != 0 || errors["a"].text("error", "code") != "insufficient_quota") {
				t.Errorf("the answers: %v, the errors: %v", answers, errors)
			}
			if u := r.used("bert"); u.Batches != 1 || (u.Taken > 0) == more {
				t.Errorf("counted as %+v", u)
			}
		})
	}
}

// TestAPanicIsOneCallThatFailed has the handler of a call crash, and a live call in flight.
func TestAPanicIsOneCallThatFailed(t *testing.T) {
	t.Parallel()
	var log logBuffer
	r := newRig(t, rigOptions{log: &log})
	r.stop()
	files := r.home.Files
	var works atomic.Bool
	r.home.Files = watched{files, func(string) {
		if !works.Load() {
			panic("the folder crashes")
		}
	}}
	r.start(rigOptions{log: &log})
	line := chat("a", "gpt-4o-mini", "")
	id := r.upload(anna, line)
	status, e := r.call(anna, "GET", "/files/"+id+"/content", nil)
	if status != 500 || e.text("error", "type") != "server_error" || strings.Contains(e.text("error", "message"), "crashes") ||
		!log.has("the folder crashes") {
		t.Errorf("a handler that crashes: %d %v", status, e)
	}
	works.Store(true)
	if status, text := r.raw(anna, "GET", "/files/"+id+"/content", nil); status != 200 || string(text) != line {
		t.Errorf("after it: %d %s", status, text)
	}
	ask := func() (int, object) {
		return r.call(anna, "POST", "/chat/completions", strings.NewReader(`{"model":"`+sonnet+`","max_tokens":50,`+question+`}`))
	}
	r.keys.Store("sim", "panic")
	status, e = ask()
	if u := r.used("anna"); status != 500 || e.text("error", "type") != "server_error" || !log.has("the transport crashes") ||
		u.Calls != 1 || u.Open != 1 || u.Taken <= 0 {
		t.Errorf("a live call that crashes: %d %v, counted as %+v", status, e, u)
	}
	r.keys.Delete("sim")
	if status, o := ask(); status != 200 {
		t.Errorf("the call after it: %d %v", status, o)
	}
}
