package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/send/script/snapshot"
	"assay/internal/study/plan"
	"assay/internal/study/plan/estimate"
)

func TestARehearsalNeedsNoKeyAndReachesItsEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy+"budget: 1 USD\n")
	clear(r.env)
	r.world.HTTP = nil
	want := r.wanted(StudyOptions{}, snapshot.Settings{Luck: 7})
	want.Note, want.By = "a note", "bea"
	if p := r.world.Missing(want.Input, want.Plan, want.File, true); len(p) > 0 {
		t.Error(p)
	}
	h := r.open(true)
	run := r.finished(h, want)
	if !run.Rehearsal || run.Note != "a note" || run.By != "bea" || run.Budget.String() != "$1.00" || run.Folder != r.world.Disk.Dir {
		t.Errorf("%+v", run)
	}
	n := 0
	for a, err := range h.Ledger.Reader.Answers(r.ctx, run.No, "", "") {
		if err != nil || a.Outcome.Text == "" {
			t.Error(a, err)
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d answers, want 4", n)
	}
	if cost := r.spent(h, run); cost <= 0 {
		t.Error(cost)
	}
	if away, err := h.JobsAway(r.ctx, run); err != nil || away {
		t.Error("jobs are at the providers", err)
	}
}

func TestTheSameStudyIsTheSameRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(true)
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	run := r.finished(h, want)
	var resumed []string
	keep := Doorkeeper{
		Resumed: func(now Current) error { resumed = append(resumed, now.Run.ID); return nil },
		Confirm: func([]store.Run, *Edit) error { return errors.New("asked") },
	}
	if again, err := h.Run(r.ctx, want, keep); err != nil || again.ID != run.ID || len(resumed) != 1 {
		t.Error(again.ID, resumed, err)
	}
	want.New = true
	if _, err := h.Run(r.ctx, want, keep); err == nil || err.Error() != "asked" {
		t.Error("a new run was not asked for:", err)
	}
	want.New = false
	r.write("study.yaml", strings.Replace(smallStudy, "{{ text }}", "Say: {{ text }}", 1))
	if _, err := h.Run(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}), keep); err == nil || err.Error() != "asked" {
		t.Error("a study that asks something else is another run:", err)
	}
}

func TestAnOpenRunIsNotMixedWithWhatItIsNotAbout(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{Limit: 1}))
	now, err := h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if err != nil || now.Run.ID != run.ID || !now.Partial || now.Claim != nil {
		t.Errorf("%+v, %v", now, err)
	}
	if now, err = h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{Limit: 1})); err != nil || now.Run.ID != run.ID ||
		now.Partial {
		t.Errorf("%+v, %v", now, err)
	}
	_, err = h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{Lanes: []string{"a"}}))
	wants[*ScopeError](t, err, "run "+run.ID+" is open, and it is about another part of the study")
	_, err = h.Current(r.ctx, r.wanted(StudyOptions{Mode: assay.ModeLive}, snapshot.Settings{Limit: 1}))
	wants[*ModeError](t, err, "run "+run.ID+" is open, and did not begin with --mode live")
	r.write("study.yaml", strings.Replace(smallStudy, "  b: {model: openai/gpt-4.1-mini}\n", "", 1)+"description: other\n")
	_, err = h.Current(r.ctx, r.wanted(StudyOptions{}, snapshot.Settings{Limit: 1}))
	wants[*ChangedError](t, err, "run "+run.ID+
		" is open and the study was changed since it began: lanes -1 (b); the run cannot go on with that: lane b is taken away")
}

func TestAChangedStudyTakesAnswersOverFromItsLastRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	if donors, err := h.Donors(r.ctx, want); err != nil || len(donors) != 0 {
		t.Error(donors, err)
	}
	before := r.finished(h, want)
	r.write("study.yaml", strings.Replace(smallStudy, "name: checked", "name: proved", 1))
	want = r.wanted(StudyOptions{}, snapshot.Settings{})
	var asked []string
	run, err := h.Run(r.ctx, want,
		Doorkeeper{Confirm: func(donors []store.Run, _ *Edit) error { asked = append(asked, donors[0].ID); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{before.ID}, asked); d != "" {
		t.Error(d)
	}
	if got := settings(t, run).ReuseRuns; !slices.Equal(got, []string{before.ID}) {
		t.Errorf("takes over from %q", got)
	}
	c := r.drive(h, run, Drive{})
	if cost := r.spent(h, c.Run); c.State != runs.StateDone || cost != 0 {
		t.Error(c.State, cost)
	}
	want.New = true
	if donors, err := h.Donors(r.ctx, want); err != nil || len(donors) != 0 {
		t.Error("a new run takes over", donors, err)
	}
}

func TestAnswersOfAllClosedRunsAreTakenOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	part := r.wanted(StudyOptions{}, snapshot.Settings{Limit: 1, Lanes: []string{"a"}})
	part.New = true
	r.finished(h, part)
	r.write("study.yaml", strings.Replace(smallStudy, "name: checked", "name: proved", 1))
	run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	lanes, err := h.Ledger.Reader.Lanes(r.ctx, run.No)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lanes {
		if l.Stage == "answers" && l.Reused != 2 {
			t.Errorf("lane %s: %d of 2 are taken over", l.Name, l.Reused)
		}
	}
}

func TestItemsOfEqualWordingKeepTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	const before = `[{id: one, text: Say a number., expect: "1"}, {id: two, text: Say a number., expect: "2"}]`
	start, end := strings.Index(smallStudy, "[{"), strings.Index(smallStudy, "}]")+2
	with := func(items string) string {
		return strings.Replace(smallStudy[:start]+items+smallStudy[end:], "temperature: 0", "temperature: 1", 1)
	}
	for name, tt := range map[string]struct {
		items  string
		same   map[string]string // whose answer an item has
		reused int64
	}{
		"nothing changed": {before, map[string]string{"one": "one", "two": "two"}, 2},
		"the other order": {`[{id: two, text: Say a number., expect: "2"}, {id: one, text: Say a number., expect: "1"}]`,
			map[string]string{"one": "one", "two": "two"}, 2},
		"a new one ahead of them": {strings.Replace(before, "[", "[{id: new, text: Say a number.}, ", 1),
			map[string]string{"one": "one", "two": "two"}, 2},
		"a new one after them": {strings.Replace(before, "]", ", {id: zero, text: Say a number.}]", 1),
			map[string]string{"one": "one", "two": "two"}, 2},
		"one was renamed": {strings.Replace(before, "id: two", "id: second", 1),
			map[string]string{"one": "one", "second": "two"}, 2},
		"one was renamed, one is new": {strings.Replace(strings.Replace(before, "id: two", "id: second", 1), "]",
			", {id: third, text: Say a number.}]", 1), map[string]string{"one": "one", "second": "two"}, 2},
		"other text under an old id": {`[{id: one, text: Say a word.}, {id: moved, text: Say a number., expect: "1"}]`, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, with(before))
			h := r.open(false)
			old := r.texts(h, r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{})))
			r.write("study.yaml", strings.Replace(with(tt.items), "name: checked", "name: proved", 1))
			run := r.finished(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
			now := r.texts(h, run)
			for item, from := range tt.same {
				if now[item] != old[from] {
					t.Errorf("%s: %q, and %s had %q", item, now[item], from, old[from])
				}
			}
			lanes, err := h.Ledger.Reader.Lanes(r.ctx, run.No)
			if err != nil {
				t.Fatal(err)
			}
			if lanes[0].Reused != tt.reused {
				t.Errorf("%d taken over, want %d", lanes[0].Reused, tt.reused)
			}
		})
	}
}

// texts returns the answers of lane a, by item.
func (r *rig) texts(h *Home, run store.Run) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	for a, err := range h.Ledger.Reader.Answers(r.ctx, run.No, "answers", "a") {
		if err != nil {
			r.t.Fatal(err)
		}
		out[a.At.Item] = a.Outcome.RequestID + a.Outcome.Text
	}
	return out
}

func settings(t *testing.T, run store.Run) (s snapshot.Settings) {
	t.Helper()
	if err := json.Unmarshal([]byte(run.Settings), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestARunThatIsBeingWrittenIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	preparing, err := h.Ledger.Runs.ClaimRun(r.ctx, store.NewRun{ID: "another", Study: "small", Folder: r.world.Disk.Dir},
		store.Claim{Holder: "elsewhere/1", TTL: claimTime})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.place.Find(r.ctx, r.world, "another"); err == nil {
		t.Error("it was found")
	} else {
		wants[*UnpreparedError](t, err, "run another was stopped while it was being prepared; nothing of it was sent")
	}
	if _, err := h.Current(r.ctx, want); !errors.Is(err, ErrBeginning) {
		t.Error(preparing.State, err)
	}
	ctx, cancel := context.WithCancel(r.ctx)
	waited := 0
	if _, err := h.Run(ctx, want, Doorkeeper{Waiting: func() { waited++; cancel() }}); !errors.Is(err, context.Canceled) || waited != 1 {
		t.Error(waited, err)
	}
}

func TestWhatAnEndedProcessHeldIsTakenOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(true)
	run := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	c := exec.Command("true")
	if err := c.Run(); err != nil {
		t.Skip("needs a program that ends:", err)
	}
	host, _, _ := strings.Cut(h.World.self().String(), "/")
	dead := host + "/" + strconv.Itoa(c.Process.Pid) + "/x"
	for _, alive := range []string{h.World.self().String() + ".x", "elsewhere/" + strconv.Itoa(c.Process.Pid), "strange"} {
		if h.Gone(alive) {
			t.Errorf("%s is not gone", alive)
		}
	}
	if !h.Gone(dead) {
		t.Error("an ended process is not gone")
	}
	if err := h.Ledger.Leases.Drives(r.ctx, run.No, dead, claimTime); err != nil {
		t.Fatal(err)
	}
	var gone []string
	end := r.drive(h, run, Drive{Gone: func(holder string) { gone = append(gone, holder) }, Held: func(*store.HeldError) {}})
	if d := cmp.Diff([]string{dead}, gone); d != "" || end.State != runs.StateDone {
		t.Error(d, end.State)
	}
}

func TestAPilotPricesTheStudyAndItsAnswersAreTakenOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, smallStudy)
	h := r.open(false)
	want := r.wanted(StudyOptions{}, snapshot.Settings{})
	p, problems := PlanPilot(r.ctx, want, want.Plan, plan.Options{}, 1)
	if p == nil {
		t.Fatal(problems)
	}
	run, err := h.BeginPilot(r.ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if run.Study != "small.pilot" {
		t.Error(run.Study)
	}
	r.drive(h, run, Drive{})
	if err := h.Learn(r.ctx, want.Input, store.Run{}); err != nil {
		t.Fatal(err)
	}
	a, _ := want.Input.Study.Lane("a")
	if o := want.Input.Learned("answers", 1, false, a.Lane); o.N != 1 || o.Mean <= 0 || o.PerByte <= 0 || o.From != plan.FromPilot {
		t.Errorf("%+v", o)
	}
	again, _ := estimate.Make(r.ctx, want.Input, plan.Options{})
	if got := again.Parts[0].From; got != plan.FromPilot {
		t.Errorf("the plan goes by %s", got)
	}
	before, after := want.Plan.Parts[0].Output, again.Parts[0].Output
	if after.Expected == before.Expected || after.High != before.High {
		t.Errorf("%+v before the pilot, %+v after it: an answer may still be as long as its limit", before, after)
	}
	whole := r.begin(h, r.wanted(StudyOptions{}, snapshot.Settings{}))
	if got := settings(t, whole).ReuseRuns; !slices.Equal(got, []string{run.ID}) {
		t.Errorf("the run takes over from %q, want %s", got, run.ID)
	}
}
