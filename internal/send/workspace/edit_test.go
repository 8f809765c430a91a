package workspace

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/learned"
	"assay/internal/send/script/snapshot"
	"assay/internal/simulator"
	"assay/internal/simulator/minds"
)

func TestAnEditThatChangesNoRequestChangesTheRunInPlace(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy+"budget: 1 USD\n")
	h := r.open(false)
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	cost := r.spent(h, run)
	before, err := h.Ledger.Reader.Segments(r.ctx, run.No)
	if err != nil {
		t.Fatal(err)
	}
	r.write("study.yaml", strings.Replace(smallStudy, "{model: openai/gpt-4.1}", "{model: openai/gpt-4.1, label: The first}", 1)+
		"budget: 2 USD\nanalyses: [{of: checked, by: [lane]}]\n")
	var words []string
	again, err := h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), Doorkeeper{
		Resumed: func(now Current) error { words = append(words, now.Edit.Words()); return nil },
		Confirm: func([]store.Run, *Edit) error { t.Error("a new run is begun"); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"analyses, budget ($1.00 → $2.00), label of lane a (nothing → The first)"}, words); d != "" {
		t.Error(d)
	}
	if again.ID != run.ID || again.State != store.RunClosed || *again.Budget != 2*assay.Dollar || again.Digest == run.Digest {
		t.Errorf("%+v", again)
	}
	s, err := h.Planner.Study(r.ctx, again)
	if err != nil || len(s.Analyses) != 1 {
		t.Error("the run has no analyses:", err)
	}
	lane, err := h.Ledger.Reader.Lane(r.ctx, run.No, "answers", "a")
	if err != nil || lane.Label != "The first" {
		t.Error(lane.Label, err)
	}
	after, err := h.Ledger.Reader.Segments(r.ctx, run.No)
	if err != nil || r.spent(h, again) != cost || len(after) != len(before) {
		t.Error("something is asked again", err)
	}
	events, err := h.Ledger.Reader.Events(r.ctx, run.No, 0, 1000)
	if err != nil || !slices.ContainsFunc(events, func(e store.Event) bool { return e.Kind == "study changed" && e.Text == words[0] }) {
		t.Error("it is not in the history", err)
	}
}

func TestAnotherProcessGoesOnWithTheStudyAsItIsNow(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h, other := r.open(false), r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	before, err := other.Planner.Policy(r.ctx, run)
	if err != nil || before.StopAbove != nil {
		t.Fatal(before, err)
	}
	r.write("study.yaml", smallStudy+"stop_if: error_rate > 0.25\n")
	_, err = h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), Doorkeeper{Resumed: func(Current) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	now, err := other.Ledger.Reader.Run(r.ctx, run.No)
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []store.Run{now, run} { // also where the run was read before the change
		policy, err := other.Planner.Policy(r.ctx, asked)
		if d := cmp.Diff(map[string]float64{"a": 0.25, "b": 0.25}, policy.StopAbove); err != nil || d != "" {
			t.Error(err, d)
		}
	}
}

func TestItemsThatCameOrWentAreNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	for old, want := range map[string]string{
		`{id: one,`: `items of input questions +1 (three) -1 (one); the run cannot go on with that: item one is taken away`,
		`items: [`:  `order of items of input questions +1 (zero); the run cannot go on with that: its items stand in another order`,
	} {
		edit := map[string]string{`{id: one,`: `{id: three,`, `items: [`: `items: [{id: zero, text: What is zero?, expect: "0"}, `}[old]
		r.write("study.yaml", strings.Replace(smallStudy, old, edit, 1))
		_, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}))
		wants[*ChangedError](t, err, "run "+run.ID+" is open and the study was changed since it began: "+want)
	}
}

func TestAPilotIsTakenOverAfterAnEditThatChangesNoRequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	pilot, err := h.BeginAs(r.ctx, want, "small"+learned.PilotSuffix, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.write("study.yaml", smallStudy+"description: other\n")
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if got := settings(t, run).ReuseRuns; !slices.Equal(got, []string{pilot.ID}) {
		t.Errorf("takes over from %q, want the pilot", got)
	}
}

// wordy answers at length.
type wordy struct{}

func (wordy) Respond(*minds.Question) minds.Answer {
	return minds.Answer{Text: strings.Repeat("on and on ", 10_000)}
}

func TestAnswersTooLongForARowAreTakenOver(t *testing.T) {
	t.Parallel()
	study := strings.Replace(smallStudy, "max_tokens: 100", "max_tokens: 30000", 1)
	r := newRig(t, study, func(o *simulator.Options) { o.Responder = wordy{} })
	h := r.open(false)
	before := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	const one, two = `{id: one, text: What is one?, expect: "1"}`, `{id: two, text: What is two?, expect: "2"}`
	r.write("study.yaml", strings.Replace(study, one+", "+two, two+", "+one, 1)) // in another order, it is a new run
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if cost := r.spent(h, run); run.ID == before.ID || cost != 0 {
		t.Errorf("asked again for %s", cost)
	}
	n := 0
	for a, err := range h.Ledger.Reader.Answers(r.ctx, run.No, "answers", "") {
		if err != nil {
			t.Fatal(err)
		}
		whole, err := h.Planner.Whole(r.ctx, run, a)
		if err != nil || len(whole.Outcome.Text) != 100_000 || a.Reused != before.No {
			t.Errorf("%d bytes of run %d, %v", len(whole.Outcome.Text), a.Reused, err)
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d answers, want 4", n)
	}
}

func TestTheLatestRunIsARealOneThatIsOpen(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h, rehearsals := r.open(false), r.open(true)
	latest := func() Latest {
		t.Helper()
		found, l, err := r.place.Latest(r.ctx, r.world)
		if err != nil {
			t.Fatal(err)
		}
		found.Close()
		return l
	}
	first := r.finished(rehearsals, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if l := latest(); l.Run.ID != first.ID || !l.Alone {
		t.Errorf("%+v, want the only rehearsal", l)
	}
	open := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{Limit: 1}))
	anew := r.wanted(StudyOptions{}, snapshot.Settings{})
	anew.New = true
	r.finished(h, anew)
	again := r.wanted(StudyOptions{}, snapshot.Settings{Luck: 2})
	again.New = true
	newer := r.finished(rehearsals, again)
	l := latest()
	if l.Run.ID != open.ID || l.Alone || l.Newer == nil || l.Newer.ID != newer.ID {
		t.Errorf("%+v, want the open run", l)
	}
	for _, ref := range []string{"", "latest"} {
		found, run, err := r.place.Find(r.ctx, r.world, ref)
		if err != nil || run.ID != open.ID {
			t.Fatal(run.ID, err)
		}
		found.Close()
	}
}

// pressed returns the small study with a table of objections that goes with every question.
func pressed() string {
	return strings.NewReplacer(
		"canary: false", "  objections: {items: [{id: x, say: no}, {id: y, say: never}, {id: z, say: really}]}\ncanary: false",
		`"{{ text }}"]`, `"{{ text }}", {each: objections, say: "{{ branch.say }}"}]`,
	).Replace(smallStudy)
}

func TestALimitIsAboutWhatIsAskedAfterAnEditToo(t *testing.T) {
	t.Parallel()
	r := newRig(t, pressed())
	h := r.open(false)
	s := snapshot.Settings{Limit: 1}
	run := r.begin(h, r.wanted(StudyOptions{}, s))
	r.write("study.yaml", pressed()+"description: other\n")
	now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, s))
	if err != nil || now.Run.ID != run.ID || now.Edit.Words() != "description (nothing → other)" {
		t.Fatal(now.Run.ID, now.Edit, err)
	}
	r.write("study.yaml", strings.Replace(pressed(), "say: really}", "say: really}, {id: w, say: hm}", 1))
	if _, err := h.Run(r.ctx, r.wanted(StudyOptions{}, s), Doorkeeper{
		Resumed: func(Current) error { return nil }, Extend: func(Current, TakeOver) error { return nil },
	}); err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{}
	for _, input := range []string{"questions", "objections"} {
		for _, err := range h.Ledger.Reader.ItemHeads(r.ctx, run.No, input) {
			if err != nil {
				t.Fatal(err)
			}
			kept[input]++
		}
	}
	if d := cmp.Diff(map[string]int{"questions": 1, "objections": 4}, kept); d != "" {
		t.Error(d)
	}
}

func TestAPilotIsTakenOverWithAllOfItsTables(t *testing.T) {
	t.Parallel()
	r := newRig(t, pressed())
	h := r.open(false)
	pilot, err := h.BeginAs(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{Limit: 1}), "small"+learned.PilotSuffix, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.write("study.yaml", pressed()+"description: other\n")
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if got := settings(t, run).ReuseRuns; !slices.Equal(got, []string{pilot.ID}) {
		t.Errorf("takes over from %q, want the pilot", got)
	}
}
