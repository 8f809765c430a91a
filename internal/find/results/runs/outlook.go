package runs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/store"
)

// There returns which providers have requests of a run and since when, and which ask to wait; empty: none does.
func (r RunProgress) There(now time.Time) string {
	type place struct {
		name        string
		there       int64
		since, wait time.Time
	}
	var all []place
	for _, l := range r.Lanes {
		if l.Provider == "" || l.InFlight == 0 && !l.wait.After(now) {
			continue
		}
		i := slices.IndexFunc(all, func(p place) bool { return p.name == l.Provider })
		if i < 0 {
			i, all = len(all), append(all, place{name: l.Provider})
		}
		p := &all[i]
		p.there += l.InFlight
		if !l.since.IsZero() && (p.since.IsZero() || l.since.Before(p.since)) {
			p.since = l.since
		}
		if l.wait.After(p.wait) {
			p.wait = l.wait
		}
	}
	slices.SortFunc(all, func(a, b place) int { return strings.Compare(a.name, b.name) })
	var texts []string
	for _, p := range all {
		text := p.name
		if p.there > 0 {
			text += fmt.Sprintf(": %s at work there", assay.Thousands(p.there))
			if !p.since.IsZero() {
				text += " since " + clockOf(p.since, now)
			}
		}
		if p.wait.After(now) {
			text += " asks to wait until " + clockOf(p.wait, now)
			if p.there > 0 {
				text = strings.Replace(text, " asks", ", asks", 1)
			}
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " · ")
}

// Times is how long jobs took that ended within a day.
type Times []store.JobTime

const (
	lately    = 24 * time.Hour
	leastJobs = 3 // of a model, before the time of another of its jobs is estimated
)

// TimesOf reads how long jobs took lately: of rehearsals, or of all other runs.
func TimesOf(ctx context.Context, r *results.Reader, rehearsal bool, now time.Time) (Times, error) {
	return r.Pages.JobTimes(ctx, rehearsal, now.Add(-lately))
}

// Return is when the jobs that are away come back, by what others like them took.
type Return struct {
	Left              time.Duration // 0: not known, all others were back sooner
	Shortest, Longest time.Duration // that others took
	All               bool          // nothing else is left to do
}

// Return estimates when what is at providers comes back: the middle one of those jobs of the same model that took longer than this one
// has taken yet. It reports false where nothing is there, or too few were like it.
func (r RunProgress) Return(times Times, now time.Time) (Return, bool) {
	var out Return
	known, overdue := false, false
	for _, l := range r.Lanes {
		if l.InFlight == 0 || l.since.IsZero() {
			continue
		}
		like := times.of(l.Provider, l.Model)
		if len(like) < leastJobs {
			return Return{}, false
		}
		if !known || like[0] < out.Shortest {
			out.Shortest = like[0]
		}
		out.Longest, known = max(out.Longest, like[len(like)-1]), true
		gone := now.Sub(l.since)
		like = slices.DeleteFunc(like, func(d time.Duration) bool { return d <= gone })
		if len(like) == 0 {
			overdue = true
			continue
		}
		out.Left = max(out.Left, like[len(like)/2]-gone)
	}
	if overdue {
		out.Left = 0
	}
	out.All = r.Done()+r.InFlight-r.Ready >= r.Wanted
	return out, known
}

// of returns how long jobs of a model took, the shortest first.
func (t Times) of(provider, model string) []time.Duration {
	var all []time.Duration
	for _, j := range t {
		if j.Provider == provider && j.Model == model {
			all = append(all, j.Took)
		}
	}
	slices.Sort(all)
	return all
}
