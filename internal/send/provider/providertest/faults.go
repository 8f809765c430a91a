package providertest

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
	"assay/internal/simulator"
)

func spoiledLines(t *testing.T, s Subject) {
	for rule, want := range map[string]func(lines, strange, broken int) bool{
		"missing=3":   func(lines, strange, broken int) bool { return lines == 47 && strange == 0 && broken == 0 },
		"duplicate=3": func(lines, strange, broken int) bool { return lines == 53 && strange == 0 && broken == 0 },
		"foreign=3": func(lines, strange, broken int) bool {
			return lines == 53 && (strange == 3 || s.NoStrangers) && broken == 0
		},
		"malformed=3": func(lines, strange, broken int) bool { // elements of a document cannot be broken: they are left out
			return lines == 47+broken && strange == 0 && (broken == 3 || broken == 0)
		},
	} {
		w := newWorld(t, s, simulator.Options{}, "fetch "+rule, "check "+rule)
		c := w.input(questions(50)...)
		job := w.launch(c)
		r := w.collect(job, w.settle(job))
		strange, broken := 0, 0
		for id, lines := range r.lines {
			for _, line := range lines {
				switch {
				case line.Malformed:
					broken++
					if line.Outcome.Ending != assay.Errored {
						t.Errorf("%s: a broken line ended %s", rule, line.Outcome.Ending)
					}
				case c.asked[id] == "":
					strange++
				}
			}
		}
		if !want(len(r.order), strange, broken) {
			t.Errorf("%s: %d lines, %d strange, %d broken", rule, len(r.order), strange, broken)
		}
	}
}

// errorUnderSuccess sends the provider's error document with status 200, wherever an answer is expected.
func errorUnderSuccess(t *testing.T, s Subject) {
	for _, kind := range []string{"check", "list", "fetch"} {
		w := newWorld(t, s, simulator.Options{}, kind+" error-200")
		c := w.input(questions(2)...)
		job := w.launch(c)
		w.clock.Advance(time.Hour)
		switch kind {
		case "check":
			_, err := w.batch.Check(context.Background(), job)
			w.wantFault("check", err)
		case "list":
			find := w.batch.(provider.Finder)
			found, err := find.Find(context.Background(), w.search(c, ""))
			if err == nil && found.Sighting == provider.Absent {
				t.Errorf("an error under status 200 was taken for an empty list")
			}
			w.clean(err)
		case "fetch":
			st := w.settle(job)
			var into bytes.Buffer
			err := w.batch.Fetch(context.Background(), job, st.Parts[0], provider.Fresh(&into))
			if err == nil && strings.Count(into.String(), "\n") != 2 {
				t.Errorf("an error under status 200 was taken for results: %q", into.String())
			}
			w.clean(err)
		}
	}
	w := newWorld(t, s, simulator.Options{}, "create error-200")
	c := w.input(questions(2)...)
	r := w.batch.Launch(context.Background(), c.BatchInput, w.prepare(c))
	diff(t, provider.Unknown, r.Status)
}

func (w *world) wantFault(what string, err error) {
	w.t.Helper()
	if err == nil {
		w.t.Errorf("%s: an error under status 200 was taken for an answer", what)
		return
	}
	w.class(err)
}

func faults(t *testing.T, s Subject) {
	for rule, want := range map[string]struct {
		class assay.FaultClass
		want  provider.LaunchStatus
	}{
		"429=30s":  {assay.FaultBusy, provider.Refused},
		"429=bare": {assay.FaultBusy, provider.Refused},
		"500":      {assay.FaultBusy, provider.Unknown},
		"503":      {assay.FaultBusy, provider.Unknown},
		"529":      {assay.FaultBusy, provider.Unknown},
		"quota":    {assay.FaultQuota, provider.Refused},
		"revoke":   {assay.FaultDenied, provider.Refused},
		"drop":     {assay.FaultBusy, provider.Unknown},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, s, simulator.Options{}, "check "+rule+" x1", "create "+rule+" x1")
			c := w.input(questions(2)...)
			h := w.prepare(c)
			r := w.batch.Launch(context.Background(), c.BatchInput, h)
			if f := provider.FaultOf(r.Err); rule == "529" && f != nil && f.Code == "overloaded_error" { // explicitly
				want.want = provider.Refused
			}
			diff(t, want.want, r.Status)
			diff(t, want.class, w.class(r.Err))
			if rule == "429=30s" && provider.FaultOf(r.Err).RetryAfter != 30*time.Second {
				t.Errorf("retry after %v", provider.FaultOf(r.Err).RetryAfter)
			}
			diff(t, 0, len(w.sim.Ledger().Jobs))
			job := w.launch(c)
			_, err := w.batch.Check(context.Background(), job)
			diff(t, want.class, w.class(err))
			if f := provider.FaultOf(err); rule != "drop" && f.RequestID == "" {
				t.Errorf("no request id in %v", err)
			}
		})
	}
	t.Run("a job that is not there", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, s, simulator.Options{})
		job := w.launch(w.input(questions(1)...))
		job.ID, job.Handle = job.ID[:len(job.ID)-3]+"000", ""
		_, err := w.batch.Check(context.Background(), job)
		diff(t, assay.FaultGone, w.class(err))
	})
	t.Run("a bad key", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, s, simulator.Options{})
		job := w.launch(w.input(questions(1)...))
		w.open("bad-" + secret)
		_, err := w.batch.Check(context.Background(), job)
		diff(t, assay.FaultDenied, w.class(err))
	})
}

// oversize sends more than the account may: client or provider must refuse it, before anything is billed.
func oversize(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{Limits: simulator.Limits{BatchBytes: 2000}})
	c := w.input(questions(200)...)
	var said error
	class := func() assay.FaultClass {
		var h provider.Handle
		for range 20 {
			next, ready, err := w.batch.Prepare(context.Background(), c.BatchInput, h)
			if err != nil {
				said = err
				return w.class(err)
			}
			if h = next; ready == provider.Ready {
				break
			}
			w.clock.Advance(time.Second)
		}
		r := w.batch.Launch(context.Background(), c.BatchInput, h)
		if r.Status != provider.Accepted {
			diff(t, provider.Refused, r.Status)
			said = r.Err
			return w.class(r.Err)
		}
		st := w.settle(w.job(c, h, r.Job))
		if st.Fault == nil {
			return ""
		}
		return assay.FaultLarge // found out later, in words that not every provider has
	}()
	if class != assay.FaultLarge && class != assay.FaultInvalid {
		t.Errorf("class %q: %v", class, said)
	}
	diff(t, map[string]int{}, w.billed())
}

// redirects sends the account elsewhere at every kind of call. The watch fails the test if a key goes along.
func redirects(t *testing.T, s Subject) {
	for _, kind := range []string{"upload", "create", "check", "list", "fetch", "cancel", "file", "delete"} {
		w := newWorld(t, s, simulator.Options{Rate: 1}, kind+" redirect=https://thief.example")
		c := w.input(questions(3)...)
		ctx := context.Background()
		var h provider.Handle
		for range 10 {
			next, ready, err := w.batch.Prepare(ctx, c.BatchInput, h)
			w.clean(err)
			if h = next; err != nil || ready == provider.Ready {
				break
			}
			w.clock.Advance(time.Second)
		}
		r := w.batch.Launch(ctx, c.BatchInput, h)
		w.clean(r.Err)
		if kind == "create" {
			diff(t, provider.Unknown, r.Status)
		}
		job := w.job(c, h, r.Job)
		if r.Status != provider.Accepted {
			job.ID = "some-job"
		}
		w.exercise(job, c)
		if len(w.seen.away) > 0 && kind != "upload" && !(s.Moves && kind == "fetch") {
			t.Errorf("%s: the redirect was followed to %v", kind, w.seen.away)
		}
	}
}

// exercise makes every other call there is, and looks at the errors only.
func (w *world) exercise(job provider.Job, c testInput) {
	ctx := context.Background()
	if x, ok := w.batch.(provider.Canceler); ok {
		w.clean(x.Cancel(ctx, job))
	}
	w.clock.Advance(time.Hour)
	st, err := w.batch.Check(ctx, job)
	w.clean(err)
	for _, part := range st.Parts {
		var into bytes.Buffer
		w.clean(w.batch.Fetch(ctx, job, part, provider.Fresh(&into)))
	}
	if x, ok := w.batch.(provider.Finder); ok {
		_, err = x.Cursor(ctx)
		w.clean(err)
		_, err = x.Find(ctx, w.search(c, ""))
		w.clean(err)
	}
	if x, ok := w.batch.(provider.Remover); ok {
		w.clean(x.Remove(ctx, job))
	}
}
