package read

import (
	"context"
	"fmt"
	"math"
	"sort"
	"strings"

	"assay/internal/keep/store"
	"assay/internal/keep/store/db"
)

// How many verdicts one page looks at before it hands over what it has: a rare kind takes several pages, never a long wait. The
// database looks faster than Keep, which needs whole rows.
const (
	maxSeen = 20_000
	maxKept = 4_000
)

// VerdictsPage reads at most limit verdicts of a run in the order they were given, after one. Stale ones are left out.
func (s *Pages) VerdictsPage(ctx context.Context, run int64, f store.VerdictFilter, after int64, limit int) (store.VerdictsPage, error) {
	page := store.VerdictsPage{Next: after}
	w := verdictWalk{db: s.db, run: run, filter: f, ranges: rangesOf(f)}
	most, widest := maxSeen, 5_000
	if f.Keep != nil {
		most, widest = maxKept, 2_000
	}
	for block := 2 * limit; page.Seen < most; block = min(4*block, widest) {
		end, more, err := w.end(ctx, page.Next, block)
		if err != nil {
			return page, err
		}
		all, err := w.between(ctx, page.Next, end, limit-len(page.Verdicts))
		if err != nil {
			return page, err
		}
		if page.Verdicts = append(page.Verdicts, all.some...); all.full {
			end, more = all.last, true
		}
		seen, err := w.count(ctx, page.Next, end)
		if err != nil {
			return page, err
		}
		page.Seen, page.Next = page.Seen+seen, end
		switch {
		case !more:
			page.Next = 0
			return page, nil
		case len(page.Verdicts) == limit:
			return page, nil
		}
	}
	return page, nil
}

// verdictWalk reads the verdicts of a filter, stretch by stretch.
type verdictWalk struct {
	db     *db.DB
	run    int64
	filter store.VerdictFilter
	ranges []verdictRange
}

// verdictRange is verdicts that an index holds in the order they were given. Its arguments come after run, after and end.
type verdictRange struct {
	where string
	args  []any
}

func rangesOf(f store.VerdictFilter) []verdictRange {
	switch {
	case len(f.Pairs) > 0:
		var all []verdictRange
		for _, p := range f.Pairs {
			all = append(all, verdictRange{` AND stage = $4 AND lane = $5 AND against = $6`, []any{f.Stage, p[0], p[1]}})
		}
		return all
	case f.Lane != "":
		return []verdictRange{{` AND stage = $4 AND lane = $5 AND against = ''`, []any{f.Stage, f.Lane}}}
	case f.Stage != "":
		return []verdictRange{{` AND stage = $4`, []any{f.Stage}}}
	}
	return []verdictRange{{}}
}

// looks is the part of a condition that is looked at row by row.
func conditionOf(f store.VerdictFilter, args []any) (string, []any) {
	text := ` AND stale = 0`
	add := func(value, condition string) {
		if value != "" {
			args = append(args, value)
			text += ` AND ` + strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(args)))
		}
	}
	add(f.Label, `label = ?`)
	add(f.State, `state = ?`)
	add(f.Says, `CASE WHEN COALESCE(label, '') = '' THEN state ELSE label END = ?`)
	add(f.Item, `item = ?`)
	return text, args
}

// end returns the end of the next stretch of about a block, and whether there are more after it. Of several ranges it
// takes the first end of one that goes on.
func (w verdictWalk) end(ctx context.Context, after int64, block int) (end int64, more bool, err error) {
	end = math.MaxInt64
	for _, r := range w.ranges {
		var n int
		var last int64
		err := w.db.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MAX(no), 0) FROM (SELECT no FROM verdicts
			WHERE run_no = $1 AND no > $2 AND no <= $3`+r.where+
			fmt.Sprintf(` ORDER BY no LIMIT %d) AS g`, block),
			append([]any{w.run, after, int64(math.MaxInt64)}, r.args...)...).Scan(&n, &last)
		if err != nil {
			return 0, false, fmt.Errorf("read verdicts: %w", err)
		}
		if n == block {
			more, end = true, min(end, last)
		}
	}
	return end, more, nil
}

// stretch is the part of a stretch that was read; full if it has more than was asked for; last is the last one read.
type stretch struct {
	some []store.Verdict
	full bool
	last int64
}

// between reads the verdicts after one, until another, that the filter takes, at most limit.
func (w verdictWalk) between(ctx context.Context, after, end int64, limit int) (stretch, error) {
	var all []store.Verdict
	for _, r := range w.ranges {
		text, args := conditionOf(w.filter, append([]any{w.run, after, end}, r.args...))
		n := 0
		for v, err := range db.Walk(ctx, w.db, "read verdicts", scanVerdict, verdictColumns+`WHERE run_no = $1 AND no > $2
			AND no <= $3`+r.where+text+` ORDER BY no`, args...) {
			if err != nil {
				return stretch{}, err
			}
			if w.filter.Keep != nil && !w.filter.Keep(&v) {
				continue
			}
			all = append(all, v)
			if n++; n > limit {
				break
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].No < all[j].No })
	if len(all) <= limit {
		return stretch{some: all}, nil
	}
	return stretch{all[:limit], true, all[limit-1].No}, nil
}

// count returns how many verdicts of the ranges lie after one, until another.
func (w verdictWalk) count(ctx context.Context, after, end int64) (int, error) {
	sum := 0
	for _, r := range w.ranges {
		var n int
		err := w.db.QueryRow(ctx, `SELECT COUNT(*) FROM verdicts
			WHERE run_no = $1 AND no > $2 AND no <= $3`+r.where, append([]any{w.run, after, end}, r.args...)...).Scan(&n)
		if err != nil {
			return 0, fmt.Errorf("count verdicts: %w", err)
		}
		sum += n
	}
	return sum, nil
}
