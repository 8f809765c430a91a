package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// superseding edits a study so that some requests of a run are others.
func superseding(t *testing.T, fresh Fresh) {
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 4), store.Fetched)
	failed := b.outcome(g, 2, assay.Errored)
	failed.Again = &store.Again{Mode: store.Batch, After: b.clock.now(), Cause: "errored", Cap: 1}
	b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Answered), failed, b.outcome(g, 3, assay.Expired))
	b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
	keys := make([]assay.Key, 4)
	for i := range keys {
		keys[i] = b.attempt(0, i).Key
	}
	said := func(stage string, subject assay.Key, judge string) store.Verdict {
		return store.Verdict{Run: b.run.No, At: assay.Coordinates{Stage: stage, Source: "answers", Item: judge, Lane: "gpt", Turn: 1, Judge: judge}, Subject: subject, State: assay.VerdictValid, Label: "yes"}
	}
	_, err := b.s.Runs.AddVerdicts(b.ctx, []store.Verdict{said("fine", keys[0], "j"), said("fine", keys[1], "k"), said("other", keys[1], "rule"), said("other", keys[1], "human:ada")})
	b.ok(err)
	before := b.lane("gpt")
	spent := b.table("SELECT spent_nano FROM runs")

	r := store.Revision{Run: b.run.No, Was: b.run.Digest, Is: "new", Settings: "{}", What: "prompt of stage answers", More: &store.More{
		Lanes: []store.Lane{before}, Supersedes: &store.Superseding{Requests: []assay.Key{keys[0], keys[2], keys[3]}, Stages: []string{"other"}},
	}}
	r.Lease, err = b.s.Leases.HoldRun(b.ctx, b.run.No, "me", ttl)
	b.ok(err)
	asleep, err := b.s.Work.AddSegment(b.ctx, store.NewSegment{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}, Mode: store.Batch,
		Purpose: store.ForWave, Provider: "openai", Model: "gpt-5", Nonce: "bbbbbbbbbb"}, "another", ttl)
	b.ok(err)
	// Nothing happens while one of them is in flight.
	away := b.resend()
	if _, err := b.s.Runs.Revise(b.ctx, r); !errors.Is(err, store.ErrInFlight) {
		t.Fatal("one of them is in flight:", err)
	}
	if rows := b.table("SELECT COUNT(*) FROM edits UNION ALL SELECT COUNT(*) FROM attempts WHERE superseded > 0 UNION ALL SELECT COUNT(*) FROM verdicts WHERE stale > 0"); !slices.Equal(rows, []string{"0", "0", "0"}) {
		t.Errorf("half of it is written: %q", rows)
	}
	b.ok(b.s.Work.Drop(b.ctx, away.Lease, "not wanted"))
	done, err := b.s.Runs.Revise(b.ctx, r)
	if err != nil || !done {
		t.Fatal(done, err)
	}
	if run, err := b.s.Reader.Run(b.ctx, b.run.No); err != nil || run.Edits != 1 {
		t.Errorf("%d edits, %v", run.Edits, err)
	}
	// A process that was cutting requests of the old study meanwhile cannot send them.
	if err := b.s.Work.AddAttempts(b.ctx, asleep.Lease, []store.Attempt{b.attempt(0, 3)}); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("a request of the old study was cut: %v", err)
	}
	b.isSuperseded(keys, before)
	if now := b.table("SELECT spent_nano FROM runs"); !slices.Equal(now, spent) {
		t.Errorf("%s is spent, was %s", now, spent)
	}
	b.asksAgain(keys)
}

// isSuperseded wants all requests but the second to count as never asked.
func (b *bench) isSuperseded(keys []assay.Key, before store.Lane) {
	b.t.Helper()
	l := b.lane("gpt")
	if l.Open != 0 || l.Ended() != 1 || l.Endings[assay.Answered] != 1 || l.CacheHits != 1 || before.Ended() != 4 || before.CacheHits != 2 {
		b.t.Errorf("the lane has %+v", l)
	}
	asked, err := b.s.Reader.Asked(b.ctx, b.run.No, keys)
	b.ok(err)
	few, _, err := b.s.Work.AskedOf(b.ctx, store.Group{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}}, 100)
	b.ok(err)
	sent, err := b.s.Reader.Sent(b.ctx, b.run.No, keys)
	b.ok(err)
	standing, err := b.s.Reader.AnswersTo(b.ctx, b.run.No, keys)
	b.ok(err)
	for name, n := range map[string]int{"asked": len(asked), "asked of the group": len(few), "sent": len(sent), "standing": len(standing), "queued": b.queued() + 1} {
		if n != 1 {
			b.t.Errorf("%s: %d, want 1", name, n)
		}
	}
	causes, err := b.s.Pages.Causes(b.ctx, b.run.No, 10)
	late, lost := b.s.Work.LateKeys(b.ctx, standing[keys[1]].Segment)
	again, failed := b.s.Work.SendAgain(b.ctx, b.run.No, store.Again{Mode: store.Batch, Cause: "a person"}, assay.Errored, assay.Expired)
	if err := errors.Join(err, lost, failed); err != nil || len(causes)+len(late) > 0 || again != 0 {
		b.t.Errorf("%v, %v, %d, %v", causes, late, again, err)
	}
	for text, want := range map[string][]string{
		"SELECT item FROM answers":        {"q1"},
		"SELECT COUNT(*) FROM run_errors": {"0"},
		"SELECT item, ending, edit, superseded_by FROM superseded_answers ORDER BY item, attempt": {"q0 answered 1 prompt of stage answers", "q2 errored 1 prompt of stage answers", "q2 cancelled 1 prompt of stage answers", "q3 expired 1 prompt of stage answers"},
		"SELECT judge FROM verdicts_named ORDER BY judge":                                         {"human:ada", "k"},
		"SELECT judge, superseded FROM verdicts WHERE stale = 1 ORDER BY judge":                   {"j 1", "rule 1"},
	} {
		if d := cmp.Diff(want, b.table(text)); d != "" {
			b.t.Errorf("%s: %s", text, d)
		}
	}
	edits, err := b.s.Reader.Edits(b.ctx, b.run.No)
	b.ok(err)
	if len(edits) != 1 || edits[0].Requests != 3 || edits[0].Verdicts != 2 {
		b.t.Errorf("%+v", edits)
	}
}

// asksAgain sends a superseded request anew.
func (b *bench) asksAgain(keys []assay.Key) {
	b.t.Helper()
	g, err := b.s.Work.AddSegment(b.ctx, store.NewSegment{Run: b.run.No, GroupKey: store.GroupKey{Stage: "answers", Lane: "gpt", Turn: 1}, Mode: store.Batch,
		Purpose: store.ForWave, Provider: "openai", Model: "gpt-5", Nonce: "cccccccccc"}, "me", ttl)
	b.ok(err)
	b.ok(b.s.Work.AddAttempts(b.ctx, g.Lease, []store.Attempt{b.attempt(0, 0)}))
	g = b.to(b.stage(g), store.Fetched)
	o := b.outcome(g, 0, assay.Answered)
	o.Outcome.Text = "the new one"
	if tally := b.settle(g, o); tally.Written != 1 || tally.Surplus != 0 {
		b.t.Errorf("%+v", tally)
	}
	b.ok(b.s.Work.Finish(b.ctx, g.Lease, time.Time{}))
	now, err := b.s.Reader.AnswersTo(b.ctx, b.run.No, keys)
	b.ok(err)
	tries, err := b.s.Pages.Tries(b.ctx, b.run.No, keys[0])
	b.ok(err)
	if len(now) != 2 || now[keys[0]].Outcome.Text != "the new one" || len(tries) != 1 {
		b.t.Errorf("%d stand, %q, %d tries", len(now), now[keys[0]].Outcome.Text, len(tries))
	}
	var old []string
	for a, err := range b.s.Reader.Superseded(b.ctx, b.run.No, &keys[0]) {
		b.ok(err)
		old = append(old, a.Outcome.Text+" "+a.What)
	}
	verdicts, err := b.s.Reader.SupersededVerdicts(b.ctx, b.run.No, keys[0])
	b.ok(err)
	if d := cmp.Diff([]string{"text of q0 prompt of stage answers"}, old); d != "" || len(verdicts) != 1 || verdicts[0].Superseded != 1 {
		b.t.Errorf("%s %+v", d, verdicts)
	}
	if l := b.lane("gpt"); l.Ended() != 2 || l.Open != 0 {
		b.t.Errorf("the lane has %+v", l)
	}
}
