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

func pages(t *testing.T, fresh Fresh) {
	t.Run("pages of answers hold every request once, in order, whatever the filter", func(t *testing.T) { answerPages(t, fresh) })
	t.Run("pages of verdicts hold every verdict once, in order, whatever the filter", func(t *testing.T) { verdictPages(t, fresh) })
	t.Run("what is known about items comes item by item, in the order of bytes", func(t *testing.T) { itemFacts(t, fresh) })
	t.Run("answers are found by words, block by block", func(t *testing.T) { searches(t, fresh) })
	t.Run("runs, segments and events are read backwards", func(t *testing.T) { backwards(t, fresh) })
	t.Run("jobs are listed with their segments and runs", func(t *testing.T) { jobLists(t, fresh) })
	t.Run("a request is found by the beginning of its key, with its whole life", func(t *testing.T) { requestLives(t, fresh) })
	t.Run("what a run found is kept", func(t *testing.T) { headlines(t, fresh) })
	t.Run("a version changes with whatever a page shows", func(t *testing.T) { versions(t, fresh) })
	t.Run("a pulse shows who is at work", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, fresh)
		p, err := b.s.Pages.Pulse(b.ctx, b.run.No)
		b.ok(err)
		if p.Holder != "" || p.Due.IsZero() {
			t.Errorf("a run no process drives: %+v", p)
		}
		g := b.staged(store.Batch, 1)
		if p, err = b.s.Pages.Pulse(b.ctx, b.run.No); err != nil || p.Holder != "me" {
			t.Errorf("a segment is at work: %+v, %v", p, err)
		}
		b.ok(b.s.Leases.Release(b.ctx, g.Lease))
		if p, err = b.s.Pages.Pulse(b.ctx, b.run.No); err != nil || p.Holder != "" {
			t.Errorf("the lease was given back: %+v, %v", p, err)
		}
	})
}

// walkAnswers reads all pages of a filter, two requests a page.
func (b *bench) walkAnswers(f store.AnswerFilter) string {
	b.t.Helper()
	var after store.Mark
	text := ""
	for {
		page, err := b.s.Pages.AnswersPage(b.ctx, b.run.No, f, after, 2)
		b.ok(err)
		for _, a := range page {
			text += a.At.Item + " "
			after = store.Mark{Segment: a.Segment, Ord: a.Ord}
		}
		if len(page) < 2 {
			return text
		}
	}
}

func answerPages(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	one := b.to(b.staged(store.Batch, 4), store.Fetched)
	b.settle(one, b.outcome(one, 0, assay.Answered), b.outcome(one, 1, assay.Errored), b.outcome(one, 2, assay.Refused))
	b.segment(store.Batch, 1) // planned: not sent yet
	two := b.to(b.staged(store.Batch, 3), store.Fetched)
	b.settle(two, b.outcome(two, 0, assay.Cut), b.outcome(two, 1, assay.Answered), b.outcome(two, 2, assay.Answered))
	for _, tt := range []struct {
		filter store.AnswerFilter
		want   string
	}{
		{store.AnswerFilter{}, "q0 q1 q2 q3 q5 q6 q7 "},
		{store.AnswerFilter{Stage: "answers", Lane: "gpt"}, "q0 q1 q2 q3 q5 q6 q7 "},
		{store.AnswerFilter{Lane: "opus"}, ""},
		{store.AnswerFilter{Ending: assay.Answered}, "q0 q6 q7 "},
		{store.AnswerFilter{Ending: assay.Errored}, "q1 "},
		{store.AnswerFilter{Ending: assay.Cut, Stage: "answers"}, "q5 "},
		{store.AnswerFilter{Ending: "'; DROP TABLE runs"}, "q0 q1 q2 q3 q5 q6 q7 "},
		{store.AnswerFilter{Open: true}, "q3 "},
		{store.AnswerFilter{Item: "q6"}, "q6 "},
		{store.AnswerFilter{Item: "q6", Ending: assay.Refused}, ""},
	} {
		if got := b.walkAnswers(tt.filter); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.filter, got, tt.want)
		}
	}
	causes, err := b.s.Pages.Causes(b.ctx, b.run.No, 10)
	b.ok(err)
	want := []store.Cause{{Stage: "answers", Lane: "gpt", Ending: assay.Errored, Class: assay.FaultBusy, Status: 500, Code: "oops",
		Message: "it broke", Count: 1, Item: "q1"}}
	if d := cmp.Diff(want, causes); d != "" {
		t.Error(d)
	}
	if _, err := b.s.Reader.AnswerTo(b.ctx, b.run.No, b.attempt(0, 99).Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a request that was never sent: %v", err)
	}
}

func verdictPages(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	var all []store.Verdict
	for i := range 40 {
		at := assay.Coordinates{Stage: "flips", Item: fmt.Sprint(i), Lane: []string{"gpt", "opus"}[i%2], Judge: "judge"}
		if i >= 30 {
			at = assay.Coordinates{Stage: "arena", Item: fmt.Sprint(i), Lane: []string{"p", "q", "r"}[i%3], Against: "o", Judge: "judge"}
		}
		if i == 4 {
			at.Judge = "human:anna" // who takes it back below
		}
		all = append(all, store.Verdict{Run: b.run.No, At: at, Subject: b.attempt(0, i).Key, State: assay.VerdictValid,
			Label: []string{"yes", "no", "no"}[i%3]})
	}
	for i, state := range []assay.VerdictState{assay.VerdictMissing, assay.VerdictFailed} {
		at := assay.Coordinates{Stage: "unsaid", Item: fmt.Sprint(40 + i), Lane: "gpt", Judge: "judge"}
		all = append(all, store.Verdict{Run: b.run.No, At: at, Subject: b.attempt(0, 40+i).Key, State: state})
	}
	_, err := b.s.Runs.AddVerdicts(b.ctx, all)
	b.ok(err)
	_, err = b.s.Runs.Withdraw(b.ctx, b.run.No, []assay.Key{all[4].At.Key()})
	b.ok(err)
	for _, tt := range []struct {
		name   string
		filter store.VerdictFilter
		want   string
	}{
		{"a stage", store.VerdictFilter{Stage: "arena"}, "30 31 32 33 34 35 36 37 38 39 "},
		{"a lane", store.VerdictFilter{Stage: "flips", Lane: "gpt"}, "0 2 6 8 10 12 14 16 18 20 22 24 26 28 "},
		{"two pairs in one order", store.VerdictFilter{Stage: "arena", Pairs: [][2]string{{"r", "o"}, {"p", "o"}}},
			"30 32 33 35 36 38 39 "},
		{"a label", store.VerdictFilter{Stage: "flips", Lane: "opus", Keep: func(v *store.Verdict) bool { return v.Label == "yes" }},
			"3 9 15 21 27 "},
		{"a label that the database looks for", store.VerdictFilter{Stage: "flips", Lane: "opus", Label: "yes"}, "3 9 15 21 27 "},
		{"a label of two pairs", store.VerdictFilter{Stage: "arena", Pairs: [][2]string{{"r", "o"}, {"p", "o"}}, Label: "no"}, "32 35 38 "},
		{"what is said, of all stages", store.VerdictFilter{Says: "yes"}, "0 3 6 9 12 15 18 21 24 27 30 33 36 39 "},
		{"the state where there is no label", store.VerdictFilter{Stage: "unsaid", Says: "failed"}, "41 "},
		{"a state", store.VerdictFilter{State: "failed"}, "41 "},
		{"no label is called like a state", store.VerdictFilter{Stage: "flips", Says: "valid"}, ""},
		{"an item", store.VerdictFilter{Stage: "flips", Item: "7"}, "7 "},
		{"all that is left is kept or not", store.VerdictFilter{Stage: "flips", Label: "no",
			Keep: func(v *store.Verdict) bool { return len(v.At.Item) == 1 }}, "1 2 5 7 8 "},
		{"nothing", store.VerdictFilter{Stage: "none"}, ""},
	} {
		got, pages := "", 0
		for after, first := int64(0), true; first || after != 0; first = false {
			page, err := b.s.Pages.VerdictsPage(b.ctx, b.run.No, tt.filter, after, 2)
			b.ok(err)
			pages++
			for _, v := range page.Verdicts {
				got += v.At.Item + " "
			}
			after = page.Next
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if most := len(strings.Fields(tt.want))/2 + 1; pages > most {
			t.Errorf("%s: %d pages, want at most %d", tt.name, pages, most)
		}
	}
	page, err := b.s.Pages.VerdictsPage(b.ctx, b.run.No, store.VerdictFilter{Stage: "flips", Lane: "opus", Label: "yes"}, 0, 2)
	if b.ok(err); page.Seen != 5 { // 1, 3, 5, 7 and 9: the second with yes
		t.Errorf("%d verdicts were looked at, want 5", page.Seen)
	}
}

func backwards(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	second := b.newRun("r2", nil)
	b.staged(store.Batch, 2)
	g := b.to(b.staged(store.Batch, 3), store.Fetched)
	runs, err := b.s.Pages.RunsPage(b.ctx, 0, 1)
	b.ok(err)
	older, err := b.s.Pages.RunsPage(b.ctx, second.No, 5)
	b.ok(err)
	if len(runs) != 1 || runs[0].ID != "r2" || len(older) != 1 || older[0].ID != "r1" {
		t.Errorf("pages of runs: %+v, %+v", runs, older)
	}
	newest, err := b.s.Pages.SegmentsPage(b.ctx, b.run.No, "answers", "gpt", 0, 1)
	b.ok(err)
	rest, err := b.s.Pages.SegmentsPage(b.ctx, b.run.No, "", "", g.No, 9)
	b.ok(err)
	if len(newest) != 1 || newest[0].No != g.No || len(rest) != 1 || rest[0].No >= g.No {
		t.Errorf("pages of segments: %+v, %+v", newest, rest)
	}
	spans, err := b.s.Pages.Spans(b.ctx, b.run.No, 1)
	b.ok(err)
	if len(spans) != 1 || spans[0].No != g.No || spans[0].Launched.IsZero() || spans[0].Ended.IsZero() || !spans[0].Settled.IsZero() {
		t.Errorf("spans: %+v", spans)
	}
	events, err := b.s.Pages.EventsBefore(b.ctx, b.run.No, 0, 2)
	b.ok(err)
	more, err := b.s.Pages.EventsBefore(b.ctx, b.run.No, events[1].No, 100)
	b.ok(err)
	if events[0].No < events[1].No || more[0].No > events[1].No || more[len(more)-1].Kind != "opened" {
		t.Errorf("pages of events: %+v, %+v", events, more)
	}
	p, err := b.s.Pages.Attention(b.ctx, []int64{b.run.No, second.No})
	b.ok(err)
	if p[b.run.No].Segments != 2 || p[b.run.No].Held != 0 || p[b.run.No].Stopped != 0 || p[second.No].Segments != 0 {
		t.Errorf("what needs a person: %+v", p)
	}
	lanes, err := b.s.Reader.LanesOf(b.ctx, []int64{b.run.No, second.No})
	b.ok(err)
	if len(lanes) != 4 || lanes[0].Run != b.run.No || lanes[3].Run != second.No {
		t.Errorf("lanes of two runs: %+v", lanes)
	}
	no, err := b.s.Work.AddArtifact(b.ctx, g.Lease, store.Artifact{Name: "out", Kind: "results", Size: 3})
	b.ok(err)
	a, err := b.s.Pages.ArtifactNo(b.ctx, b.run.No, no)
	b.ok(err)
	if a.Name != "out" || a.Size != 3 {
		t.Errorf("artifact: %+v", a)
	}
	if _, err := b.s.Pages.ArtifactNo(b.ctx, second.No, no); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an artifact of another run: %v", err)
	}
}

func jobLists(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	open := b.to(b.staged(store.Batch, 2), store.Launched)
	settled := b.to(b.staged(store.Batch, 3), store.Fetched)
	b.settle(settled, b.outcome(settled, 0, assay.Answered), b.outcome(settled, 1, assay.Answered), b.outcome(settled, 2, assay.Errored))
	b.ok(b.s.Work.Finish(b.ctx, settled.Lease, time.Time{}))
	b.ok(b.s.Work.AddDouble(b.ctx, open.Lease, store.Double{Job: "extra", What: "made twice"}))
	b.staged(store.Batch, 1) // has no job yet
	for _, tt := range []struct {
		name   string
		filter store.JobFilter
		limit  int
		want   []string
	}{
		{"all, newest first", store.JobFilter{}, 0, []string{"extra", settled.Job, open.Job}},
		{"at most one", store.JobFilter{}, 1, []string{settled.Job}},
		{"open", store.JobFilter{Open: true}, 0, []string{open.Job}},
		{"ended", store.JobFilter{Ended: true}, 0, []string{"extra", settled.Job}},
		{"of a run", store.JobFilter{Run: b.run.No}, 0, []string{"extra", settled.Job, open.Job}},
		{"of another run", store.JobFilter{Run: b.run.No + 1}, 0, nil},
		{"of a study", store.JobFilter{Study: b.run.Study, Open: true}, 0, []string{open.Job}},
		{"of another study", store.JobFilter{Study: "other"}, 0, nil},
		{"at a provider", store.JobFilter{Provider: open.Provider, Open: true}, 0, []string{open.Job}},
		{"at another provider", store.JobFilter{Provider: "other"}, 0, nil},
	} {
		jobs, err := b.s.Pages.JobsPage(b.ctx, tt.filter, tt.limit)
		b.ok(err)
		var got []string
		for _, j := range jobs {
			got = append(got, j.ID)
			if j.Part.No != j.Segment || j.Run.ID != b.run.ID || j.Open() != (j.ID == open.Job) {
				t.Errorf("%s: %+v", tt.name, j)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func requestLives(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	g := b.to(b.staged(store.Batch, 3), store.Fetched)
	b.settle(g, b.outcome(g, 0, assay.Answered), b.outcome(g, 1, assay.Errored), b.outcome(g, 2, assay.Answered))
	b.segment(store.Batch, 1) // planned: nothing of it was sent
	var refs []assay.Ref
	for a, err := range b.s.Reader.Attempts(b.ctx, g.No) {
		b.ok(err)
		refs = append(refs, assay.Ref{Item: a.At.Item, Key: a.Key})
	}
	for _, ref := range refs {
		first, last, err := assay.KeyRange(ref.Key.Short())
		b.ok(err)
		if got, err := b.s.Pages.KeysBetween(b.ctx, b.run.No, first, last, 5); err != nil || !slices.Equal(got, []assay.Ref{ref}) {
			t.Errorf("keys like %s: %v, %v", ref.Key.Short(), got, err)
		}
	}
	all, err := b.s.Pages.KeysBetween(b.ctx, b.run.No, assay.Key{}, assay.Key(slices.Repeat([]byte{255}, 16)), 2)
	b.ok(err)
	if len(all) != 2 {
		t.Errorf("%d keys, at most 2 are wanted", len(all))
	}
	tries, err := b.s.Pages.Tries(b.ctx, b.run.No, refs[1])
	b.ok(err)
	if len(tries) != 1 || tries[0].Outcome.Ending != assay.Errored || tries[0].Try != 1 {
		t.Errorf("tries: %+v", tries)
	}
	events, err := b.s.Pages.SegmentEvents(b.ctx, b.run.No, []int64{g.No})
	b.ok(err)
	for _, e := range events {
		if e.Segment != g.No {
			t.Errorf("an event of another segment: %+v", e)
		}
	}
	if len(events) != 6 {
		t.Errorf("%d events", len(events))
	}
	if none, err := b.s.Pages.SegmentEvents(b.ctx, b.run.No, nil); len(none) > 0 || err != nil {
		t.Errorf("events of no segment: %v, %v", none, err)
	}
}

func versions(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	seen := map[string]string{}
	look := func(what string) {
		t.Helper()
		v, err := b.s.Pages.Version(b.ctx, b.run.No)
		b.ok(err)
		if before, ok := seen[v]; ok {
			t.Errorf("%s: the version is that of %s", what, before)
		}
		seen[v] = what
		if again, err := b.s.Pages.Version(b.ctx, b.run.No); again != v || err != nil {
			t.Errorf("%s: looking changed the version", what)
		}
	}
	look("a new run")
	whole, err := b.s.Pages.LedgerVersion(b.ctx)
	b.ok(err)
	g := b.to(b.staged(store.Batch, 2), store.Fetched)
	look("a segment in flight")
	b.settle(g, b.outcome(g, 0, assay.Answered))
	look("an answer")
	_, err = b.s.Runs.AddVerdicts(b.ctx, []store.Verdict{{Run: b.run.No, At: assay.Coordinates{Stage: "x"}, State: assay.VerdictMissing}})
	b.ok(err)
	look("a verdict")
	no, err := b.s.Runs.PutOrder(b.ctx, store.Order{Run: b.run.No, Kind: store.OrderCollect, Args: "{}"})
	b.ok(err)
	look("an order")
	b.ok(b.s.Work.FinishOrder(b.ctx, no, "done"))
	look("an order that was obeyed")
	now, err := b.s.Pages.LedgerVersion(b.ctx)
	b.ok(err)
	if now == whole {
		t.Error("the ledger's version did not change")
	}
}

func headlines(t *testing.T, fresh Fresh) {
	t.Parallel()
	b := newBench(t, fresh)
	other := b.newRun("other", nil)
	read := func(runs ...int64) map[int64]store.Headline {
		all, err := b.s.Pages.Headlines(b.ctx, runs)
		b.ok(err)
		return all
	}
	if all := read(b.run.No, other.No); len(all) != 0 {
		t.Errorf("there are %v before any was kept", all)
	}
	ahead := store.Headline{Version: "2", Text: "b is ahead",
		Lead: store.Lead{Leader: "b", Score: "83%", Range: "55 to 95%", Value: new(0.83)}}
	b.ok(b.s.Runs.PutHeadline(b.ctx, b.run.No, store.Headline{Version: "1", Text: "a is ahead"}))
	b.ok(b.s.Runs.PutHeadline(b.ctx, other.No, store.Headline{Version: "7", Text: "no difference shown"}))
	b.ok(b.s.Runs.PutHeadline(b.ctx, b.run.No, ahead))
	want := map[int64]store.Headline{b.run.No: ahead, other.No: {Version: "7", Text: "no difference shown"}}
	if d := cmp.Diff(want, read(b.run.No, other.No)); d != "" {
		t.Error(d)
	}
	delete(want, other.No)
	if d := cmp.Diff(want, read(b.run.No)); d != "" {
		t.Error(d)
	}
	if all := read(); len(all) != 0 {
		t.Errorf("of no run there are %v", all)
	}
}
