package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func moves(t *testing.T, fresh Fresh) {
	t.Run("a batch goes from planned to settled, and its history says so", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 2), store.Fetched)
		b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Refused))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		events, err := b.s.Reader.Events(b.ctx, b.run.No, 0, 100)
		b.ok(err)
		var kinds []string
		for _, e := range events {
			if e.Segment == g.No {
				kinds = append(kinds, e.Kind)
			}
		}
		if d := cmp.Diff([]string{"staged", "uploaded", "intended", "launched", "ended", "fetched", "settled"}, kinds); d != "" {
			t.Error(d)
		}
	})
	t.Run("no state is skipped", func(t *testing.T) { skipping(t, fresh) })
	t.Run("a segment with an open attempt does not settle", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 2), store.Fetched)
		b.settle(g, b.outcome(g, 0, assay.Answered))
		if err := b.s.Work.Finish(b.ctx, g.Lease, time.Time{}); err == nil {
			t.Error("settled with an attempt open")
		}
		b.ok(b.s.Work.Refetch(b.ctx, g.Lease, "1 result is missing", b.clock.now()))
		if g = b.segmentNow(g); g.State != store.Ended || g.Refetches != 1 || g.Open() != 1 {
			t.Errorf("after refetch: %s, %d refetches, %d open", g.State, g.Refetches, g.Open())
		}
	})
	t.Run("a planned segment can be discarded as if it had never been", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.segment(store.Batch, 3)
		b.ok(b.s.Work.Discard(b.ctx, g.Lease))
		b.n = 0
		b.staged(store.Batch, 3) // the same requests again
		if err := b.s.Work.Discard(b.ctx, g.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("discarded twice: %v", err)
		}
	})
	t.Run("one request is in flight only once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		b.segment(store.Batch, 3)
		g, err := b.s.Work.AddSegment(b.ctx, store.NewSegment{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt"},
			Mode: store.Batch, Purpose: store.ForWave}, "me", ttl)
		b.ok(err)
		if err := b.s.Work.AddAttempts(b.ctx, g.Lease, []store.Attempt{b.attempt(0, 7), b.attempt(1, 2)}); !errors.Is(err,
			store.ErrDuplicate) {
			t.Errorf("a request twice: %v", err)
		}
		if g = b.segmentNow(g); g.Requests != 0 {
			t.Errorf("%d requests stayed", g.Requests)
		}
	})
	t.Run("fate unknown: back, held, adopted or dropped", func(t *testing.T) { uncertain(t, fresh) })
	t.Run("doubles are spent, and no part of a price", func(t *testing.T) { doubled(t, fresh) })
	t.Run("what a job of another copy did twice is spent, and no part of a price", func(t *testing.T) { takenTwice(t, fresh) })
	t.Run("what is due is reported, unless a process holds it", func(t *testing.T) { due(t, fresh) })
	t.Run("a run that is woken while it is extended stays due", func(t *testing.T) { wokenTwice(t, fresh) })
}

func skipping(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	now := b.clock.now()
	calls := map[string]func(l store.Lease) error{
		"upload": func(l store.Lease) error { return b.s.Work.Upload(b.ctx, l, "{}", now) },
		"intend": func(l store.Lease) error { return b.s.Work.Intend(b.ctx, l, store.Intent{Account: "k", Stamped: true}) },
		"launch": func(l store.Lease) error { return b.s.Work.Launched(b.ctx, l, store.Launch{Job: "j", At: now}) },
		"checked": func(l store.Lease) error {
			return b.s.Work.Checked(b.ctx, l, store.Sighting{State: "running", Counts: "{}"})
		},
		"ended": func(l store.Lease) error {
			return b.s.Work.Ended(b.ctx, l, store.Sighting{State: "ended", Counts: "{}", Parts: "[]"})
		},
		"fetched": func(l store.Lease) error { return b.s.Work.Fetched(b.ctx, l, now) },
		"finish":  func(l store.Lease) error { return b.s.Work.Finish(b.ctx, l, now) },
		"refetch": func(l store.Lease) error { return b.s.Work.Refetch(b.ctx, l, "x", now) },
		"drop":    func(l store.Lease) error { return b.s.Work.Drop(b.ctx, l, "x") },
		"stage": func(l store.Lease) error {
			return b.s.Work.Stage(b.ctx, l, store.Bytes{Name: "n", Size: 1, SHA256: "x"}, 0, 0, now)
		},
		"cancel": func(l store.Lease) error { return b.s.Work.AskCancel(b.ctx, l, store.ByUser, now) },
		"back":   func(l store.Lease) error { return b.s.Work.GoBack(b.ctx, l, store.Back{To: store.Staged, Reason: "x"}) },
	}
	illegal := map[store.State][]string{
		store.Staged:   {"intend", "launch", "checked", "ended", "fetched", "finish", "refetch", "stage", "cancel", "back"},
		store.Uploaded: {"upload", "launch", "checked", "ended", "fetched", "finish", "refetch", "stage", "cancel"},
		store.Intended: {"upload", "intend", "checked", "ended", "fetched", "finish", "refetch", "drop", "stage", "cancel"},
		store.Launched: {"upload", "intend", "launch", "fetched", "refetch", "drop", "stage"},
		store.Ended:    {"upload", "intend", "launch", "checked", "ended", "finish", "refetch", "drop", "stage", "cancel"},
		store.Fetched:  {"upload", "intend", "launch", "checked", "ended", "fetched", "drop", "stage", "cancel", "back"},
	}
	for st, names := range illegal {
		g := b.staged(store.Batch, 1)
		if st != store.Staged {
			g = b.to(g, st)
		}
		for _, name := range names {
			err := calls[name](g.Lease)
			var state *store.StateError
			if !errors.As(err, &state) || state.Have != st {
				t.Errorf("%s when %s: %v", name, st, err)
			}
		}
		if got := b.segmentNow(g); got.State != st {
			t.Errorf("%s became %s", st, got.State)
		}
	}
}

func uncertain(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 1), store.Intended)
	b.ok(b.s.Work.Absent(b.ctx, g.Lease, b.clock.now()))
	if g = b.segmentNow(g); g.Absents != 1 || g.Absent.IsZero() {
		t.Errorf("absent: %+v", g)
	}
	b.ok(b.s.Work.GoBack(b.ctx, g.Lease, store.Back{To: store.Uploaded, Reason: "absent twice"}))
	if g = b.segmentNow(g); g.State != store.Uploaded || g.Reserved != 0 || g.Handle == "" || g.Absents != 0 || g.Failures != 1 {
		t.Errorf("back: %+v", g)
	}
	b.ok(b.s.Work.Intend(b.ctx, g.Lease, store.Intent{Account: "k1", Stamped: true, Reserve: assay.Dollar}))
	b.ok(b.s.Work.Hold(b.ctx, g.Lease, "cannot tell"))
	if g = b.segmentNow(g); g.State != store.Held || g.HeldFrom != store.Intended || g.Reserved != assay.Dollar || g.Intends != 2 {
		t.Errorf("held: %+v", g)
	}
	b.ok(b.s.Work.Launched(b.ctx, g.Lease, store.Launch{Job: "found", At: b.clock.now(), Note: "adopted"}))
	b.ok(b.s.Work.AddDouble(b.ctx, g.Lease, store.Double{Job: "second", What: "it is cancelled"}))
	b.ok(b.s.Work.GoBack(b.ctx, g.Lease, store.Back{To: store.Staged, Reason: "token limit"}))
	if g = b.segmentNow(g); g.State != store.Staged || g.Job != "" || g.Handle != "" {
		t.Errorf("staged again: %+v", g)
	}
	jobs, err := b.s.Reader.Jobs(b.ctx, b.run.No)
	b.ok(err)
	roles := map[string]string{}
	for _, j := range jobs {
		roles[j.ID] = string(j.Role)
	}
	if d := cmp.Diff(map[string]string{"found": "failed", "second": "double"}, roles); d != "" {
		t.Error(d)
	}
	other := b.to(b.staged(store.Batch, 1), store.Intended)
	if err := b.s.Work.Launched(b.ctx, other.Lease, store.Launch{Job: "second", At: b.clock.now()}); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("another segment's job: %v", err)
	}
	for segment, want := range map[int64]int{g.No: 2, other.No: 0} {
		own, err := b.s.Reader.SegmentJobs(b.ctx, segment)
		b.ok(err)
		if len(own) != want {
			t.Errorf("segment %d has the jobs %+v", segment, own)
		}
	}
	taken, err := b.s.Work.TakenJobs(b.ctx, "openai", other.No)
	b.ok(err)
	if d := cmp.Diff(map[string]bool{"found": true, "second": true}, taken); d != "" {
		t.Error(d)
	}
	b.ok(b.s.Work.Hold(b.ctx, other.Lease, "cannot tell"))
	b.ok(b.s.Work.Drop(b.ctx, other.Lease, "a person said so"))
	if other = b.segmentNow(other); other.State != store.Cancelled || other.Endings[assay.Cancelled] != 1 || other.Reserved != 0 {
		t.Errorf("dropped: %+v", other)
	}
	r, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	if r.Reserved != 0 {
		t.Errorf("%s stay reserved", r.Reserved)
	}
}

func due(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	g := b.staged(store.Batch, 1)
	b.ok(b.s.Leases.RunDue(b.ctx, b.run.No, b.clock.now().Add(time.Hour)))
	work, err := b.s.Leases.Due(b.ctx, 0, 10)
	b.ok(err)
	if len(work) != 0 {
		t.Errorf("held work is due: %v", work)
	}
	b.ok(b.s.Leases.Release(b.ctx, g.Lease))
	work, err = b.s.Leases.Due(b.ctx, b.run.No, 10)
	b.ok(err)
	if d := cmp.Diff([]store.Work{{Run: b.run.No, Segment: g.No, Mode: g.Mode, Due: b.clock.now()}}, work); d != "" {
		t.Error(d)
	}
	b.clock.pass(2 * time.Hour)
	work, err = b.s.Leases.Due(b.ctx, 0, 10)
	b.ok(err)
	if len(work) != 2 || work[1].Segment != 0 {
		t.Errorf("the run is not due: %v", work)
	}
	next, err := b.s.Reader.NextDue(b.ctx, b.run.No)
	b.ok(err)
	if want := b.clock.now().Add(-2 * time.Hour); !next.Equal(want) {
		t.Errorf("next due %s, want %s", next, want)
	}
}

func wokenTwice(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	wake := func() {
		_, err := b.s.Runs.PutOrder(b.ctx, store.Order{Run: b.run.No, Kind: store.OrderCollect, Args: "{}"})
		b.ok(err)
	}
	now := func() store.Run {
		r, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		return r
	}
	for range 3 { // also within one millisecond
		seen := now().Due
		wake()
		b.ok(b.s.Leases.SleepRun(b.ctx, b.run.No, seen, time.Time{}))
		if got := now().Due; got.IsZero() || got.After(b.clock.now()) {
			t.Fatalf("the second waking is lost: due %s", got)
		}
	}
	later := b.clock.now().Add(time.Hour)
	for _, at := range []time.Time{later, {}, later} {
		b.ok(b.s.Leases.SleepRun(b.ctx, b.run.No, now().Due, at))
		if got := now().Due; !got.Equal(at) {
			t.Errorf("due %s, want %s", got, at)
		}
	}
}

func money(t *testing.T, fresh Fresh) {
	t.Run("a reservation that does not fit is refused, and nothing moves", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		budget := assay.Dollars(1.5)
		b.ok(b.s.Runs.SetBudget(b.ctx, b.run.No, &budget))
		one, two := b.staged(store.Batch, 1), b.staged(store.Batch, 2)
		one = b.to(one, store.Intended)
		b.ok(b.s.Work.Upload(b.ctx, two.Lease, "{}", time.Time{}))
		err := b.s.Work.Intend(b.ctx, two.Lease, store.Intent{Account: "k1", Stamped: true, Reserve: assay.Dollar})
		if !errors.Is(err, store.ErrBudget) {
			t.Fatalf("over budget: %v", err)
		}
		if two = b.segmentNow(two); two.State != store.Uploaded || two.Reserved != 0 {
			t.Errorf("the refused one moved: %+v", two)
		}
		b.ok(b.s.Work.GoBack(b.ctx, one.Lease, store.Back{To: store.Uploaded, Reason: "refused"}))
		b.ok(b.s.Work.Intend(b.ctx, two.Lease, store.Intent{Account: "k1", Stamped: true, Reserve: assay.Dollar}))
	})
	t.Run("racing for the last dollar, one gets it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		budget := assay.Dollar
		b.ok(b.s.Runs.SetBudget(b.ctx, b.run.No, &budget))
		segments := make([]store.Segment, 6)
		for i := range segments {
			segments[i] = b.to(b.staged(store.Batch, 1+i), store.Uploaded)
		}
		errs := make([]error, len(segments))
		var wg sync.WaitGroup
		for i, g := range segments {
			wg.Go(func() {
				errs[i] = b.s.Work.Intend(b.ctx, g.Lease, store.Intent{Account: "k1", Stamped: true, Reserve: assay.Dollar})
			})
		}
		wg.Wait()
		got := 0
		for _, err := range errs {
			if err == nil {
				got++
			} else if !errors.Is(err, store.ErrBudget) {
				t.Error(err)
			}
		}
		if got != 1 {
			t.Errorf("%d got the dollar", got)
		}
	})
	t.Run("a settled segment turns its reservation into what it cost", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 3), store.Fetched)
		unknown := b.outcome(g, 2, assay.Answered)
		unknown.Cost = nil
		b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Cut), unknown)
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		r, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		if r.Reserved != 0 || r.Spent != 3000 || r.Unpriced != 1 {
			t.Errorf("reserved %d, spent %d, unpriced %d", r.Reserved, r.Spent, r.Unpriced)
		}
		if d := cmp.Diff(assay.Cost{Sum: 3000, Priced: 2, Unknown: 1}, b.segmentNow(g).Cost); d != "" {
			t.Error(d)
		}
	})
	t.Run("a create call taken for lost is fenced off, and looked for later", func(t *testing.T) { lostCreate(t, fresh) })
}

func lostCreate(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	in := store.Intent{Account: "k1"}
	one, two := b.to(b.staged(store.Batch, 2), store.Uploaded), b.to(b.staged(store.Batch, 2), store.Uploaded)
	b.ok(b.s.Work.Intend(b.ctx, one.Lease, in))
	b.ok(b.s.Work.Intend(b.ctx, two.Lease, in)) // of the same size: each has an attempt or a nonce of its own
	handle := b.segmentNow(one).Handle
	b.ok(b.s.Work.GoBack(b.ctx, one.Lease, store.Back{To: store.Staged, Reason: "absent", Lost: true}))
	if g := b.segmentNow(one); g.Fence != handle || handle == "" || g.Handle != "" || g.LostCreates != 1 {
		t.Errorf("a lost call: fence %q, handle %q (was %q), %d lost", g.Fence, g.Handle, handle, g.LostCreates)
	}
	if err := b.s.Work.Upload(b.ctx, one.Lease, "new", b.clock.now()); err == nil {
		t.Error("uploaded anew before the fence stands")
	}
	b.ok(b.s.Work.Fenced(b.ctx, one.Lease, b.clock.now()))
	b.ok(b.s.Work.Upload(b.ctx, one.Lease, "new", b.clock.now()))
	b.ok(b.s.Work.Intend(b.ctx, one.Lease, in))
	b.ok(b.s.Work.GoBack(b.ctx, one.Lease, store.Back{To: store.Staged, Reason: "absent", Lost: true}))
	b.ok(b.s.Work.Fenced(b.ctx, one.Lease, b.clock.now()))
	if d := cmp.Diff([]string{handle, "new"}, b.segmentNow(one).LostHandles); d != "" {
		t.Errorf("what lost calls named: %s", d)
	}
	b.ok(b.s.Work.Hold(b.ctx, two.Lease, "cannot tell"))
	b.ok(b.s.Work.GoBack(b.ctx, two.Lease, store.Back{To: store.Staged, Reason: "resent by a person"}))
	if g := b.segmentNow(two); g.Fence == "" || g.LostCreates != 1 {
		t.Errorf("resent by a person: fence %q, %d lost", g.Fence, g.LostCreates)
	}
	lostMoney(b)
}

// lostMoney loses create calls under a hard budget: what was reserved for them is perhaps spent until their jobs were looked for.
func lostMoney(b *bench) {
	perhaps := func(want assay.Money, creates int64) {
		b.t.Helper()
		r, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		sum, err := b.s.Reader.DoubtSum(b.ctx, b.run.No)
		b.ok(err)
		if r.Perhaps != want || r.Reserved != 0 || sum.Lost != want || sum.Creates != creates {
			b.t.Errorf("perhaps %d, reserved %d, %+v; want %d of %d calls", r.Perhaps, r.Reserved, sum, want, creates)
		}
	}
	g := b.to(b.staged(store.Batch, 2), store.Uploaded)
	b.ok(b.s.Work.Intend(b.ctx, g.Lease, store.Intent{Account: "k1", Reserve: 500}))
	b.ok(b.s.Work.GoBack(b.ctx, g.Lease, store.Back{To: store.Uploaded, Reason: "refused", Capped: true})) // it was not lost
	perhaps(0, 0)
	b.ok(b.s.Work.Intend(b.ctx, g.Lease, store.Intent{Account: "k1", Reserve: 500}))
	b.ok(b.s.Work.GoBack(b.ctx, g.Lease, store.Back{To: store.Staged, Reason: "absent", Lost: true, Capped: true}))
	perhaps(500, 1)
	if err := b.s.Work.Audited(b.ctx, g.Lease, store.Audit{Due: b.clock.now()}); err == nil {
		b.t.Error("before anything could be sent again")
	}
	b.ok(b.s.Work.Fenced(b.ctx, g.Lease, b.clock.now()))
	b.ok(b.s.Work.Upload(b.ctx, g.Lease, "new", b.clock.now()))
	b.ok(b.s.Work.Audited(b.ctx, g.Lease, store.Audit{Due: b.clock.now()}))
	perhaps(0, 0)
	if g := b.segmentNow(g); g.LostCreates != 1 || g.Audited != 0 {
		b.t.Errorf("%d lost, %d audited: it is looked for after the end, too", g.LostCreates, g.Audited)
	}
}
