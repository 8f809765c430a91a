package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

func verdicts(t *testing.T, fresh Fresh) {
	t.Run("verdicts are kept once, and stale ones can be given again", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		score := 0.25
		subject, other := b.attempt(0, 1).Key, b.attempt(0, 2).Key
		want := []store.Verdict{
			{Run: b.run.No, At: assay.Coordinates{Stage: "flips", Item: "q1", Lane: "gpt", Judge: "judge"}, Subject: subject,
				State: assay.VerdictValid, Label: "flip", Reason: "be\x00cause", Segment: 1, Ord: 0},
			{Run: b.run.No, At: assay.Coordinates{Stage: "flips", Item: "q2", Lane: "gpt", Judge: "judge"}, Subject: other,
				State: assay.VerdictMalformed, Again: 1},
			{Run: b.run.No, At: assay.Coordinates{Stage: "arena", Source: "answers", Item: "q2", Lane: "gpt", Against: "opus",
				Judge: "human:anna", Prompt: "plain", Trait: "wit", Vote: 2}, Subject: subject, Against: other, Direction: "ba",
				State: assay.VerdictValid, Score: &score, Fields: `{"x":1}`},
		}
		n, err := b.s.Runs.AddVerdicts(b.ctx, want)
		b.ok(err)
		if n != 3 {
			t.Errorf("%d new verdicts", n)
		}
		if n, err = b.s.Runs.AddVerdicts(b.ctx, want); n != 0 || err != nil {
			t.Errorf("again: %d new, %v", n, err)
		}
		got := b.verdicts("flips")
		want[0].Reason, want[0].Fields, want[1].Fields = "be\uFFFDcause", "{}", "{}"
		if d := cmp.Diff(want[:2], got, ignoreMade()); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(want[2:], b.verdicts("arena"), ignoreMade()); d != "" {
			t.Error(d)
		}
		on, err := b.s.Reader.VerdictsOn(b.ctx, b.run.No, []assay.Key{subject, want[1].At.Key()})
		b.ok(err)
		if d := cmp.Diff(map[assay.Key][]store.Verdict{subject: {want[0], want[2]}, want[1].At.Key(): {want[1]}}, on,
			ignoreMade()); d != "" {
			t.Errorf("on an answer, and of a judge's request: %s", d)
		}
		if n, err = b.s.Runs.Withdraw(b.ctx, b.run.No, []assay.Key{want[2].At.Key()}); n != 1 || err != nil {
			t.Errorf("%d became stale, %v", n, err)
		}
		if got := b.verdicts(""); len(got) != 2 {
			t.Errorf("%d verdicts count, want 2", len(got))
		}
		if n, err = b.s.Runs.AddVerdicts(b.ctx, want); n != 1 || err != nil {
			t.Errorf("given again: %d new, %v", n, err)
		}
	})
	t.Run("a verdict takes the place of a note that there was no answer", func(t *testing.T) { verdictAfterAll(t, fresh) })
	t.Run("people are known by name and may take back what they said", func(t *testing.T) { peoplesVerdicts(t, fresh) })
	t.Run("a valid verdict says something, and no other does", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		for _, v := range []store.Verdict{{State: assay.VerdictValid}, {State: assay.VerdictAbstained, Label: "a"},
			{State: "tie", Label: "a"}} {
			v.Run, v.At.Stage = b.run.No, "flips"
			if _, err := b.s.Runs.AddVerdicts(b.ctx, []store.Verdict{v}); err == nil {
				t.Errorf("%q with label %q was kept", v.State, v.Label)
			}
		}
	})
}

func peoplesVerdicts(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	of := func(judge, item string) store.Verdict {
		return store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "flips", Item: item, Judge: judge}, State: assay.VerdictValid,
			Label: "flip"}
	}
	all := []store.Verdict{of("judge", "q1"), of("human:zoe", "q1"), of("human:anna", "q1"), of("human:anna", "q2")}
	_, err := b.s.Runs.AddVerdicts(b.ctx, all)
	b.ok(err)
	who, err := b.s.Reader.People(b.ctx, b.run.No, "flips")
	b.ok(err)
	if d := cmp.Diff([]string{"human:anna", "human:zoe"}, who); d != "" {
		t.Error(d)
	}
	n, err := b.s.Runs.Withdraw(b.ctx, b.run.No, []assay.Key{all[0].At.Key(), all[1].At.Key(), all[2].At.Key()})
	b.ok(err)
	if left := b.verdicts("flips"); n != 2 || len(left) != 2 {
		t.Errorf("%d withdrawn, %d left: a model's verdict stays", n, len(left))
	}
	if n, err = b.s.Runs.AddVerdicts(b.ctx, all); n != 2 || err != nil {
		t.Errorf("said again: %d new, %v", n, err)
	}
}

func ignoreMade() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".No" || p.Last().String() == ".Given" }, cmp.Ignore())
}

func said(t *testing.T, fresh Fresh) {
	t.Run("what numbers need of verdicts is read as it was written, whatever the names", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		score, subject, other := 0.1, b.attempt(0, 1).Key, b.attempt(0, 2).Key
		want := []store.Verdict{
			{At: assay.Coordinates{Stage: "arena", Item: "q1", Source: "answers", Lane: "gpt", Against: "opus", Template: "a/b/c",
				Turn: 2, Branch: "doubt", Draw: 3, Judge: "judge", Prompt: "p/1", Trait: "wit", Vote: 4}, Subject: subject, Against: other,
				State: assay.VerdictValid, Label: "a b", Score: &score, Segment: 1},
			{At: assay.Coordinates{Stage: "arena", Item: "q2", Lane: "gpt"}, State: assay.VerdictExcluded},
			{At: assay.Coordinates{Stage: "arena", Item: "q\x1f3", Lane: "\x1fgpt\x1f", Turn: 1, Draw: 1, Judge: "human:\x1f"},
				State: assay.VerdictValid, Label: "a\x1f", Score: &score},
			{At: assay.Coordinates{Stage: "arena", Item: "q4", Lane: "gpt"}, State: assay.VerdictValid, Label: "\x1f", Again: 1, By: "b"},
		}
		for i := range want {
			want[i].Run = b.run.No
		}
		_, err := b.s.Runs.AddVerdicts(b.ctx,
			append(want, store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: "other"}, State: assay.VerdictMissing}))
		b.ok(err)
		want[2].Fields, want[3].Fields = "{}", "{}" // a name with the mark in it: the whole verdict was read
		for subjects, want := range map[store.Subjects][]store.Verdict{store.WithSubjects: want, store.WithoutSubjects: without(want)} {
			var got []store.Verdict
			for v, err := range b.s.Reader.VerdictRows(b.ctx, b.run.No, "arena", subjects) {
				b.ok(err)
				got = append(got, v)
			}
			if d := cmp.Diff(want, got, ignoreMade()); d != "" {
				t.Error(d)
			}
		}
	})
}

// without returns verdicts without their subjects.
func without(all []store.Verdict) []store.Verdict {
	all = slices.Clone(all)
	for i := range all {
		all[i].Subject, all[i].Against = assay.Key{}, assay.Key{}
	}
	return all
}

func (b *bench) verdicts(stage string) []store.Verdict {
	b.t.Helper()
	var all []store.Verdict
	for v, err := range b.s.Reader.Verdicts(b.ctx, b.run.No, stage) {
		b.ok(err)
		all = append(all, v)
	}
	return all
}

func orders(t *testing.T, fresh Fresh) {
	t.Run("an order wakes the run and is obeyed once", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		b.ok(b.s.Leases.RunDue(b.ctx, b.run.No, time.Time{}))
		no, err := b.s.Runs.PutOrder(b.ctx, store.Order{Run: b.run.No, Kind: store.OrderCancel, Args: "{}", By: "anna"})
		b.ok(err)
		if work, err := b.s.Leases.Due(b.ctx, 0, 9); err != nil || len(work) != 1 {
			t.Errorf("due after an order: %v, %v", work, err)
		}
		if _, err := b.s.Runs.PutOrder(b.ctx, store.Order{Run: b.run.No, Kind: store.OrderResolve, Args: "{}"}); err == nil {
			t.Error("a resolve without a segment was taken")
		}
		all, err := b.s.Reader.Orders(b.ctx, b.run.No)
		b.ok(err)
		if len(all) != 1 || all[0].No != no || all[0].By != "anna" {
			t.Fatalf("orders: %+v", all)
		}
		b.ok(b.s.Work.FinishOrder(b.ctx, no, "2 jobs cancelled"))
		b.ok(b.s.Work.FinishOrder(b.ctx, no, "twice"))
		o, err := b.s.Reader.Order(b.ctx, no)
		b.ok(err)
		if o.Answer != "2 jobs cancelled" || o.Obeyed.IsZero() {
			t.Errorf("order: %+v", o)
		}
	})
	t.Run("a comment is kept with its answer, and taken back by its author", func(t *testing.T) { comments(t, fresh) })
	t.Run("a redo is one more draw, written once, and opens a closed run", func(t *testing.T) { redos(t, fresh) })
	t.Run("gates shut for longer each time, and open", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		until := b.clock.now().Add(time.Minute)
		for range 2 {
			b.ok(b.s.Limits.ShutGate(b.ctx, store.Gate{Account: "k", Model: "m", Until: until, Reason: "token limit"}))
		}
		g, err := b.s.Limits.GateOf(b.ctx, "k", "m")
		b.ok(err)
		if d := cmp.Diff(store.Gate{Account: "k", Model: "m", Until: until, Failures: 2, Reason: "token limit"}, g); d != "" {
			t.Error(d)
		}
		b.ok(b.s.Limits.OpenGate(b.ctx, "k", "m"))
		if g, err = b.s.Limits.GateOf(b.ctx, "k", "m"); err != nil || g.Failures != 0 {
			t.Errorf("gate: %+v, %v", g, err)
		}
	})
	t.Run("lanes, canaries, groups and named values keep what they are reported", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		b.ok(b.s.Work.SetLane(b.ctx, b.run.No, "answers", "gpt",
			store.LaneStop{State: store.LaneStopped, Cause: store.CauseAccount, Reason: "no money"}))
		// that is not why it is stopped
		b.ok(b.s.Work.SetLane(b.ctx, b.run.No, "answers", "gpt", store.LaneStop{State: store.LaneOpen, From: store.CauseUser}))
		moved, err := b.s.Work.SetCanary(b.ctx, b.run.No, "answers", "gpt", store.CanaryDue, store.CanaryAsked)
		again, err2 := b.s.Work.SetCanary(b.ctx, b.run.No, "answers", "gpt", store.CanaryDue, store.CanaryAsked)
		b.ok(errors.Join(err, err2))
		l := b.lane("gpt")
		if !moved || again || l.State != store.LaneStopped || l.Cause != store.CauseAccount || l.Reason != "no money" ||
			l.Canary != store.CanaryAsked {
			t.Errorf("lane: %+v, moved %v, again %v", l, moved, again)
		}
		want := store.Group{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 2}, First: b.clock.now()}
		b.ok(b.s.Work.PutGroup(b.ctx,
			store.Group{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 2}, Complete: true}))
		b.ok(b.s.Work.PutGroup(b.ctx, want))
		groups, err := b.s.Reader.Groups(b.ctx, b.run.No)
		b.ok(err)
		if d := cmp.Diff([]store.Group{want}, groups); d != "" {
			t.Error(d)
		}
		for _, v := range []string{"first", "second"} {
			if got, err := b.s.Runs.SetMeta(b.ctx, "artifacts", v); got != "first" || err != nil {
				t.Errorf("meta: %q, %v", got, err)
			}
		}
	})
}

func comments(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	for _, text := range []string{"too long\x00", "fine"} {
		b.ok(b.s.Runs.AddComment(b.ctx, store.Comment{Run: b.run.No, Key: assay.Key{7}, Item: "7", Person: "human:ann", Text: text}))
	}
	read := func() (out []string) {
		all, err := b.s.Pages.Comments(b.ctx, b.run.No, []string{"6", "7"})
		b.ok(err)
		for _, c := range all {
			if c.Key != (assay.Key{7}) || c.Person != "human:ann" || c.At.IsZero() {
				t.Errorf("%+v", c)
			}
			was, err := b.s.Runs.WithdrawComment(b.ctx, b.run.No, c.No, "human:ben")
			if b.ok(err); was {
				t.Error("another person takes it back")
			}
			if c.Text == "fine" {
				_, err = b.s.Runs.WithdrawComment(b.ctx, b.run.No, c.No, "human:ann")
				b.ok(err)
			}
			out = append(out, c.Text)
		}
		return out
	}
	if first, then := read(), read(); len(first) != 2 || len(then) != 1 || strings.Contains(then[0], "\x00") {
		t.Errorf("%q, then %q", first, then)
	}
}

func redos(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	l, err := b.s.Leases.HoldRun(b.ctx, b.run.No, "me", ttl)
	b.ok(err)
	r, err := b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	b.ok(b.s.Work.PutGroup(b.ctx,
		store.Group{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}, Complete: true}))
	b.ok(b.s.Work.CloseRun(b.ctx, l, r.Due, store.ResultDone))
	redo := store.Redo{Run: b.run.No, Stage: "answers", Lane: "gpt", Item: "7", Branch: "doubt", Draw: 2}
	var want []store.Redo
	for nth := 1; nth <= 2; nth++ {
		no, err := b.s.Runs.PutOrder(b.ctx, store.Order{Run: b.run.No, Kind: store.OrderRedo, Args: "{}", By: "anna"})
		b.ok(err)
		for range 2 {
			b.ok(b.s.Work.AddRedo(b.ctx, no, redo, []store.Share{{Stage: "answers", Lane: "gpt", Requests: 3}}))
		}
		redo.Nth = nth
		want = append(want, redo)
	}
	got, err := b.s.Reader.Redos(b.ctx, b.run.No)
	b.ok(err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	groups, err := b.s.Reader.Groups(b.ctx, b.run.No)
	b.ok(err)
	r, err = b.s.Reader.Run(b.ctx, b.run.No)
	b.ok(err)
	if n := b.lane("gpt").Planned; n != 1006 || groups[0].Complete || r.State != store.RunOpen || r.Due.IsZero() {
		t.Errorf("planned %d, group %+v, run %s due %s", n, groups[0], r.State, r.Due)
	}
}

func reading(t *testing.T, fresh Fresh) {
	t.Run("the tables for people count requests once, and lanes at zero too", func(t *testing.T) { views(t, fresh) })
	t.Run("tokens that replies did not say are unknown", func(t *testing.T) { unknownUsage(t, fresh) })
	t.Run("what answers took is summed up", func(t *testing.T) { took(t, fresh) })
	t.Run("a person's query cannot write", func(t *testing.T) { t.Parallel(); readOnly(t, fresh) })
	t.Run("equal requests of other runs can be reused", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 3), store.Fetched)
		b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Errored), b.outcome(g, 2, assay.Refused))
		var asked []store.Question
		for _, i := range []int{0, 1, 2, 9} {
			a := b.attempt(0, i)
			asked = append(asked, store.Question{Key: a.Key, At: a.At, Digest: a.Digest})
		}
		next := b.newRun("r2", nil)
		tests := []struct {
			from store.ReuseFrom
			want int
		}{
			{store.ReuseFrom{Run: next.No, Study: "demo"}, 2}, {store.ReuseFrom{Run: next.No, From: []int64{b.run.No}}, 2},
			{store.ReuseFrom{Run: next.No, Study: "other"}, 0}, {store.ReuseFrom{Run: b.run.No, Study: "demo"}, 0},
			{store.ReuseFrom{Run: next.No, Study: "demo", Since: b.clock.now().Add(time.Second)}, 0},
		}
		for _, tt := range tests {
			found, err := b.s.Reuse.Reusable(b.ctx, tt.from, asked)
			b.ok(err)
			if len(found) != tt.want {
				t.Errorf("%+v: %d found, want %d", tt.from, len(found), tt.want)
			}
		}
	})
	t.Run("an answer is not given to another item while its own is asked", func(t *testing.T) { t.Parallel(); ownAnswers(t, fresh) })
	t.Run("answers are read by key", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 2), store.Fetched)
		b.settle(g, b.outcome(g, 0, assay.Answered))
		var refs []assay.Ref
		for i := range 3 {
			a := b.attempt(0, i)
			refs = append(refs, assay.Ref{Item: a.At.Item, Key: a.Key})
		}
		found, err := b.s.Reader.AnswersTo(b.ctx, b.run.No, refs)
		b.ok(err)
		if len(found) != 2 || found[refs[0].Key].Outcome.Text != "text of q0" || found[refs[1].Key].Ended {
			t.Errorf("answers: %+v", found)
		}
		asked, err := b.s.Reader.Asked(b.ctx, b.run.No, refs)
		b.ok(err)
		if d := cmp.Diff(map[assay.Key]int64{refs[0].Key: 1, refs[1].Key: 1}, asked); d != "" {
			t.Error(d)
		}
	})
	t.Run("few attempts of a group are read at once", func(t *testing.T) { t.Parallel(); askedOf(t, fresh) })
	t.Run("strays are kept once each", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		g := b.to(b.staged(store.Batch, 1), store.Ended)
		no, err := b.s.Work.AddArtifact(b.ctx, g.Lease, store.Artifact{Name: "out", Kind: "results"})
		b.ok(err)
		strays := []store.Stray{{Artifact: no, Offset: 0, Kind: store.StrayUnknown, CustomID: strings.Repeat("é", 300) + "\x00"},
			{Artifact: no, Offset: 9, Kind: store.StrayForeign}}
		for range 2 {
			b.ok(b.s.Work.AddStrays(b.ctx, g.Lease, strays))
		}
		got := b.table(`SELECT kind, COUNT(*) FROM strays GROUP BY kind ORDER BY kind`)
		if d := cmp.Diff([]string{string(store.StrayForeign) + " 1", string(store.StrayUnknown) + " 1"}, got); d != "" {
			t.Error(d)
		}
	})
}

// table runs a query and spells every row.
func (b *bench) table(text string) []string {
	b.t.Helper()
	var rows []string
	b.ok(b.s.Reader.Query(b.ctx, text, func(_ []string, values []any) error {
		var cells []string
		for _, v := range values {
			if bytes, ok := v.([]byte); ok {
				v = string(bytes)
			}
			cells = append(cells, fmt.Sprint(v))
		}
		rows = append(rows, strings.Join(cells, " "))
		return nil
	}))
	return rows
}
