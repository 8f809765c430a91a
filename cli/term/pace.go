package term

import "time"

// Pace is how many requests had ended when, over the last minutes.
type Pace struct{ marks []mark }

type mark struct {
	at    time.Time
	ended int64
}

const (
	lately    = 5 * time.Minute // what ended before does not count for the rate
	markEvery = 2 * time.Second
)

// See takes a look into account and returns how many end a second; 0: that is not known.
func (p *Pace) See(now time.Time, ended int64) float64 {
	if n := len(p.marks); n > 0 && (now.Before(p.marks[n-1].at) || ended < p.marks[n-1].ended) {
		p.marks = nil // the clock was set back, or what had ended is asked again
	}
	for len(p.marks) > 1 && now.Sub(p.marks[1].at) >= lately {
		p.marks = p.marks[1:]
	}
	if len(p.marks) == 0 {
		p.marks = []mark{{now, ended}}
		return 0
	}
	if now.Sub(p.marks[len(p.marks)-1].at) >= markEvery {
		p.marks = append(p.marks, mark{now, ended})
	}
	d := now.Sub(p.marks[0].at).Seconds()
	if d < 1 {
		return 0
	}
	return float64(ended-p.marks[0].ended) / d
}
