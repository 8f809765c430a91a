package ratelimit

import "time"

// learned is a rate that was found out by being refused, at providers that do not state their limits.
type learned struct {
	rate  float64 // requests a second; 0: nothing is known
	next  time.Time
	grown time.Time // when the rate was last changed, or a request refused
	more  float64   // by how much the rate grows next

	refusedAt time.Time     // the first of the newest refusals in a row
	taken     int           // in the minute before it; 0: too few to learn from
	over      time.Duration // how long that minute was

	began  time.Time // of the count
	second int64     // the newest second in the ring
	ring   [span]int // requests that were not refused, by second
}

// span is how far back requests are counted, in seconds: limits are those of a minute nearly everywhere.
const span = 60

const (
	margin    = 0.97 // of what was found out is used
	leastMore = 0.01 // how much more is tried after a minute without a refusal; after each further one, half as much again
	mostMore  = 0.5
)

// A refusal is evidence of a rate when so many requests were taken before it, or for so long.
const (
	leastTaken = 20
	leastLong  = 20 * time.Second
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
		if l.taken > 1 && !sent.After(l.refusedAt) { // it was in flight when the first one was refused
			l.taken--
		}
	}
}

// learn sets the rate after a refusal: what was taken in the last minute, or in less, where the provider gives how long
// the rest of the minute is. Further refusals without an answer in between mean only that the minute is longer than it
// seemed: as much is taken when it is over as was before the first of them.
func (l *learned) learn(now time.Time, retryAfter time.Duration, first bool) {
	l.turn(now)
	l.grown, l.more = now, leastMore
	if first {
		l.taken, l.refusedAt = 0, now
		for _, n := range l.ring {
			l.taken += n
		}
		l.over = max(now.Sub(l.began)+retryAfter, time.Second)
		if l.rate == 0 && l.taken < leastTaken && now.Sub(l.began) < leastLong {
			l.taken = 0 // too little to learn from
		}
	}
	if l.taken == 0 {
		return
	}
	over := min(l.over+now.Sub(l.refusedAt), span*time.Second)
	found := float64(l.taken) / over.Seconds() * margin
	switch {
	case l.rate == 0, found < l.rate*0.9:
		l.rate = found
	case first:
		l.rate *= 0.95
	}
}

// answered tries a little more after a while without a refusal, and more and more: what was found out may be wrong, or
// no longer right.
func (l *learned) answered(now time.Time) {
	if l.rate > 0 && now.Sub(l.grown) >= time.Minute {
		l.rate, l.grown = l.rate*(1+l.more), now
		l.more = min(1.5*l.more, mostMore)
	}
}
