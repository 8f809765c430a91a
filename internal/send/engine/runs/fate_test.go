package runs_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/runs"
	"assay/internal/send/provider"
)

func one(w *world) { w.plan.lanes = []string{"red"} }

func (w *world) segments(states ...store.State) []store.Segment {
	w.t.Helper()
	all, err := w.s.Reader.Segments(w.ctx, w.run.No, states...)
	w.ok(err)
	return all
}

func (w *world) events(kind string) []store.Event {
	w.t.Helper()
	all, err := w.s.Reader.Events(w.ctx, w.run.No, 0, 1000)
	w.ok(err)
	var some []store.Event
	for _, e := range all {
		if e.Kind == kind {
			some = append(some, e)
		}
	}
	return some
}

func TestALaunchOfUnknownFateIsAdoptedWhenItIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.launch = func(int) provider.LaunchStatus { return provider.Unknown }
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if w.fake.calls["launch"] != 1 {
		t.Errorf("%d create calls", w.fake.calls["launch"])
	}
}

func TestALaunchThatNeverArrivedIsSentAgainAfterTwoReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.launch = func(n int) provider.LaunchStatus {
		if n == 1 {
			return "vanished"
		}
		return provider.Accepted
	}
	began := w.clock.Now()
	w.finished(store.ResultDone)
	w.billedOnce(3)
	if w.fake.calls["find"] < 2 {
		t.Errorf("sent again after %d reads", w.fake.calls["find"])
	}
	again := w.events("intended")
	if least := w.timing.Create + w.timing.LagStamped; len(again) != 2 || again[1].At.Sub(began) < least {
		t.Errorf("sent again before %s: %+v", least, again)
	}
	if most := w.timing.Create + 3*w.timing.LagStamped; again[len(again)-1].At.Sub(began) > most {
		t.Errorf("sent again after more than %s: %+v", most, again)
	}
}

// TestAReadCountsByWhenItBegan lets the second read begin too early and come back late: what it saw is old.
func TestAReadCountsByWhenItBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.launch = func(n int) provider.LaunchStatus {
		if n == 1 {
			return provider.Unknown
		}
		return provider.Accepted
	}
	w.fake.visible = w.timing.Create + w.timing.LagStamped
	var absents []time.Time
	w.around = func(op string, call func() error) error {
		err := call()
		if op == "absent" {
			absents = append(absents, w.clock.Now())
		}
		return err
	}
	w.reopen()
	slept := false
	w.fake.wobble = func(call string, _ int) error {
		switch {
		case call == "find" && slept:
			w.fake.visible = 0
		case call == "find" && len(absents) == 1: // a machine that goes to sleep while it reads
			slept, w.fake.visible = true, 100*time.Hour
			w.clock.to(w.clock.Now().Add(time.Hour))
		}
		return nil
	}
	w.until(func() bool { return len(absents) == 1 })
	g := w.segments(store.Intended)[0]
	l, err := w.s.Leases.HoldSegment(w.ctx, g.No, "another", time.Minute)
	w.ok(err)
	w.ok(w.s.Work.Wake(w.ctx, l, w.clock.Now(), "another look"))
	w.ok(w.s.Leases.Release(w.ctx, l))
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
}

// longFirst loses the reply to the first create call, and has its job take days.
func (w *world) longFirst(n int) provider.LaunchStatus {
	if w.fake.takes = 5 * time.Hour; n > 1 {
		return provider.Accepted
	}
	w.fake.takes = 50 * time.Hour
	return provider.Unknown
}

func TestAJobThatShowsLateIsRecognisedAsADoubleAndCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.takes = 5 * time.Hour })
	w.fake.visible = 40 * time.Minute // far beyond what the provider promises
	w.fake.launch = w.longFirst
	w.finished(store.ResultDone)
	w.answers(3)
	if got := w.events("double"); len(got) != 2 || w.fake.calls["cancel"] != 1 ||
		!strings.Contains(got[1].Text, "1 request of its 3 was done") {
		t.Errorf("doubles: %+v, %d cancels\n%s", got, w.fake.calls["cancel"], w.history())
	}
}

// TestWhoeverHasNoKeyExtendsTheRunAndLeavesTheAuditToOthers has a run extended and closed by a process that may not call
// the provider. The double that only the provider's list shows is found by the one that may.
func TestWhoeverHasNoKeyExtendsTheRunAndLeavesTheAuditToOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.takes, w.canary = 5*time.Hour, store.CanaryDue })
	w.fake.visible = 40 * time.Minute
	w.fake.launch = w.longFirst
	keyless := runs.New(engine.Config{Ledger: engine.Ledger{Work: w.s.Work, Leases: w.s.Leases, Limits: w.s.Limits,
		Reuse: w.s.Reuse, Reader: w.s.Reader},
		Files: w.files, Planner: w.plan, Clock: w.clock, Timing: w.timing, Random: rand.New(rand.NewPCG(3, 7)), Holder: "keyless"})
	keyless.Accounts = func(name string) (engine.Access, error) {
		a, err := w.e.Accounts(name)
		a.Fingerprint, a.Missing = "", fmt.Errorf("%w: set KEY", engine.ErrNoKey)
		return a, err
	}
	w.second = keyless
	w.finished(store.ResultDone)
	w.answers(3)
	if got := w.events("double"); len(got) != 2 || w.fake.calls["cancel"] != 1 ||
		!strings.Contains(got[1].Text, "1 request of its 2 was done") {
		t.Errorf("doubles: %+v, %d cancels\n%s", got, w.fake.calls["cancel"], w.history())
	}
	if due, err := w.s.Reader.NextDue(w.ctx, w.run.No); err != nil || !due.IsZero() {
		t.Errorf("something is due at %s: %v", due, err)
	}
}

func TestWithoutAStampAForeignJobOfEqualSizeIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one, func(w *world) { w.fake.stamped = false })
	w.fake.launch = func(n int) provider.LaunchStatus {
		if n > 1 {
			return provider.Accepted
		}
		// A stranger's job of the same size comes between.
		w.fake.jobs = append(w.fake.jobs,
			&fakeJob{id: "foreign", count: 3, made: w.clock.Now(), ends: w.clock.Now().Add(2 * time.Hour), state: provider.StateEnded})
		return provider.Unknown
	}
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
}

// blind is a provider that cannot list its jobs.
type blind struct{ provider.Provider }

func (w *world) blind() {
	access, _ := w.e.Accounts("fake")
	access.Batch = blind{w.fake}
	w.e.Accounts = func(string) (engine.Access, error) { return access, nil }
}

func TestWhatIsUnclearIsHeldUntilAPersonDecides(t *testing.T) {
	t.Parallel()
	tests := []struct {
		do     engine.Resolve
		result store.Result
		billed int
	}{
		{engine.Resolve{Do: "resend"}, store.ResultDone, 2}, {engine.Resolve{Do: "adopt", Job: "job1"}, store.ResultDone, 1},
		{engine.Resolve{Do: "drop"}, store.ResultIncomplete, 0},
	}
	for _, tt := range tests {
		t.Run(string(tt.do.Do), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one)
			w.blind()
			w.fake.launch = func(n int) provider.LaunchStatus {
				if n == 1 {
					return provider.Unknown
				}
				return provider.Accepted
			}
			st, err := w.drive()
			w.ok(err)
			held := w.segments(store.Held)
			if st.Held != 0 && len(held) != 1 {
				t.Fatalf("standing %+v\n%s", st, w.history())
			}
			no := w.resolve(held[0].No, tt.do)
			w.finished(tt.result)
			for key, n := range w.fake.billed {
				if n > tt.billed {
					t.Errorf("%s billed %d times", key, n)
				}
			}
			if o, err := w.s.Reader.Order(w.ctx, no); err != nil || o.Obeyed.IsZero() {
				t.Errorf("order: %+v, %v", o, err)
			}
		})
	}
}

// resolve orders what is to become of a held segment, and returns the order's number.
func (w *world) resolve(segment int64, do engine.Resolve) int64 {
	w.t.Helper()
	no, err := w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Segment: segment, Kind: store.OrderResolve, Args: order(do), By: "anna"})
	w.ok(err)
	return no
}

// vanishAt has a provider forget its jobs, as a new simulator does, before the first call of a kind.
func vanishAt(before string) func(w *world) {
	return func(w *world) {
		w.fake.wobble = func(call string, n int) error {
			if call == before && n == 1 {
				w.fake.jobs, w.fake.billed = nil, map[string]int{}
			}
			return nil
		}
	}
}

// TestAJobThatVanishes loses a job, and what it had, before its results are here: a person decides whether it is paid for once
// more. A rehearsal's job was in the memory of a process that was killed; it is made again.
func TestAJobThatVanishes(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"check", "fetch"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			vanishes := vanishAt(before)
			paid := newWorld(t, one, vanishes)
			st, err := paid.drive()
			paid.ok(err)
			if n := paid.fake.calls["launch"]; st.Held != 1 || n != 1 {
				t.Errorf("standing %+v, %d creates\n%s", st, n, paid.history())
			}
			held := paid.segments(store.Held)[0].No
			no := paid.resolve(held, engine.Resolve{Do: "adopt", Job: "another"})
			if st, err = paid.drive(); err != nil || st.Held != 1 { // that one is not there either
				t.Errorf("standing %+v, %v\n%s", st, err, paid.history())
			}
			if o, err := paid.s.Reader.Order(paid.ctx, no); err != nil || o.Obeyed.IsZero() {
				t.Errorf("order: %+v, %v", o, err)
			}
			free := newWorld(t, one, vanishes, func(w *world) { w.rehearsal = true })
			free.finished(store.ResultDone)
			free.answers(3)
			free.billedOnce(3)
		})
	}
}

func TestAJobOfAnotherSegmentIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, vanishAt("check"))
	st, err := w.drive()
	if w.ok(err); st.Held != 2 {
		t.Fatalf("standing %+v\n%s", st, w.history())
	}
	held := w.segments(store.Held)
	no := w.resolve(held[0].No, engine.Resolve{Do: "adopt", Job: held[1].Job})
	if st, err = w.drive(); err != nil || st.Held != 2 { // the run goes on, and nothing has changed
		t.Errorf("standing %+v, %v\n%s", st, err, w.history())
	}
	if o, err := w.s.Reader.Order(w.ctx, no); err != nil || !strings.Contains(o.Answer, "another segment's") {
		t.Errorf("order: %+v, %v", o, err)
	}
	for i, g := range w.segments(store.Held) {
		if g.Job != held[i].Job {
			t.Errorf("segment %d has job %q, had %q", g.No, g.Job, held[i].Job)
		}
	}
}

func TestAJobMadeWithAnotherKeyIsNeverCalledFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.ok(stepUntil(w, store.Launched))
	access, _ := w.e.Accounts("fake")
	mine := w.e.Accounts
	access.Fingerprint = "key2"
	w.e.Accounts = func(string) (engine.Access, error) { return access, nil }
	w.fake.wobble = func(call string, _ int) error { // it is of another account, which does not see the job
		if call == "check" {
			return &assay.Fault{Class: assay.FaultGone, Status: 404}
		}
		return nil
	}
	w.clock.to(w.clock.Now().Add(2 * time.Hour))
	for range 3 {
		if err := w.e.Advance(w.ctx, w.segments()[0].No); !errors.Is(err, engine.ErrOtherKey) {
			t.Error("a look at it:", err)
		}
		w.clock.to(w.clock.Now().Add(time.Hour))
	}
	if g := w.segments()[0]; g.State != store.Launched || g.Reason == "" {
		t.Errorf("segment: %s %q", g.State, g.Reason)
	}
	w.e.Accounts, w.fake.wobble = mine, nil
	w.finished(store.ResultDone)
	w.billedOnce(3)
}

// stepUntil drives until the first segment is in a state.
func stepUntil(w *world, st store.State) error {
	for range 200 {
		if all := w.segments(st); len(all) > 0 {
			return nil
		}
		work, err := w.s.Leases.Due(w.ctx, w.run.No, 1)
		if err != nil {
			return err
		}
		if len(work) == 0 {
			next, err := w.s.Reader.NextDue(w.ctx, w.run.No)
			if err != nil {
				return err
			}
			w.clock.to(next)
			continue
		}
		if work[0].Segment == 0 {
			_, err = w.e.Extend(w.ctx, work[0].Run)
		} else {
			err = w.e.Advance(w.ctx, work[0].Segment)
		}
		if err != nil {
			return err
		}
	}
	return errDead
}

func TestARefusedCreateIsTriedLaterAndAStoppedLaneWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	w.fake.launch = func(n int) provider.LaunchStatus {
		if n < 3 {
			return provider.Refused
		}
		return provider.Accepted
	}
	w.finished(store.ResultDone)
	w.billedOnce(3)

	w = newWorld(t)
	w.fake.wobble = func(call string, n int) error {
		if call == "prepare" && n == 1 {
			return &assay.Fault{Class: assay.FaultDenied, Status: 401, Message: "bad key"}
		}
		return nil
	}
	st, err := w.drive()
	w.ok(err)
	if st.Asleep != 1 || st.Closed {
		t.Fatalf("standing %+v\n%s", st, w.history())
	}
	lanes, err := w.s.Reader.Lanes(w.ctx, w.run.No)
	w.ok(err)
	stopped := 0
	for _, l := range lanes {
		if l.State == store.LaneStopped {
			stopped++
		}
	}
	if stopped != 1 {
		t.Errorf("%d lanes stopped", stopped)
	}
	_, err = w.s.Runs.PutOrder(w.ctx, store.Order{Run: w.run.No, Kind: store.OrderRetry, Args: order(engine.Retry{})})
	w.ok(err)
	w.finished(store.ResultDone)
	w.billedOnce(6)
}

func TestATokenLimitShutsAGateAndTheJobGoesLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t, one)
	failures := 0
	w.fake.ends = func(j *fakeJob) provider.State {
		if failures < 2 {
			failures++
			return provider.StateFailed
		}
		return provider.StateEnded
	}
	w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
		return &assay.Fault{Class: assay.FaultBusy, Code: "token_limit_exceeded"}, nil
	}
	w.fake.takes = time.Minute
	w.finished(store.ResultDone)
	w.answers(3)
	w.billedOnce(3)
	if g, err := w.s.Limits.GateOf(w.ctx, "key1", "m"); err != nil || g.Failures != 0 {
		t.Errorf("gate %+v, %v", g, err)
	}
	launches := w.events("launched")
	if len(launches) != 3 || launches[1].At.Sub(launches[0].At) < 5*time.Minute || launches[2].At.Sub(launches[1].At) < 10*time.Minute {
		t.Errorf("launches %+v", launches)
	}
}

// TestAJobThatFailedIsNeverTakenForTheNextOne loses the reply to the second create call at a provider whose list shows the
// job that failed before the one that runs.
func TestAJobThatFailedIsNeverTakenForTheNextOne(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]provider.LaunchStatus{"its reply is lost": provider.Unknown, "it is lost": "vanished"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, one, func(w *world) { w.fake.mixed, w.fake.takes = true, 5*time.Hour })
			w.fake.launch = func(n int) provider.LaunchStatus {
				if n == 2 {
					return second
				}
				return provider.Accepted
			}
			w.fake.ends = func(j *fakeJob) provider.State {
				if j.id == "job1" {
					return provider.StateFailed
				}
				return provider.StateEnded
			}
			w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
				return &assay.Fault{Class: assay.FaultUnknown, Code: "internal"}, nil
			}
			w.finished(store.ResultDone)
			w.answers(3)
			w.billedOnce(3)
			if got := w.events("double"); len(got) > 0 || w.fake.calls["cancel"] > 0 {
				t.Errorf("doubles: %+v, %d cancels\n%s", got, w.fake.calls["cancel"], w.history())
			}
			for i, j := range w.fake.jobs {
				if want := i + 1; j.stamp.Attempt != want && second == provider.Unknown {
					t.Errorf("%s is attempt %d, want %d", j.id, j.stamp.Attempt, want)
				}
			}
		})
	}
}

// TestAFullAccountIsSentToAsSoonAsThereIsRoom has an account that takes the tokens of one job and a half. Jobs that do not fit are
// refused once; from then on each goes when the one before it has ended.
func TestAFullAccountIsSentToAsSoonAsThereIsRoom(t *testing.T) {
	t.Parallel()
	for _, says := range []int64{11, -1} { // tokens, as the provider words its limit
		w := newWorld(t, one, func(w *world) { w.plan.items, w.plan.cut.Size, w.fake.room = 40, 10, 15 })
		w.fake.ends = func(j *fakeJob) provider.State {
			if j.full {
				return provider.StateFailed
			}
			return provider.StateEnded
		}
		w.fake.problems = func(*fakeJob) (*assay.Fault, []provider.LineProblem) {
			return &assay.Fault{Class: assay.FaultBusy, Code: "token_limit_exceeded", Limit: says}, nil
		}
		began := w.clock.Now()
		w.finished(store.ResultDone)
		w.answers(40)
		w.billedOnce(40)
		if took := w.clock.Now().Sub(began); took > 5*time.Hour {
			t.Errorf("limit %d: four jobs of an hour took %s\n%s", says, took, w.history())
		}
		if n := len(w.fake.jobs); n > 4+3 {
			t.Errorf("limit %d: %d jobs were made for 4 segments\n%s", says, n, w.history())
		}
	}
}
