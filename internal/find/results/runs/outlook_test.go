package runs

import (
	"testing"
	"time"

	"assay/internal/keep/store"
)

// lane returns a lane of a model at a provider with so many requests in a job that began a while ago.
func away(provider string, n int64, gone time.Duration) LaneProgress {
	return LaneProgress{store.Lane{Provider: provider, Model: "m"}, Progress{Wanted: n, InFlight: n, since: at.Add(-gone)}}
}

func together(lanes ...LaneProgress) (r RunProgress) {
	for _, l := range lanes {
		r = RunProgress{r.Add(l.Progress), append(r.Lanes, l)}
	}
	return r
}

func TestWhatIsAwayComesBackWhenItsLikeDid(t *testing.T) {
	t.Parallel()
	var times Times
	for _, minutes := range []time.Duration{20, 9, 16, 12} {
		times = append(times, store.JobTime{Provider: "openai", Model: "m", Took: minutes * time.Minute},
			store.JobTime{Provider: "openai", Model: "other", Took: 1000 * time.Minute})
	}
	later := together(away("openai", 88, 4*time.Minute))
	later.Wanted += 10 // judged when the answers are back
	minutes := func(left, shortest, longest time.Duration, all bool) Return {
		return Return{left * time.Minute, shortest * time.Minute, longest * time.Minute, all}
	}
	for name, c := range map[string]struct {
		run   RunProgress
		times Times
		want  Return
		known bool
	}{
		"the middle one of those that took longer": {together(away("openai", 88, 4*time.Minute)), times, minutes(12, 9, 20, true), true},
		"those that were back sooner say nothing":  {together(away("openai", 88, 13*time.Minute)), times, minutes(7, 9, 20, true), true},
		"the last job is waited for": {together(away("openai", 8, 13*time.Minute), away("openai", 8, time.Minute)), times,
			minutes(15, 9, 20, true), true},
		"it takes longer than any of them": {together(away("openai", 8, time.Hour), away("openai", 8, time.Minute)), times,
			minutes(0, 9, 20, true), true},
		"more is to be done after it":   {later, times, minutes(12, 9, 20, false), true},
		"two are too few":               {together(away("openai", 88, 0)), Times{times[0], times[2]}, Return{}, false},
		"of one model nothing is known": {together(away("openai", 88, 0), away("anthropic", 8, 0)), times, Return{}, false},
		"nothing is away":               {together(LaneProgress{Progress: Progress{Wanted: 9}}), times, Return{}, false},
	} {
		if got, known := c.run.Return(c.times, at); known != c.known || got != c.want && known {
			t.Errorf("%s: %+v, %v, want %+v, %v", name, got, known, c.want, c.known)
		}
	}
}

func TestWhoHasRequestsIsNamedWithTheTime(t *testing.T) {
	t.Parallel()
	waits := away("anthropic", 0, 0)
	waits.wait, waits.since = at.Add(7*time.Minute), time.Time{}
	both := away("mistral", 1200, time.Minute)
	both.wait = at.Add(time.Minute)
	clock := func(d time.Duration) string { return clockOf(at.Add(d), at) }
	for want, run := range map[string]RunProgress{
		"": together(LaneProgress{store.Lane{Provider: "openai"}, Progress{Wanted: 3, wait: at.Add(-time.Second)}}),
		"anthropic asks to wait until " + clock(7*time.Minute) + " · openai: 88 at work there since " + clock(-4*time.Minute): together(
			away("openai", 80, 3*time.Minute), waits, away("openai", 8, 4*time.Minute)),
		"mistral: 1,200 at work there since " + clock(-time.Minute) + ", asks to wait until " + clock(time.Minute): together(both),
	} {
		if got := run.There(at); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
