package pace

import "time"

// learned is a rate that was found out by being refused, at providers that do not tell their limits.
type learned struct {
	rate  float64 // requests a second; 0: nothing is known
	next  time.Time
	grown time.Time // when the rate was last changed

	began  time.Time // of the count
	second int64     // the newest second in the ring
	ring   [span]int // requests that were not refused, by second
}

// span is how far back requests are counted, in seconds: limits are those of a minute nearly everywhere.
const span = 60

const (
	margin = 0.97 // of what was found out is used
	probe  = 1.01 // how much more is tried after a minute without a refusal
)

func (l *learned) wait(now time.Time) time.Duration {
	if l.rate == 0 {
		return 0
	}
	return l.next.Sub(now)
}

func (l *learned) sent(now time.Time) {
	l.turn(now)
	l.ring[l.second%span]++
	if l.rate == 0 {
		return
	}
	every := time.Duration(float64(time.Second) / l.rate)
	l.next = later(l.next, now.Add(-every)).Add(every)
}

// turn moves the ring on to a moment.
func (l *learned) turn(now time.Time) {
	s := now.Unix()
	if l.began.IsZero() {
		l.began, l.second = now, s
	}
	for n := 0; l.second < s && n < span; n++ {
		l.second++
		l.ring[l.second%span] = 0
	}
	l.second = max(l.second, s)
}

// refused takes a request out of the count.
func (l *learned) refused(sent time.Time) {
	s := sent.Unix()
	if l.second-s < span && l.ring[s%span] > 0 {
		l.ring[s%span]--
	}
}

// learn sets the rate after a refusal: what was taken in the last minute, or in less, where the provider says how long
// the rest of the minute is.
func (l *learned) learn(now time.Time, retryAfter time.Duration) {
	l.turn(now)
	taken := 0
	for _, n := range l.ring {
		taken += n
	}
	over := min(max(now.Sub(l.began)+retryAfter, time.Second), span*time.Second)
	found := float64(taken) / over.Seconds() * margin
	l.grown = now
	switch {
	case taken == 0:
	case l.rate == 0 || found < l.rate*0.9:
		l.rate = found
	default:
		l.rate *= 0.95
	}
}

// answered tries a little more after a while without a refusal.
func (l *learned) answered(now time.Time) {
	if l.rate > 0 && now.Sub(l.grown) >= time.Minute {
		l.rate, l.grown = l.rate*probe, now
	}
}
