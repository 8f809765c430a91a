package storetest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func settling(t *testing.T, fresh Fresh) {
	t.Run("settling again changes nothing", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 4), store.Fetched)
		all := []store.Settlement{b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Cut), b.outcome(g, 2, assay.Rejected),
			b.outcome(g, 3, assay.Empty)}
		b.settle(g, all[:2]...)
		if tally := b.settle(g, append(all, all...)...); tally.Written != 2 {
			t.Errorf("%d new outcomes, want 2", tally.Written)
		}
		changed := b.outcome(g, 0, assay.Errored)
		if tally := b.settle(g, changed); tally.Written != 0 {
			t.Error("an outcome was replaced")
		}
		want := map[assay.Ending]int64{assay.Answered: 1, assay.Cut: 1, assay.Rejected: 1, assay.Empty: 1}
		if d := cmp.Diff(want, b.segmentNow(g).Endings); d != "" {
			t.Error(d)
		}
		lane := b.lane("gpt")
		if d := cmp.Diff(want, lane.Endings); d != "" {
			t.Error(d)
		}
		if lane.Open != 0 || lane.CacheHits != 2 {
			t.Errorf("lane: %d open, %d cache hits", lane.Open, lane.CacheHits)
		}
		places, err := b.s.Work.AttemptPlaces(b.ctx, g.No, 0)
		b.ok(err)
		for key, place := range places {
			if !place.Done || key != all[place.Ord].Key {
				t.Errorf("place %+v of %s", place, key)
			}
		}
	})
	t.Run("an outcome comes back as it went in", func(t *testing.T) { roundTrip(t, fresh) })
	t.Run("everything open can be ended at once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 5), store.Fetched)
		none, err := b.s.Work.AttemptPlaces(b.ctx, g.No, 0)
		b.ok(err)
		b.settle(g, b.outcome(g, 1, assay.Answered))
		some, err := b.s.Work.AttemptPlaces(b.ctx, g.No, 0)
		b.ok(err)
		for key, place := range some {
			if none[key].Done || place.Done != (place.Ord == 1) {
				t.Errorf("with one of them settled: place %+v, before it %+v", place, none[key])
			}
		}
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease, store.EndOpen{Ending: assay.Expired, Message: "ran out of time"}))
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease, store.EndOpen{Ending: assay.Lost, Message: "nothing is open"}))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 1, assay.Expired: 4}, b.segmentNow(g).Endings); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 1, assay.Expired: 4}, b.lane("gpt").Endings); d != "" {
			t.Error(d)
		}
	})
	t.Run("a whole segment of thousands settles in blocks", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 2500), store.Fetched)
		var block []store.Settlement
		for a, err := range b.s.Reader.OpenAttempts(b.ctx, g.No, 0) {
			b.ok(err)
			block = append(block, settlement(a, assay.Answered))
		}
		b.settle(g, block...)
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		if n := b.segmentNow(g).Endings[assay.Answered]; n != 2500 {
			t.Errorf("%d answered", n)
		}
	})
}

func roundTrip(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 4), store.Ended)
	no, err := b.s.Work.AddArtifact(b.ctx, g.Lease,
		store.Artifact{Name: "out.jsonl", Kind: "results", Part: "output", Size: 10, SHA256: "aa"})
	b.ok(err)
	same, err := b.s.Work.AddArtifact(b.ctx, g.Lease,
		store.Artifact{Name: "out.jsonl", Kind: "results", Part: "output", Size: 12, SHA256: "bb"})
	b.ok(err)
	if no != same {
		t.Error("one name became two artifacts")
	}
	b.ok(b.s.Work.Fetched(b.ctx, g.Lease, b.clock.now()))
	want := []store.Settlement{b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Answered), b.outcome(g, 2, assay.Errored),
		b.outcome(g, 3, assay.Answered)}
	want[0].Outcome = assay.Outcome{Ending: assay.Answered, Text: "täxt", Thoughts: "hm", Finish: "stop", Model: "m", RequestID: "r",
		Tier: "batch", Usage: assay.Usage{Known: true, Input: 9, Cached: 1, CacheWrite5m: 2, CacheWrite1h: 3, Output: 4, Reasoning: 1},
		Likely: []assay.Likely{{Token: "tä\x00\n", Logprob: -0.125}, {Token: "\"", Logprob: -2}}}
	want[0].Artifact, want[0].Offset, want[0].Length, want[0].Sum = no, 5, 7, 1<<32-1
	want[1].Outcome.Text, want[1].Outcome.Usage, want[1].Cost = "nul \x00 and \xff bytes", assay.Usage{}, nil
	want[3].Outcome.Text, want[3].Artifact = strings.Repeat("x", 70_000), no
	b.settle(g, want...)
	if got, err := b.s.Reader.Segment(b.ctx, g.No); err != nil || got.WrittenTokens != 5+want[3].Outcome.Usage.Written() {
		t.Errorf("%d tokens were written to a cache: %v", got.WrittenTokens, err)
	}
	want[1].Outcome.Text = "nul \uFFFD and \uFFFD bytes"
	want[3].Outcome.Text = ""
	i := 0
	for a, err := range b.s.Reader.Answers(b.ctx, b.run.No, "answers", "gpt") {
		b.ok(err)
		got := store.Settlement{Ord: a.Ord, Key: a.Key, Outcome: a.Outcome, Cost: a.Cost, Artifact: a.Artifact, Offset: a.Offset,
			Length: a.Length, Sum: a.Sum}
		if d := cmp.Diff(want[i], got); d != "" {
			t.Errorf("outcome %d: %s", i, d)
		}
		if a.Over != (i == 3) || !a.Ended || !a.Settled.Equal(b.clock.now()) {
			t.Errorf("outcome %d: over %v, ended %v, settled %s", i, a.Over, a.Ended, a.Settled)
		}
		i++
	}
	if i != 4 {
		t.Errorf("%d answers", i)
	}
}

// resend stages what is on the queue as a new segment.
func (b *bench) resend() store.Segment {
	b.t.Helper()
	g, err := b.s.Work.AddSegment(b.ctx, store.NewSegment{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1},
		Mode: store.Batch, Purpose: store.ForAgain, Provider: "openai", Model: "gpt-5", Nonce: "bbbbbbbbbb"}, "me", ttl)
	b.ok(err)
	var attempts []store.Attempt
	for r, err := range b.s.Reader.Resends(b.ctx, b.run.No) {
		b.ok(err)
		r.Attempt.Ord = int64(len(attempts))
		attempts = append(attempts, r.Attempt)
	}
	if len(attempts) == 0 {
		b.t.Fatal("nothing is to be sent again")
	}
	b.ok(b.s.Work.AddAttempts(b.ctx, g.Lease, attempts))
	return b.stage(g)
}

func (b *bench) queued() int {
	b.t.Helper()
	n := 0
	for _, err := range b.s.Reader.Resends(b.ctx, b.run.No) {
		b.ok(err)
		n++
	}
	return n
}

func again(t *testing.T, fresh Fresh) {
	t.Run("what failed goes out again until its cap", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		wish := &store.Again{Mode: store.Batch, After: b.clock.now(), Cause: "errored", Cap: 1}
		g := b.to(b.staged(store.Batch, 2), store.Fetched)
		bad := b.outcome(g, 1, assay.Errored)
		bad.Again = wish
		b.settle(g, b.outcome(g, 0, assay.Answered), bad)
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		if n := b.queued(); n != 1 {
			t.Fatalf("%d on the queue, want 1", n)
		}
		h := b.resend()
		if n := b.queued(); n != 0 {
			t.Errorf("%d stay on the queue", n)
		}
		if l := b.lane("gpt"); l.Open != 1 || l.Endings[assay.Errored] != 0 {
			t.Errorf("lane while it is in flight again: %+v", l)
		}
		h = b.to(h, store.Fetched)
		bad = b.outcome(h, 0, assay.Errored)
		bad.Again = wish
		b.settle(h, bad)
		if n := b.queued(); n != 0 {
			t.Errorf("%d on the queue beyond the cap", n)
		}
		if l := b.lane("gpt"); l.Open != 0 || l.Endings[assay.Errored] != 1 || l.Endings[assay.Answered] != 1 {
			t.Errorf("lane at the end: %+v", l)
		}
		n, err := b.s.Work.SendAgain(b.ctx, b.run.No, store.Again{Mode: store.Live, After: b.clock.now(), Cause: "asked"},
			assay.Errored, assay.Lost)
		b.ok(err)
		if n != 1 || b.queued() != 1 {
			t.Errorf("a person's retry queued %d, %d are there", n, b.queued())
		}
		now := b.clock.now().Truncate(time.Millisecond).UTC()
		queues, err := b.s.Work.Queues(b.ctx, b.run.No)
		b.ok(err)
		if d := cmp.Diff([]store.Queue{{GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}, Mode: store.Live, Requests: 1,
			First: now, Last: now}}, queues); d != "" {
			t.Errorf("queues (-want +got):\n%s", d)
		}
	})
	t.Run("a whole job that ran out of time goes out again, once per cap", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 3), store.Fetched)
		end := store.EndOpen{Ending: assay.Expired, Message: "expired",
			Again: &store.Again{Mode: store.Batch, After: b.clock.now(), Cap: 2}}
		for want := range 3 {
			b.ok(b.s.Work.EndOpen(b.ctx, g.Lease, end))
			b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
			if want == 2 {
				break
			}
			g = b.to(b.resend(), store.Fetched)
		}
		if n := b.queued(); n != 0 {
			t.Errorf("%d on the queue after two resends", n)
		}
	})
	t.Run("only what is on the queue is sent again", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 1), store.Fetched)
		b.settle(g, b.outcome(g, 0, assay.Answered))
		h, err := b.s.Work.AddSegment(b.ctx, store.NewSegment{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt"},
			Mode: store.Batch, Purpose: store.ForAgain}, "me", ttl)
		b.ok(err)
		a := b.attempt(0, 0)
		a.Try = 2
		b.ok(b.s.Work.AddAttempts(b.ctx, h.Lease, []store.Attempt{a}))
		if err := b.s.Work.Stage(b.ctx, h.Lease, store.Bytes{Name: "n", Size: 1, SHA256: "x"}, 0, 0, b.clock.now()); !errors.Is(err,
			store.ErrAnswered) {
			t.Errorf("an answered request was staged again: %v", err)
		}
	})
}

func late(t *testing.T, fresh Fresh) {
	t.Run("a late answer stands where there is none", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 2), store.Fetched)
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease,
			store.EndOpen{Ending: assay.Lost, Message: "gone", Again: &store.Again{Mode: store.Batch, After: b.clock.now(), Cap: 1}}))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		keys, err := b.s.Work.LateKeys(b.ctx, g.No)
		b.ok(err)
		if len(keys) != 2 {
			t.Errorf("%d given up, want 2", len(keys))
		}
		for range 2 { // once, however often it is called
			_, err := b.s.Work.SettleLate(b.ctx, g.Lease, []store.Settlement{b.outcome(g, 0, assay.Answered)})
			b.ok(err)
		}
		if n := b.queued(); n != 1 {
			t.Errorf("%d on the queue, want 1: the answered one left it", n)
		}
		if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 1, assay.Lost: 1}, b.segmentNow(g).Endings); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(map[assay.Ending]int64{assay.Answered: 1, assay.Lost: 1}, b.lane("gpt").Endings); d != "" {
			t.Error(d)
		}
		r, err := b.s.Reader.Run(b.ctx, b.run.No)
		b.ok(err)
		if r.Spent != 1000 {
			t.Errorf("spent %d", r.Spent)
		}
	})
	t.Run("a late answer beside a second try makes the other one surplus", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 1), store.Fetched)
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease,
			store.EndOpen{Ending: assay.Lost, Message: "gone", Again: &store.Again{Mode: store.Batch, After: b.clock.now(), Cap: 1}}))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		h := b.to(b.resend(), store.Fetched)
		_, err := b.s.Work.SettleLate(b.ctx, g.Lease, []store.Settlement{b.outcome(g, 0, assay.Answered)})
		b.ok(err)
		if l := b.lane("gpt"); l.Open != 0 || l.Endings[assay.Answered] != 1 {
			t.Errorf("lane after the late answer: %+v", l)
		}
		if tally := b.settle(h, b.outcome(h, 0, assay.Answered)); tally.Surplus != 1 {
			t.Errorf("tally: %+v", tally)
		}
		b.ok(b.s.Work.Finish(b.ctx, h.Lease, time.Time{}))
		if l := b.lane("gpt"); l.Endings[assay.Answered] != 1 || l.Surplus != 1 || l.Open != 0 {
			t.Errorf("lane at the end: %+v", l)
		}
		n := 0
		for a, err := range b.s.Reader.Answers(b.ctx, b.run.No, "", "") {
			b.ok(err)
			if n++; a.Segment != g.No {
				t.Error("the second answer replaced the first")
			}
		}
		if n != 1 {
			t.Errorf("%d answers to one request", n)
		}
	})
	lateAndSecondTries(t, fresh)
	lateMoney(t, fresh)
}

func lateMoney(t *testing.T, fresh Fresh) {
	t.Run("a late answer frees what was set aside for it, and opens groups that were complete", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 3), store.Fetched)
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease, store.EndOpen{Ending: assay.Lost, Message: "gone"}))
		b.ok(b.s.Work.FinishUnpriced(b.ctx, g.Lease, time.Time{}, 9000))
		b.ok(b.s.Work.PutGroup(b.ctx,
			store.Group{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 2}, Complete: true}))
		for ord, left := range []assay.Money{9000, 6500, 4000} { // the first is of unknown cost
			o := b.outcome(g, int64(ord), assay.Answered)
			o.Aside = 2500
			if ord == 0 {
				o.Cost = nil
			}
			_, err := b.s.Work.SettleLate(b.ctx, g.Lease, []store.Settlement{o})
			b.ok(err)
			r, err := b.s.Reader.Run(b.ctx, b.run.No)
			b.ok(err)
			if r.Perhaps != left || b.segmentNow(g).Aside != left {
				t.Errorf("after %d: %d are perhaps spent, %d of the segment; want %d", ord, r.Perhaps, b.segmentNow(g).Aside, left)
			}
		}
		if groups, err := b.s.Reader.Groups(b.ctx, b.run.No); err != nil || len(groups) != 1 || groups[0].Complete {
			t.Errorf("groups %+v, %v", groups, err)
		}
	})
}

func lateAndSecondTries(t *testing.T, fresh Fresh) {
	t.Run("late results are awaited of what was given up and has no answer", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 5), store.Fetched)
		b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Empty))
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease,
			store.EndOpen{Ending: assay.Lost, Message: "gone", Again: &store.Again{Mode: store.Batch, After: b.clock.now(), Cap: 1}}))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		h := b.to(b.resend(), store.Fetched)
		b.settle(h, b.outcome(h, 0, assay.Answered)) // place 2 of the first job
		_, err := b.s.Work.SettleLate(b.ctx, g.Lease, []store.Settlement{b.outcome(g, 3, assay.Errored)})
		b.ok(err)
		keys, err := b.s.Work.LateKeys(b.ctx, g.No)
		b.ok(err)
		if d := cmp.Diff([]int64{4}, slices.Sorted(maps.Values(keys))); d != "" {
			t.Errorf("places that are awaited: %s", d)
		}
	})
	t.Run("a second try that fails takes nothing from a late answer", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 1), store.Fetched)
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease,
			store.EndOpen{Ending: assay.Lost, Message: "gone", Again: &store.Again{Mode: store.Batch, After: b.clock.now(), Cap: 1}}))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		h := b.to(b.resend(), store.Fetched)
		b.staged(store.Batch, 5) // others in flight
		_, err := b.s.Work.SettleLate(b.ctx, g.Lease, []store.Settlement{b.outcome(g, 0, assay.Answered)})
		b.ok(err)
		b.settle(h, b.outcome(h, 0, assay.Errored))
		if l := b.lane("gpt"); l.Open != 5 || l.Endings[assay.Answered] != 1 || l.Endings[assay.Errored] != 0 {
			t.Errorf("lane: %+v", l)
		}
	})
	t.Run("a late answer stops a second try that has not gone", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 1), store.Fetched)
		b.ok(b.s.Work.EndOpen(b.ctx, g.Lease,
			store.EndOpen{Ending: assay.Expired, Message: "x", Again: &store.Again{Mode: store.Batch, After: b.clock.now(), Cap: 1}}))
		b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
		h := b.to(b.resend(), store.Uploaded)
		_, err := b.s.Work.SettleLate(b.ctx, g.Lease, []store.Settlement{b.outcome(g, 0, assay.Answered)})
		b.ok(err)
		if err := b.s.Work.Intend(b.ctx, h.Lease, store.Intent{Account: "k"}); !errors.Is(err, store.ErrAnswered) {
			t.Errorf("intend: %v", err)
		}
		b.ok(b.s.Work.Drop(b.ctx, h.Lease, "answered by now"))
		if l := b.lane("gpt"); l.Open != 0 || l.Endings[assay.Answered] != 1 || l.Endings[assay.Cancelled] != 0 {
			t.Errorf("lane: %+v", l)
		}
	})
}
