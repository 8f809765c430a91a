package ratelimit

import "time"

// Hints are the provider's limits by the headers of a reply.
type Hints struct{ Requests, Tokens, Input, Output Hint }

// Hint is one limit. The zero value means that the reply has none.
type Hint struct {
	Known     bool
	Limit     int64
	Remaining int64
	Reset     time.Duration // until it is full again; 0: not given
}

// The places of the limits in a list of them.
const requests = 0

func (h Hints) list() [4]Hint { return [4]Hint{h.Requests, h.Tokens, h.Input, h.Output} }

// share returns what one request takes out of a limit.
func share(i int, l Load) float64 {
	return [4]float64{1, l.Input + l.Output, l.Input, l.Output}[i]
}

// window holds what is left of one limit, as far as it is known. What is left below half of the limit is spread over the time
// until it is full again: a limit that starts anew every minute is then used up just when it does, and one that fills up all
// the time stays half full.
type window struct {
	known  bool
	limit  float64
	left   float64
	reset  time.Time
	period time.Duration // the longest time until it was full that a reply stated
	next   time.Time
}

// usualPeriod is the time of a limit whose headers do not state it.
const usualPeriod = time.Minute

// hinted takes over the rest that a reply tells; away is the amount that those in flight will take, some of which may be counted already.
func (w *window) hinted(now time.Time, h Hint, away float64) {
	reset := h.Reset
	if reset <= 0 {
		reset = usualPeriod
	}
	w.known, w.limit, w.period = true, float64(h.Limit), max(w.period, reset)
	w.left, w.reset = float64(h.Remaining)-away, now.Add(reset)
}

// sent takes out what a request is expected to take.
func (w *window) sent(now time.Time, load float64) {
	if !w.known {
		return
	}
	w.renew(now, load)
	w.next = time.Time{}
	if every, ok := w.every(now, load); ok {
		w.next = now.Add(every)
	}
	w.left -= load
}

// renew begins the window anew when its time is over. Until a reply confirms that it is an assumption, for a part of its time,
// and little is tried: a process a moment early would have all of it refused.
func (w *window) renew(now time.Time, load float64) {
	if w.known && !now.Before(w.reset) {
		w.known = w.limit > 0
		w.left, w.reset, w.next = max(w.limit/50, load), now.Add(w.period/10), time.Time{}
	}
}

func (w *window) wait(now time.Time, load float64) time.Duration {
	w.renew(now, load)
	if !w.known {
		return 0
	}
	if w.left < load && w.left < w.limit { // one that is larger than the limit goes alone
		return w.reset.Sub(now)
	}
	if _, spread := w.every(now, load); !spread {
		return 0
	}
	return w.next.Sub(now)
}

// every returns how long what is left has to last for each request, if it has to be spread.
func (w *window) every(now time.Time, load float64) (time.Duration, bool) {
	if w.limit > 0 && w.left >= w.limit/2 || w.left <= 0 {
		return 0, false
	}
	rest := w.reset.Sub(now)
	return min(time.Duration(load/w.left*float64(rest)), rest), true
}
