package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
	"assay/internal/keep/store/read"
)

func openedAtOnce(t *testing.T, empty Fresh) {
	where := empty(t)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			s, err := ledger.Open(context.Background(), where, ledger.Options{})
			if err == nil {
				err = s.Close()
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func opening(t *testing.T, fresh Fresh) {
	t.Run("what was written is there when it is opened again", func(t *testing.T) {
		t.Parallel()
		b := &bench{t: t, ctx: context.Background(), clock: newClock()}
		where := fresh(t)
		b.s = open(t, where, b.clock)
		want := b.newRun("r1", nil)
		b.ok(b.s.Close())
		got, err := open(t, where, b.clock).Reader.Run(b.ctx, want.No)
		b.ok(err)
		if d := cmp.Diff(want.NewRun, got.NewRun); d != "" {
			t.Error(d)
		}
	})
	t.Run("every call can be watched, and stopped before it begins", func(t *testing.T) {
		t.Parallel()
		var ops []string
		stop := errors.New("stop")
		s, err := ledger.Open(context.Background(), fresh(t), ledger.Options{Around: func(op string, call func() error) error {
			if ops = append(ops, op); len(ops) > 1 {
				return stop
			}
			return call()
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.Runs.CreateRun(context.Background(), store.NewRun{ID: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Runs.OpenRun(context.Background(), r.No); !errors.Is(err, stop) {
			t.Errorf("OpenRun: %v", err)
		}
		if d := cmp.Diff([]string{"create run", "open run"}, ops); d != "" {
			t.Error(d)
		}
	})
}

func runs(t *testing.T, fresh Fresh) {
	t.Run("a run is found by id, beginning, study and latest", func(t *testing.T) { findRuns(t, fresh) })
	t.Run("of two that begin after the same run, one does", func(t *testing.T) { claims(t, fresh) })
	t.Run("a snapshot comes back as it went in", func(t *testing.T) { snapshots(t, fresh) })
	t.Run("a run opens once, closes under its lease and can be reopened", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		if err := b.s.Runs.OpenRun(b.ctx, b.run.No); err == nil {
			t.Error("an open run was opened again")
		}
		l, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "me", ttl)
		b.ok(err)
		stale := l
		stale.Epoch--
		if err := b.s.Work.CloseRun(b.ctx, stale, b.due(), store.ResultDone); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("closing with a lost lease: %v", err)
		}
		if err := b.s.Work.CloseRun(b.ctx, l, b.due().Add(time.Hour), store.ResultDone); !errors.Is(err, store.ErrWoken) {
			t.Errorf("closing a run that was woken: %v", err)
		}
		b.ok(b.s.Work.CloseRun(b.ctx, l, b.due(), store.ResultDone))
		r, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		if r.State != store.RunClosed || r.Result != store.ResultDone || !r.Due.IsZero() {
			t.Errorf("closed run: %+v", r)
		}
		b.ok(b.s.Work.ReopenRun(b.ctx, b.run.No, "late answers"))
		b.ok(b.s.Work.ReopenRun(b.ctx, b.run.No, "twice is no error"))
		if r, err = b.s.Reader.Run(b.ctx, b.run.No); err != nil || r.State != store.RunOpen || r.Due.IsZero() {
			t.Errorf("reopened run: %+v, %v", r, err)
		}
		events, err := b.s.Reader.Events(b.ctx, b.run.No, 0, 100)
		b.ok(err)
		var kinds []string
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		if d := cmp.Diff([]string{"opened", "closed", "reopened"}, kinds); d != "" {
			t.Error(d)
		}
	})
}

func findRuns(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	for _, n := range []store.NewRun{{ID: "abc1", Study: "one", Folder: "x"}, {ID: "abd2", Study: "two", Folder: "x"},
		{ID: "ab%_", Study: "two", Folder: "y"}} {
		_, err := b.s.Runs.CreateRun(b.ctx, n)
		b.ok(err)
	}
	if _, err := b.s.Runs.CreateRun(b.ctx, store.NewRun{ID: "abc1"}); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("a second run with one id: %v", err)
	}
	tests := []struct{ ref, folder, want string }{
		{"abc1", "", "abc1"}, {"abc", "", "abc1"}, {"abd", "", "abd2"}, {"ab%", "", "ab%_"}, {"two", "", "ab%_"}, {"two", "x", "abd2"},
		{"latest", "x", "abd2"}, {"latest", "", "ab%_"}, {"demo", "", "r1"}, {"ab", "", ""}, {"nothing", "", ""}, {"latest", "z", ""},
		{"abd", "y", "abd2"}, {"r", "", "r1"}, {"a\x00b", "", ""}, {"abc1", "x\xff", "abc1"},
	}
	for _, tt := range tests {
		r, err := b.s.Reader.FindRun(b.ctx, tt.ref, tt.folder)
		if r.ID != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q in %q: got %q, %v; want %q", tt.ref, tt.folder, r.ID, err, tt.want)
		}
	}
	if _, err := b.s.Reader.FindRun(b.ctx, "ab", ""); !errors.Is(err, store.ErrAmbiguous) {
		t.Errorf("a beginning of several ids: %v", err)
	}
	_, err := b.s.Runs.CreateRun(b.ctx, store.NewRun{ID: "twofold", Study: "other"})
	b.ok(err)
	if r, err := b.s.Reader.FindRun(b.ctx, "two", ""); err != nil || r.ID != "ab%_" {
		t.Errorf("a study's name that is also the beginning of another study's run: got %q, %v", r.ID, err)
	}
	all, err := b.s.Reader.Runs(b.ctx, "", store.RunPreparing)
	b.ok(err)
	if len(all) != 4 {
		t.Errorf("%d runs in preparation, want 4", len(all))
	}
}

func claims(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() {
			n := store.NewRun{ID: fmt.Sprint("new", i), Study: "demo", Folder: "here", Settings: "{}"}
			_, errs[i] = b.s.Runs.ClaimRun(b.ctx, n, store.Claim{After: b.run.No, Holder: fmt.Sprint("p", i), TTL: ttl})
		})
	}
	wg.Wait()
	lost := 0
	for _, err := range errs {
		if errors.Is(err, store.ErrDuplicate) {
			lost++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if lost != 3 {
		t.Fatalf("%d of 4 lost, want 3: %v", lost, errs)
	}
	all, err := b.s.Reader.Runs(b.ctx, "demo", store.RunPreparing)
	b.ok(err)
	made := all[0]
	if dead, err := b.s.Runs.AbandonRun(b.ctx, made.No); dead || err != nil {
		t.Fatalf("a run whose maker lives is dead: %v, %v", dead, err)
	}
	_, err = b.s.Leases.Renew(b.ctx, made.Lease, -time.Millisecond)
	b.ok(err)
	if now, err := b.s.Reader.Run(b.ctx, made.No); err != nil || now.Abandoned() {
		t.Errorf("before it is given up: %+v, %v", now, err)
	}
	if dead, err := b.s.Runs.AbandonRun(b.ctx, made.No); !dead || err != nil {
		t.Fatalf("a run whose maker is gone is not dead: %v, %v", dead, err)
	}
	if now, err := b.s.Reader.Run(b.ctx, made.No); err != nil || !now.Abandoned() {
		t.Errorf("after it is given up: %+v, %v", now, err)
	}
	listed, err := b.s.Pages.RunsPage(b.ctx, 0, 100)
	b.ok(err)
	for _, r := range listed {
		if r.No == made.No {
			t.Error("a run that was given up is listed")
		}
	}
	if err := b.s.Runs.OpenRun(b.ctx, made.No); err == nil {
		t.Error("a dead run was opened")
	}
	next, err := b.s.Runs.ClaimRun(b.ctx, store.NewRun{ID: "next", Study: "demo", Folder: "here", Settings: "{}"},
		store.Claim{After: made.No, Holder: "p9", TTL: time.Minute})
	b.ok(err)
	b.ok(b.s.Runs.OpenRun(b.ctx, next.No))
	if r, err := b.s.Reader.Run(b.ctx, next.No); err != nil || r.State != store.RunOpen || r.Lease.Holder != "" {
		t.Errorf("run %+v, %v", r, err)
	}
}

func snapshots(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	for _, text := range []string{"", "short", strings.Repeat("long ", 200_000)} {
		b.ok(b.s.Runs.PutPart(b.ctx, b.run.No, "study", strings.NewReader("what an interrupted preparation left"+text)))
		b.ok(b.s.Runs.PutPart(b.ctx, b.run.No, "study", strings.NewReader(text)))
		got, err := io.ReadAll(b.s.Reader.Part(b.ctx, b.run.No, "study"))
		b.ok(err)
		if string(got) != text {
			t.Errorf("a part of %d bytes came back with %d", len(text), len(got))
		}
	}
	if _, err := io.ReadAll(b.s.Reader.Part(b.ctx, b.run.No, "none")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a part that is not there: %v", err)
	}
	want := []assay.Item{
		{ID: "1", Cluster: "c", Expect: "unsafe",
			Fields: map[string]any{"text": "a\x00b \u2028", "n": int64(3), "f": 3.0, "g": 0.5, "ok": true, "none": nil}},
		{ID: "2", Cluster: "2",
			Fields: map[string]any{"list": []any{"x", int64(1), 2.0}, "map": map[string]any{"a": int64(9007199254740993)}},
			Files:  []assay.File{{As: "b", Name: "b/1.png", Size: 3, Sum: assay.Sum{1}}, {As: "c", Name: "c", Sum: assay.Sum{2}}}},
	}
	items := func(yield func(assay.Item, error) bool) {
		for _, it := range want {
			if !yield(it, nil) {
				return
			}
		}
	}
	b.ok(b.s.Runs.PutItems(b.ctx, b.run.No, "questions", items))
	b.ok(b.s.Runs.PutItems(b.ctx, b.run.No, "questions", items))
	var got []assay.Item
	for it, err := range b.s.Reader.Items(b.ctx, b.run.No, "questions") {
		b.ok(err)
		got = append(got, it)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	one, err := b.s.Reader.Item(b.ctx, b.run.No, "questions", "2")
	b.ok(err)
	if d := cmp.Diff(want[1], one); d != "" {
		t.Error(d)
	}
	b.shown(want[1].Files)
	twice := func(yield func(assay.Item, error) bool) {
		for range 2 {
			if !yield(want[0], nil) {
				return
			}
		}
	}
	if err := b.s.Runs.PutItems(b.ctx, b.run.No, "twice", twice); !errors.Is(err, store.ErrDuplicate) {
		t.Errorf("two items with one id: %v", err)
	}
}

func leases(t *testing.T, fresh Fresh) {
	t.Run("one holder at a time, and every write carries the epoch", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.staged(store.Batch, 1)
		_, err := b.s.Leases.HoldSegment(b.ctx, g.No, "you", ttl)
		var held *store.HeldError
		if !errors.As(err, &held) || held.Holder != "me" {
			t.Fatalf("a held segment: %v", err)
		}
		if _, err := b.s.Leases.HoldSegment(b.ctx, g.No, "me", ttl); !errors.As(err, &held) {
			t.Errorf("a segment that other work of the same process holds: %v", err)
		}
		b.ok(b.s.Leases.Release(b.ctx, g.Lease))
		yours, err := b.s.Leases.HoldSegment(b.ctx, g.No, "you", ttl)
		b.ok(err)
		if err := b.s.Work.Upload(b.ctx, g.Lease, "{}", time.Time{}); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("a write with the old epoch: %v", err)
		}
		if _, err := b.s.Leases.Renew(b.ctx, g.Lease, ttl); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("renewing a lost lease: %v", err)
		}
		b.ok(b.s.Leases.Release(b.ctx, g.Lease)) // not ours any more: nothing happens
		_, err = b.s.Leases.Renew(b.ctx, yours, ttl)
		b.ok(err)
		b.ok(b.s.Work.Upload(b.ctx, yours, "{}", time.Time{}))
		if n := b.s.Leases.TakenOver(); n != 0 {
			t.Errorf("%d leases were taken over", n)
		}
		b.ok(b.s.Leases.ReleaseDead(b.ctx, "you"))
		if n := b.s.Leases.TakenOver(); n != 1 {
			t.Errorf("%d leases were taken over, want that of a process that has ended", n)
		}
	})
	t.Run("a lease that ran out can be taken", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		first, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "me", -time.Millisecond)
		b.ok(err)
		l, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "you", ttl)
		b.ok(err)
		if l.Epoch <= first.Epoch || l.Holder != "you" {
			t.Errorf("lease: %+v after %+v", l, first)
		}
		if n := b.s.Leases.TakenOver(); n != 1 {
			t.Errorf("%d leases were taken over, want that which has ended", n)
		}
		if first.Epoch < b.clock.now().UnixMilli() {
			t.Errorf("epoch %d: one that was handed out before the power went might come again", first.Epoch)
		}
		if _, err := b.s.Leases.HoldRun(b.ctx, 999, "you", ttl); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a run that is not there: %v", err)
		}
	})
	t.Run("who drives a run is known until it leaves, or gives no more signs", func(t *testing.T) { driving(t, fresh) })
	t.Run("many ask, one gets it", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.staged(store.Batch, 1)
		b.ok(b.s.Leases.Release(b.ctx, g.Lease))
		var wg sync.WaitGroup
		got := make([]bool, 8)
		for i := range got {
			wg.Go(func() {
				_, err := b.s.Leases.HoldSegment(b.ctx, g.No, strings.Repeat("x", i+1), ttl)
				got[i] = err == nil
			})
		}
		wg.Wait()
		n := 0
		for _, g := range got {
			if g {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d holders", n)
		}
	})
}

// shown reads what the items of runs show, file by file. A run that was given up while it was prepared shows nothing.
func (b *bench) shown(want []assay.File) {
	b.t.Helper()
	made, err := b.s.Runs.ClaimRun(b.ctx, store.NewRun{ID: "dead", Study: "dead", Folder: "here", Settings: "{}"},
		store.Claim{Holder: "its maker", TTL: -time.Millisecond})
	b.ok(err)
	b.ok(b.s.Runs.PutItems(b.ctx, made.No, "questions", func(yield func(assay.Item, error) bool) {
		yield(assay.Item{ID: "1", Files: []assay.File{{As: "a", Name: "a", Sum: assay.Sum{3}}}}, nil)
	}))
	if dead, err := b.s.Runs.AbandonRun(b.ctx, made.No); !dead || err != nil {
		b.t.Fatalf("it is not dead: %v, %v", dead, err)
	}
	var got []assay.File
	for files, err := range read.Shown(b.ctx, b.s.Reader) {
		b.ok(err)
		got = append(got, files...)
	}
	if d := cmp.Diff(want, got); d != "" {
		b.t.Error(d)
	}
	for _, f := range want {
		one, err := read.File(b.ctx, b.s.Reader, b.run.No, f.Sum)
		b.ok(err)
		if d := cmp.Diff(f, one); d != "" {
			b.t.Error(d)
		}
	}
	if _, err := read.File(b.ctx, b.s.Reader, b.run.No, assay.Sum{9}); !errors.Is(err, store.ErrNotFound) {
		b.t.Errorf("a file that no item shows: %v", err)
	}
}
