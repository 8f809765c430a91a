package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
)

// VerdictFilter narrows a page of verdicts. Stage, lane and pairs are found by an index; Keep looks at every verdict that
// is left.
type VerdictFilter struct {
	Stage string
	Lane  string              // whose answer; empty: any
	Pairs [][2]string         // which pairs of lanes, as they are shown; empty: any
	Keep  func(*Verdict) bool // nil: all
}

// VerdictsPage is a few verdicts, and where to go on.
type VerdictsPage struct {
	Verdicts []Verdict
	Next     int64 // the page after this one begins after this verdict; 0: there is none
	Seen     int   // verdicts looked at
}

// maxSeen is how many verdicts one page looks at before it hands over what it has: a rare kind takes several pages, never
// a long wait.
const maxSeen = 4_000

// VerdictsPage reads at most limit verdicts of a run in the order they were given, after one. Stale ones are left out.
func (s *Reader) VerdictsPage(ctx context.Context, run int64, f VerdictFilter, after int64, limit int) (VerdictsPage, error) {
	page := VerdictsPage{Next: after}
	for block := 2 * limit; page.Seen < maxSeen; block = min(4*block, 2000) {
		all, more, err := s.nextVerdicts(ctx, run, f, page.Next, block)
		if err != nil {
			return page, err
		}
		for i := range all {
			page.Seen++
			page.Next = all[i].No
			if all[i].Stale || f.Keep != nil && !f.Keep(&all[i]) {
				continue
			}
			if page.Verdicts = append(page.Verdicts, all[i]); len(page.Verdicts) == limit {
				if !more && i == len(all)-1 {
					page.Next = 0
				}
				return page, nil
			}
		}
		if !more {
			page.Next = 0
			return page, nil
		}
	}
	return page, nil
}

// nextVerdicts reads the next verdicts of a filter's ranges in one order, and reports whether there are more.
func (s *Reader) nextVerdicts(ctx context.Context, run int64, f VerdictFilter, after int64, block int) ([]Verdict, bool, error) {
	read := func(where string, args ...any) ([]Verdict, error) {
		return collect(walk(ctx, s, "read verdicts", scanVerdict, verdictColumns+`WHERE run_no = $1 AND no > $2 AND `+where+
			fmt.Sprintf(` ORDER BY no LIMIT %d`, block), append([]any{run, after}, args...)...))
	}
	var ranges [][]Verdict
	var err error
	add := func(some []Verdict, e error) { ranges, err = append(ranges, some), cmp.Or(err, e) }
	switch {
	case len(f.Pairs) > 0:
		for _, p := range f.Pairs {
			add(read(`stage = $3 AND lane = $4 AND against = $5`, f.Stage, p[0], p[1]))
		}
	case f.Lane != "":
		add(read(`stage = $3 AND lane = $4 AND against = ''`, f.Stage, f.Lane))
	case f.Stage != "":
		add(read(`stage = $3`, f.Stage))
	default:
		add(read(`no > $3`, after))
	}
	if err != nil {
		return nil, false, err
	}
	all, more := mergeVerdicts(ranges, block)
	return all, more, nil
}

// mergeVerdicts puts ranges into one order. Beyond the end of a range that was cut nothing is sure.
func mergeVerdicts(ranges [][]Verdict, block int) (all []Verdict, more bool) {
	sure := int64(math.MaxInt64)
	for _, r := range ranges {
		if len(r) == block {
			more, sure = true, min(sure, r[len(r)-1].No)
		}
		all = append(all, r...)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].No < all[j].No })
	return slices.DeleteFunc(all, func(v Verdict) bool { return v.No > sure }), more
}
