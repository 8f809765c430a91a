package runs

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/study"
)

// What a person has to look after comes before what goes on, and that before what does not.
func TestTheStateOfAnOpenRun(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	lane := func(state store.LaneState, p Progress) LaneProgress {
		return LaneProgress{store.Lane{Stage: "answers", Name: "a", Provider: "openai", State: state, Reason: "why"}, p}
	}
	away, staged := Progress{Wanted: 4, InFlight: 4, first: now}, Progress{Wanted: 4, Staged: 4, first: now}
	halted := Progress{Wanted: 4, Halted: 4, first: now}
	waits := Progress{Wanted: 4, Staged: 4, first: now, wait: now.Add(time.Hour)}
	judge := lane(store.LaneStopped, Progress{Wanted: 4, Answered: 2, Halted: 2, first: now})
	judge.Unread = 2
	ended := lane(store.LaneStopped, away)
	ended.Cause = store.CauseUser
	yes := lane(store.LaneOpen, staged)
	yes.Canary = store.CanaryShown
	for name, c := range map[string]struct {
		lanes []LaneProgress
		needs store.Attention
		alive bool
		st    engine.RunStatus
		want  State
		next  string
	}{
		"nothing was sent": {lanes: []LaneProgress{lane(store.LaneOpen, Progress{Wanted: 4})}, want: StatePlanned,
			next: "resume r"},
		"nobody has begun it yet": {lanes: []LaneProgress{lane(store.LaneOpen, Progress{Wanted: 4})}, alive: true, want: StatePlanned,
			next: "resume r"},
		"a person cancelled it, and jobs are away": {lanes: []LaneProgress{ended}, want: StateCancelled, next: "resume r"},
		"a person cancelled it, and segments are held": {lanes: []LaneProgress{ended}, needs: store.Attention{Held: 1},
			want: StateHeld, next: "status r --segments"},
		"a provider has it": {lanes: []LaneProgress{lane(store.LaneOpen, away)}, want: StateInFlight, next: "resume r"},
		"nobody sends it":   {lanes: []LaneProgress{lane(store.LaneOpen, staged)}, want: StateStopped, next: "resume r"},
		"a process sends it": {lanes: []LaneProgress{lane(store.LaneOpen, staged)}, alive: true, want: StateInFlight,
			next: "resume r"},
		"a provider asks to wait": {lanes: []LaneProgress{lane(store.LaneOpen, waits)}, alive: true, want: StateWaiting,
			next: "resume r"},
		"segments are held": {lanes: []LaneProgress{lane(store.LaneOpen, away)}, needs: store.Attention{Held: 1},
			want: StateHeld, next: "status r --segments"},
		"a lane is held": {lanes: []LaneProgress{lane(store.LaneHeld, halted)}, needs: store.Attention{Held: 1},
			want: StateHeld, next: "run"},
		"a lane is stopped": {lanes: []LaneProgress{lane(store.LaneStopped, halted)}, alive: true, want: StateStopped,
			next: "run"},
		"another lane goes on": {lanes: []LaneProgress{lane(store.LaneStopped, halted), lane(store.LaneOpen, away)},
			want: StateInFlight, next: "resume r"},
		"a lane is paused": {lanes: []LaneProgress{lane(store.LanePaused, halted)}, want: StateStopped,
			next: "tune r --unpause a"},
		"first answers wait":       {lanes: []LaneProgress{yes}, want: StateHeld, next: "resume r --proceed"},
		"a judge gives no verdict": {lanes: []LaneProgress{judge}, want: StateJudges, next: "errors r --verdicts"},
		"one judge of two gives no verdict": {lanes: []LaneProgress{judge, lane(store.LaneOpen, Progress{Wanted: 4, Answered: 4})},
			want: StateStopped, next: "errors r --verdicts"},
		"a judge gives no verdict, another is away": {lanes: []LaneProgress{judge, lane(store.LaneOpen, Progress{Wanted: 4, Answered: 1,
			InFlight: 3, first: now})}, want: StateInFlight, next: "resume r"},
		"the engine met the budget": {lanes: []LaneProgress{lane(store.LaneOpen, staged)}, st: engine.RunStatus{Budget: true},
			want: StateStopped, next: "resume r --budget AMOUNT"},
		"a budget binds, and a provider asks to wait with what fits": {lanes: []LaneProgress{lane(store.LaneOpen,
			Progress{Wanted: 4, Live: 2, first: now, wait: now.Add(time.Hour)})}, st: engine.RunStatus{Budget: true}, want: StateWaiting,
			next: "resume r"},
		"a budget binds, and jobs move": {lanes: []LaneProgress{lane(store.LaneOpen, away)}, st: engine.RunStatus{Budget: true},
			want: StateInFlight, next: "resume r"},
	} {
		s := Standing{Run: store.Run{NewRun: store.NewRun{ID: "r"}, State: store.RunOpen}, Needs: c.needs, Alive: c.alive, now: now}
		for _, l := range c.lanes {
			s.Far = RunProgress{s.Far.Add(l.Progress), append(s.Far.Lanes, l)}
		}
		if err := s.open(t.Context(), nil, c.st); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{string(c.want), "assay " + c.next}, []string{string(s.State), s.Commands("r")[0]}); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if s.State != StateInFlight && !strings.HasSuffix(s.Why(), ".") {
			t.Errorf("%s: no reason: %q", name, s.Why())
		}
	}
}

// Every verdict of a stage that cannot be used is a failed judge, however many requests have an answer.
func TestJudgesThatGaveNoVerdictFailed(t *testing.T) {
	t.Parallel()
	st := &study.Study{Stages: []study.Stage{{Name: "answers", Ask: "q"}, {Name: "right", Judge: study.Names{List: []string{"answers"}}}}}
	judged := func(answered, failed, unread int64) string {
		s := Standing{Far: RunProgress{Lanes: []LaneProgress{
			{store.Lane{Stage: "answers", Endings: map[assay.Ending]int64{}}, Progress{Failed: 3}},
			{store.Lane{Stage: "right", Unread: unread}, Progress{Answered: answered, Failed: failed}},
		}}}
		return s.failedStage(st)
	}
	if got := []string{judged(4, 0, 4), judged(0, 2, 0), judged(4, 0, 3),
		judged(0, 0, 0)}; !cmp.Equal([]string{"right", "right", "", ""}, got) {
		t.Error(got)
	}
}

func TestAReasonThatIsASentenceEndsWithOneStop(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"The model is not there.": "Lane a is stopped: The model is not there.",
		"quota":                   "Lane a is stopped: quota.",
		"":                        "Lane a is stopped.",
	} {
		s := Standing{Cause: CauseLane, Lane: store.Lane{Name: "a", State: store.LaneStopped, Reason: reason}}
		if got := s.Why(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Lanes that stopped for one reason are named together, and what they have left is counted whether it was made or not.
func TestLanesThatStoppedAlikeShareASentence(t *testing.T) {
	t.Parallel()
	s := Standing{State: StateStopped, Cause: CauseLane, Run: store.Run{NewRun: store.NewRun{ID: "r", Study: "s"}, State: store.RunOpen}}
	for _, name := range []string{"a", "b", "c", "d"} {
		lane := store.Lane{Stage: "answers", Name: name, Planned: 40, State: store.LaneStopped, Reason: "cut off",
			Endings: map[assay.Ending]int64{assay.Cut: 1}}
		var made store.Flow
		if name == "d" {
			made.Staged = 39
		}
		p := progressOf(s.Run, lane, made)
		s.Far = RunProgress{s.Far.Add(p), append(s.Far.Lanes, LaneProgress{lane, p})}
	}
	s.Lane = s.Far.Lanes[0].Lane
	want := "Run r of s is stopped: 4 of 160 requests have an answer, 156 are left in lanes that are stopped or held; $0.00 spent. " +
		"4 lanes (a, b, c and 1 more) are stopped: cut off."
	if got := s.Sentence(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
