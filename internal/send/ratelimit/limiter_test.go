package ratelimit

import (
	"container/heap"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// server is a provider with a limit of requests a minute.
type server struct {
	limit   int
	bucket  bool // it fills up all the time; otherwise it starts anew every minute
	headers bool
	silent  bool          // a refusal does not even give a time to wait
	early   time.Duration // by how much the headers are wrong
	since   time.Time
	used    float64

	start    time.Time
	from, to time.Duration // in between it refuses everybody
}

func (s *server) ask(now time.Time) Reply {
	per := float64(s.limit) / 60
	if s.bucket {
		s.used = max(0, s.used-per*now.Sub(s.since).Seconds())
		s.since = now
	} else if now.Sub(s.since) >= time.Minute {
		s.since, s.used = now, 0
	}
	r := Reply{Kind: Answered}
	if d := now.Sub(s.start); s.from <= d && d < s.to {
		if s.silent {
			return Reply{Kind: Throttled}
		}
		return Reply{Kind: Throttled, RetryAfter: 2 * time.Second}
	}
	if s.used+1 > float64(s.limit) {
		r.Kind = Throttled
	} else {
		s.used++
	}
	reset := s.since.Add(time.Minute).Sub(now)
	if s.bucket {
		reset = time.Duration(s.used / per * float64(time.Second))
	}
	if r.Kind == Throttled && !s.silent {
		r.RetryAfter = reset
		if s.bucket {
			r.RetryAfter = time.Duration(float64(time.Second) / per)
		}
	}
	if s.headers {
		r.Hints.Requests = Hint{Known: true, Limit: int64(s.limit), Remaining: int64(float64(s.limit) - s.used),
			Reset: max(reset-s.early, time.Millisecond)}
	}
	return r
}

// flight is a request in flight.
type flight struct {
	back   time.Time
	ticket Ticket
	reply  Reply
}

type flights []flight

func (f flights) Len() int           { return len(f) }
func (f flights) Less(i, j int) bool { return f[i].back.Before(f[j].back) }
func (f flights) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)        { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

// tally counts replies after the first minute.
type tally struct{ answered, refused int }

// drive lets a limiter send as fast as it likes for a while.
func drive(l *Limiter, s *server, latency, long time.Duration) tally {
	start := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	s.since, s.start = start, start
	now := start
	var up flights
	var n tally
	for now.Sub(start) < long {
		wait := l.Wait(now, Load{Input: 10, Output: 10})
		if wait == 0 {
			t := l.Send(now, Load{Input: 10, Output: 10})
			heap.Push(&up, flight{now.Add(latency + time.Duration(len(up)%7)*latency/50), t, s.ask(now.Add(latency / 10))})
			continue
		}
		next := now.Add(wait)
		if len(up) > 0 && (wait == Release || up[0].back.Before(next)) {
			next = up[0].back
		}
		now = next
		for len(up) > 0 && !up[0].back.After(now) {
			f := heap.Pop(&up).(flight)
			l.Done(now, f.ticket, f.reply)
			if now.Sub(start) > time.Minute {
				if f.reply.Kind == Throttled {
					n.refused++
				} else {
					n.answered++
				}
			}
		}
	}
	return n
}

func TestRefusalsAreFewAndTheLimitIsUsed(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{60, 600, 6000} {
		for _, bucket := range []bool{false, true} {
			for _, how := range []string{"headers", "no headers", "silent"} {
				for _, latency := range []time.Duration{50 * time.Millisecond, 2 * time.Second} {
					t.Run(fmt.Sprintf("%d a minute, bucket %v, %s, %s", limit, bucket, how, latency), func(t *testing.T) {
						t.Parallel()
						s := &server{limit: limit, bucket: bucket, headers: how == "headers", silent: how == "silent"}
						n := drive(&Limiter{}, s, latency, 11*time.Minute)
						share := float64(n.refused) / float64(n.answered+n.refused)
						most := 0.02
						if s.headers {
							most = 0.01
						}
						if share >= most {
							t.Errorf("%d of %d refused: %.2f%%", n.refused, n.answered+n.refused, 100*share)
						}
						if used := float64(n.answered) / float64(10*limit); used < 0.8 || used > 1.12 {
							t.Errorf("%.0f%% of the limit is used", 100*used) // a bucket that was full at first gives a tenth more
						}
					})
				}
			}
		}
	}
}

func TestAMinuteThatIsLongerThanSaidCostsLittle(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{60, 600, 6000} {
		for _, early := range []time.Duration{20 * time.Millisecond, 300 * time.Millisecond} {
			t.Run(fmt.Sprintf("%d a minute, by %s", limit, early), func(t *testing.T) {
				t.Parallel()
				n := drive(&Limiter{}, &server{limit: limit, headers: true, silent: true, early: early}, 200*time.Millisecond,
					11*time.Minute)
				if share := float64(n.refused) / float64(n.answered+n.refused); share > 0.02 {
					t.Errorf("%d of %d refused: %.2f%%", n.refused, n.answered+n.refused, 100*share)
				}
				if used := float64(n.answered) / float64(10*limit); used < 0.9 {
					t.Errorf("%.0f%% of the limit is used", 100*used)
				}
			})
		}
	}
}

func TestAPassingRefusalIsGotOver(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{600, 6000} {
		for _, latency := range []time.Duration{50 * time.Millisecond, time.Second} {
			for name, c := range map[string]struct {
				from, to time.Duration
				least    float64 // of the limit is used over ten minutes
			}{
				"at the very first":           {0, 100 * time.Millisecond, 0.9},
				"of the first seconds":        {0, 5 * time.Second, 0.9},
				"after a while":               {30 * time.Second, 31 * time.Second, 0.9},
				"for a while":                 {3 * time.Minute, 3*time.Minute + 20*time.Second, 0.75},
				"for longer than it is known": {3 * time.Minute, 4*time.Minute + 30*time.Second, 0.7},
			} {
				for _, silent := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s, %d a minute, %s, silent %v", name, limit, latency, silent), func(t *testing.T) {
						t.Parallel()
						s := &server{limit: limit, bucket: true, silent: silent, from: c.from, to: c.to}
						n := drive(&Limiter{}, s, latency, 11*time.Minute)
						if used := float64(n.answered) / float64(10*limit); used < c.least {
							t.Errorf("%.0f%% of the limit is used", 100*used)
						}
					})
				}
			}
		}
	}
}

func TestARefusalTeachesWhatTheHeadersDoNotExplain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hints   Hints
		learned bool
	}{
		"no headers": {Hints{}, true},
		"there is enough of everything": {Hints{Requests: Hint{Known: true, Limit: 600, Remaining: 500},
			Tokens: Hint{Known: true, Limit: 9000, Remaining: 8000}}, true},
		"no request is left":            {Hints{Requests: Hint{Known: true, Limit: 600}}, false},
		"fewer tokens than it may take": {Hints{Tokens: Hint{Known: true, Limit: 200, Remaining: 130}}, false},
		"tokens are nearly used up":     {Hints{Tokens: Hint{Known: true, Limit: 90_000, Remaining: 4000}}, false},
		"of several limits one explains": {Hints{Requests: Hint{Known: true, Limit: 600, Remaining: 500},
			Output: Hint{Known: true, Limit: 9000, Remaining: 10}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, now, load := &Limiter{}, time.Unix(0, 0), Load{Input: 50, Output: 50}
			for range 100 {
				l.Done(now.Add(time.Second), l.Send(now, load), Reply{})
			}
			l.Done(now.Add(30*time.Second), l.Send(now.Add(29*time.Second), load), Reply{Kind: Throttled, Hints: c.hints})
			if got := l.learned.rate > 0; got != c.learned {
				t.Errorf("learned %v, want %v", got, c.learned)
			}
		})
	}
}

func TestTheWidthGrowsWhileAnswersFlowAndShrinksWhenTheProviderIsBusy(t *testing.T) {
	t.Parallel()
	l := &Limiter{Most: 64}
	now := time.Unix(0, 0)
	round := func(k Kind, retry time.Duration) {
		var up []Ticket
		for l.Wait(now, Load{}) == 0 {
			up = append(up, l.Send(now, Load{}))
		}
		now = now.Add(100 * time.Millisecond)
		for _, t := range up {
			l.Done(now, t, Reply{Kind: k, RetryAfter: retry})
		}
	}
	var widths []int
	for range 5 {
		round(Answered, 0)
		widths = append(widths, l.Width())
	}
	round(Busy, 0)
	widths = append(widths, l.Width())
	if wait := l.Wait(now, Load{}); wait != time.Second {
		t.Errorf("waits %s after a busy reply", wait)
	}
	now = now.Add(time.Second)
	round(Busy, 5*time.Second)
	widths = append(widths, l.Width())
	if wait := l.Wait(now, Load{}); wait != 5*time.Second {
		t.Errorf("waits %s where 5s are asked for", wait)
	}
	now = now.Add(5 * time.Second)
	round(Answered, 0)
	widths = append(widths, l.Width())
	if d := cmp.Diff([]int{13, 20, 31, 47, 64, 44, 30, 31}, widths); d != "" {
		t.Error(d)
	}
}

func TestSlowRepliesMakeRoom(t *testing.T) {
	t.Parallel()
	l := &Limiter{Most: 32}
	now := time.Unix(0, 0)
	width := func(took time.Duration, n int) int {
		for range n {
			t := l.Send(now, Load{})
			t.full = true
			now = now.Add(took)
			l.Done(now, t, Reply{})
		}
		return l.Width()
	}
	if w := width(500*time.Millisecond, 100); w != 32 {
		t.Errorf("%d in flight after quick replies", w)
	}
	if w := width(4*time.Second, 200); w >= 28 {
		t.Errorf("%d in flight after slow replies", w)
	}
}

func TestWhatIsUsualIsKnownAfter32Replies(t *testing.T) {
	t.Parallel()
	for quick, want := range map[int]bool{31: false, 32: true} {
		var s speed
		for i := range quick {
			if s.slow(100*time.Millisecond, 1) {
				t.Errorf("reply %d of %d like it is slow", i+1, quick)
			}
		}
		if got := s.slow(100*time.Second, 1); got != want {
			t.Errorf("a reply of 100 s after %d of 0.1 s: slow %v", quick, got)
		}
	}
}

func TestSlotsAreUsedInTheirTimeOrNotAtAll(t *testing.T) {
	t.Parallel()
	caps := Caps{Rate: 20}
	start := time.Unix(100, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	var s Slots
	if _, ok := s.Wait(start); ok {
		t.Error("a slot before any was leased")
	}
	s.Add(at(100), 50*time.Millisecond, 20)
	wait := func(now time.Time) time.Duration { d, _ := s.Wait(now); return d }
	if d := wait(start); d != 100*time.Millisecond {
		t.Errorf("the first one in %s", d)
	}
	s.Take()
	if d := wait(at(100)); d != 50*time.Millisecond {
		t.Errorf("the second one in %s", d)
	}
	if d := wait(at(340)); d != 0 {
		t.Errorf("one that is 190 ms late waits %s", d)
	}
	used := 0
	for {
		d, ok := s.Wait(at(520))
		if !ok || d > 0 {
			break
		}
		s.Take()
		used++
	}
	if used != 4 { // those of 350 to 500: the one before is gone
		t.Errorf("%d slots are used after a halt", used)
	}
	if _, ok := s.Wait(at(5000)); ok {
		t.Error("slots of long ago are good")
	}
	if got := caps.Every(); got < 51*time.Millisecond || got > 52*time.Millisecond {
		t.Errorf("one every %s at 20 a second", got)
	}
	if got := (Caps{Rate: 20, Pause: time.Second}).Every(); got != time.Second {
		t.Errorf("one every %s with a pause of a second", got)
	}
}

func TestAPurseSpendsWhatWasLeased(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	var p TokenBudget
	if _, missing := p.Wait(now, 300); missing != 300 {
		t.Errorf("%g are missing", missing)
	}
	p.Add(now.Add(time.Second), 500)
	if wait, missing := p.Wait(now, 300); wait != time.Second || missing != 0 {
		t.Errorf("wait %s, %g missing", wait, missing)
	}
	p.Spend(300)
	p.Spend(-50)
	if _, missing := p.Wait(now, 300); math.Abs(missing-50) > 1e-9 {
		t.Errorf("%g are missing", missing)
	}
}
