package providertest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/assay"
	"assay/internal/send/provider"
	"assay/internal/simulator"
)

// RunBatch holds a vendor's batches against the contract of provider.Provider and of the powers it has.
func RunBatch(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"every request comes back once and is billed once":      wholeSegment,
		"what is asked and answered survives the way":           survives,
		"an upload that breaks is taken up again":               brokenUpload,
		"preparing twice is no harm":                            preparedTwice,
		"an upload that is long gone is made again":             staleUpload,
		"launching what is not prepared is refused":             unprepared,
		"requests that fail leave the others alone":             partialFailure,
		"a job that fails as a whole says why":                  wholeFailure,
		"a job that expires hands out what it has":              expiry,
		"a cancelled job ends and hands out what it has":        cancelled,
		"results in several files are all there":                shards,
		"states nobody knows are never success":                 unknownState,
		"a job that ended without results has no parts":         noOutput,
		"missing, doubled, strange and broken lines are told":   spoiledLines,
		"a cut download is an error, and the next one is whole": cutFetch,
		"a fetch that is called off says so":                    cancelledFetch,
		"a document of errors is never taken for an answer":     errorUnderSuccess,
		"faults are classified":                                 faults,
		"a batch that is too large is refused as such":          oversize,
		"no redirect takes the key away":                        redirects,
		"a lost reply is found, a stranger's job is not":        lostReply,
		"what was never made is absent":                         neverMade,
		"a job that shows late is found when it shows":          lateJob,
		"a list that cannot be read is not absence":             brokenList,
		"what failed before is not found again":                 failedAttempt,
		"jobs are listed with their stamp":                      listedJobs,
		"what is left behind can be removed twice":              removed,
		"a launch that comes after the fence costs nothing":     fenced,
		"small calls that fail say so, and work when repeated":  smallCalls,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// RunSocket holds what depends on the network against the contract once more, over a real connection.
func RunSocket(t *testing.T, s Subject) {
	s.Socket = true
	for name, test := range map[string]func(*testing.T, Subject){
		"every request comes back once and is billed once":      wholeSegment,
		"an upload that breaks is taken up again":               brokenUpload,
		"a cut download is an error, and the next one is whole": cutFetch,
		"a fetch that is called off says so":                    cancelledFetch,
		"a lost reply is found, a stranger's job is not":        lostReply,
		"no redirect takes the key away":                        redirects,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

func wholeSegment(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{Queue: time.Minute, Rate: 10})
	row, _ := s.catalog().Vendor(s.Kind)
	diff(t, row.Limits, w.batch.Limits())
	c := w.input(questions(60)...)
	job := w.launch(c)
	st := w.settle(job)
	diff(t, provider.StateEnded, st.State)
	r := w.collect(job, st)
	diff(t, slices.Sorted(maps.Keys(c.asked)), sorted(r.order))
	diff(t, map[assay.Ending]int{assay.Answered: 60}, r.endings(c))
	if st.Counts.Known && (st.Counts.Total != 60 || st.Counts.Succeeded != 60 || st.Counts.Done() != 60) {
		t.Errorf("counts %+v", st.Counts)
	}
	var sum assay.Usage
	sum.Known = true
	for _, lines := range r.lines {
		o := lines[0].Outcome
		if !o.Usage.Known || o.Usage.Input == 0 || o.Usage.Output == 0 || o.Text == "" || o.Fault != nil {
			t.Fatalf("outcome %+v", o)
		}
		sum = sum.Add(o.Usage)
	}
	if !sum.Known || sum.Input < 60 || sum.Output < 60 {
		t.Errorf("usage %+v", sum)
	}
	want := map[string]int{}
	for id := range c.asked {
		want[id] = 1
	}
	diff(t, want, w.billed())
}

// survives sends texts that break careless readers, and gets one answer that is longer than any buffer: of 10 MB, or of 1 MB
// from a copy.
func survives(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{Responder: echo{}, Rules: lenient{}})
	w.lane.Params.MaxTokens = 4 << 20
	long := 10 << 20
	if s.Copy {
		long = 1<<20 + 1<<10
	}
	texts := []string{
		"two\nlines\r\nand\ttabs", "separators \u2028 \u2029 \u0085 inside", `quotes " and \ and / and {"json":[1]}`,
		"emoji 👩‍👩‍👧 and 漢字 and é", "null \x00 and escape \x1b[31m", "<script>&amp;</script>", strings.Repeat("long ", long/5),
	}
	c := w.input(texts...)
	job := w.launch(c)
	r := w.collect(job, w.settle(job))
	for id, want := range c.asked {
		got := r.lines[id][0].Outcome
		if got.Text != want {
			t.Errorf("%d bytes came back as %d (%s): %.80q … %.80q", len(want), len(got.Text), got.Ending, want, got.Text)
		}
	}
}

func brokenUpload(t *testing.T, s Subject) {
	for _, rule := range []string{"upload 500 x2", "upload drop x2", "upload drop-reply once", "upload truncate=40% once",
		"upload 429=1s x3", "upload drop nth=2", "upload drop-reply nth=2"} {
		w := newWorld(t, s, simulator.Options{}, rule)
		c := w.input(questions(30)...)
		job := w.launch(c)
		r := w.collect(job, w.settle(job))
		if got := r.endings(c); got[assay.Answered] != 30 {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

func preparedTwice(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	c := w.input(questions(5)...)
	w.prepare(c)
	h := w.prepare(c) // as after a crash that lost the handle
	again, ready, err := w.batch.Prepare(context.Background(), c.BatchInput, h)
	if err != nil || ready != provider.Ready || again != h {
		t.Errorf("prepared again: %q, %s, %v", again, ready, err)
	}
	r := w.batch.Launch(context.Background(), c.BatchInput, again)
	diff(t, provider.Accepted, r.Status)
	diff(t, 1, len(w.sim.Ledger().Jobs))
}

// staleUpload launches months after the upload, when many providers have thrown it away.
func staleUpload(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	c := w.input(questions(3)...)
	h := w.prepare(c)
	w.clock.Advance(90 * 24 * time.Hour)
	r := w.batch.Launch(context.Background(), c.BatchInput, h)
	late := false // it is found out when the job is looked at
	if r.Status == provider.Accepted {
		st := w.settle(w.job(c, h, r.Job))
		late = st.State == provider.StateFailed
		if late && st.Fault.Class != assay.FaultGone {
			t.Errorf("what is uploaded is gone, and the fault is %v", st.Fault)
		}
	}
	if r.Status == provider.Refused || late {
		c.Stamp.Attempt++
		h = w.prepare(c)
		r = w.batch.Launch(context.Background(), c.BatchInput, h)
	}
	diff(t, provider.Accepted, r.Status)
	job := w.job(c, h, r.Job)
	diff(t, 3, w.collect(job, w.settle(job)).endings(c)[assay.Answered])
	diff(t, 3, len(w.billed()))
}

func unprepared(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	c := w.input(questions(2)...)
	if _, ready, _ := w.batch.Prepare(context.Background(), c.BatchInput, ""); ready == provider.Ready {
		if h, _, _ := w.batch.Prepare(context.Background(), c.BatchInput, ""); h == "" {
			return // nothing is uploaded at this provider
		}
	}
	for _, h := range []provider.Handle{"", "{}", "nonsense"} {
		r := w.batch.Launch(context.Background(), c.BatchInput, h)
		diff(t, provider.Refused, r.Status)
		w.class(r.Err)
	}
	diff(t, 0, len(w.sim.Ledger().Jobs))
}

func partialFailure(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "create fail-lines=40%", "create refuse=20%")
	c := w.input(questions(80)...)
	job := w.launch(c)
	st := w.settle(job)
	r := w.collect(job, st)
	got := r.endings(c)
	if got[assay.Errored] < 10 || got[assay.Refused] < 3 || got[assay.Answered] < 20 || got["none"] > 0 {
		t.Errorf("endings %v", got)
	}
	for id, lines := range r.lines {
		o := lines[0].Outcome
		if len(lines) != 1 || (o.Ending == assay.Errored) != (o.Fault != nil) {
			t.Errorf("%s: %d lines, %+v", id, len(lines), o)
		}
	}
	if st.Counts.Known && st.Counts.Failed != int64(got[assay.Errored]) {
		t.Errorf("%d failed, counts say %+v", got[assay.Errored], st.Counts)
	}
}

func wholeFailure(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{Queue: time.Minute}, "create fail=invalid_json_line")
	c := w.input(questions(3)...)
	h := w.prepare(c)
	r := w.batch.Launch(context.Background(), c.BatchInput, h)
	if r.Status == provider.Refused { // found at once
		w.class(r.Err)
		return
	}
	job := w.job(c, h, r.Job)
	st := w.settle(job)
	got := w.collect(job, st).endings(c)
	if got[assay.Rejected]+got[assay.Errored] != 3 && (st.State != provider.StateFailed || st.Fault == nil) {
		t.Fatalf("state %s (%s), fault %v, endings %v", st.State, st.Word, st.Fault, got)
	}
	if got[assay.Answered] > 0 {
		t.Errorf("endings %v", got)
	}
	diff(t, map[string]int{}, w.billed())
}

func expiry(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "create expire=50%")
	c := w.input(questions(40)...)
	job := w.launch(c)
	st := w.settle(job)
	r := w.collect(job, st)
	got := r.endings(c)
	if s.LosesExpired {
		if st.State != provider.StateExpired || len(st.Parts) > 0 {
			t.Errorf("state %s, parts %v", st.State, st.Parts)
		}
		return
	}
	if got[assay.Answered] != 20 || got[assay.Expired]+got["none"] != 20 {
		t.Errorf("state %s (%s), endings %v", st.State, st.Word, got)
	}
	if st.State == provider.StateFailed || st.State == provider.StateUnknown {
		t.Errorf("state %s (%s)", st.State, st.Word)
	}
}

// shards has the results lie in more than one file, where the provider does that.
func shards(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "create shards=3")
	c := w.input(questions(40)...)
	job := w.launch(c)
	st := w.settle(job)
	if s.Shards && len(st.Parts) != 3 {
		t.Errorf("parts %v", st.Parts)
	}
	r := w.collect(job, st)
	diff(t, slices.Sorted(maps.Keys(c.asked)), sorted(r.order))
}

func cancelled(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{Rate: 0.1}, "cancel slow-cancel=4m")
	stop, ok := w.batch.(provider.Canceler)
	if !ok {
		t.Logf("%s has no cancel", s.Kind)
		return
	}
	c := w.input(questions(100)...)
	job := w.launch(c)
	w.clock.Advance(5 * time.Minute)
	if err := stop.Cancel(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	st := w.settle(job)
	if !st.State.Terminal() || st.State == provider.StateFailed || st.State == provider.StateExpired {
		t.Errorf("state %s (%s)", st.State, st.Word)
	}
	got := w.collect(job, st).endings(c)
	if got[assay.Answered] < 20 || got[assay.Answered] > 70 || got[assay.Answered]+got[assay.Cancelled]+got["none"] != 100 {
		t.Errorf("endings %v", got)
	}
}

func unknownState(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{}, "check state=PUZZLED once")
	c := w.input(questions(3)...)
	job := w.launch(c)
	st, err := w.batch.Check(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	if st.State.Terminal() && strings.Contains(strings.ToUpper(st.Word), "PUZZLED") {
		t.Errorf("state %s of word %q", st.State, st.Word)
	}
	diff(t, provider.StateEnded, w.settle(job).State)
}

func noOutput(t *testing.T, s Subject) {
	for _, rule := range []string{"check no-output x2", "check blank-ids"} {
		w := newWorld(t, s, simulator.Options{Queue: time.Minute}, rule)
		c := w.input(questions(3)...)
		job := w.launch(c)
		st, err := w.batch.Check(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Parts) > 0 && !st.State.Terminal() {
			t.Errorf("%s: a job that has not begun has parts %v", rule, st.Parts)
		}
		w.clock.Advance(time.Hour)
		st = w.settle(job)
		if len(st.Parts) == 0 {
			st = w.settle(job)
		}
		if got := w.collect(job, st).endings(c); got[assay.Answered] != 3 {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

func listedJobs(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	list, ok := w.batch.(provider.Lister)
	if !ok {
		t.Fatalf("%s cannot list", s.Kind)
	}
	var want []string
	stamps := map[string]string{}
	for range 25 {
		c := w.input(questions(1)...)
		job := w.launch(c)
		want = append(want, job.ID)
		stamps[job.ID] = c.Stamp.Name()
		st, err := w.batch.Check(context.Background(), job)
		// It proves to a new key that the job is ours.
		if f, ok := w.batch.(provider.Finder); err != nil || ok && f.Stamped() && !st.Stamp.Same(c.Stamp) {
			t.Errorf("a look at %s shows stamp %+v, want %+v, %v", job.ID, st.Stamp, c.Stamp, err)
		}
		w.clock.Advance(time.Second)
	}
	var got []string
	for st, err := range list.List(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, st.Job)
		if st.Created.IsZero() || len(st.Problems) > 0 {
			t.Errorf("listed %+v", st)
		}
		if f, ok := w.batch.(provider.Finder); ok && f.Stamped() && st.Stamp.Name() != stamps[st.Job] {
			t.Errorf("%s has stamp %+v", st.Job, st.Stamp)
		}
	}
	diff(t, sorted(want), sorted(got))
}

func removed(t *testing.T, s Subject) {
	w := newWorld(t, s, simulator.Options{})
	rm, ok := w.batch.(provider.Remover)
	if !ok {
		t.Fatalf("%s cannot remove", s.Kind)
	}
	job := w.launch(w.input(questions(2)...))
	w.settle(job)
	for i := range 2 {
		if err := rm.Remove(context.Background(), job); err != nil {
			t.Errorf("time %d: %v", i+1, err)
		}
	}
}
