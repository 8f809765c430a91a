// Package progress is the pages about runs as they go: lists, segments, events, orders, users of gateways, metrics.
package progress

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/web/memo"
	"assay/internal/show/web/site"
)

// Pages are the pages about runs as they go: lists, progress, orders, users and metrics.
type Pages struct {
	*site.Site
	causes   *memo.Memo[site.RunKey, []store.Cause]
	Requests RequestCounts
}

// New returns the pages of a site about runs as they go.
func New(s *site.Site) *Pages {
	return &Pages{Site: s, causes: memo.New[site.RunKey](s.Now, func(ctx context.Context, k site.RunKey) ([]store.Cause, error) {
		return k.Home.Pages.Causes(ctx, k.Run, shownCauses)
	})}
}

// marks spell where the next page begins in every home.
func marks(before []int64) string {
	text := make([]string, len(before))
	for i, n := range before {
		text[i] = fmt.Sprint(n)
	}
	return strings.Join(text, ".")
}

func readMarks(text string, homes int) ([]int64, error) {
	out := make([]int64, homes)
	if text == "" {
		return out, nil
	}
	parts := strings.Split(text, ".")
	if len(parts) != homes {
		return nil, site.Bad("before: %q is not a mark of a page", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || n < 0 {
			return nil, site.Bad("before: %q is not a mark of a page", text)
		}
		out[i] = n
	}
	return out, nil
}

// laneRow is a lane in one stage.
type laneRow struct {
	Stage   string `json:"stage"`
	Lane    string `json:"lane"`
	Model   string `json:"model"`
	Label   string `json:"label,omitempty"`
	Params  string `json:"params,omitempty"`
	State   string `json:"state"`
	Reason  string `json:"reason,omitempty"`
	Canary  string `json:"canary"`
	Planned int64  `json:"planned"`
	Spared  int64  `json:"spared"`
	runs.Progress
	Endings   map[string]int64 `json:"endings"`
	CacheHits int64            `json:"cache_hits"`
	Reused    int64            `json:"reused"`
	PaidTwice int64            `json:"paid_twice"`
}

func laneRowOf(l runs.LaneProgress) laneRow {
	row := laneRow{
		Stage: l.Stage, Lane: l.Name, Model: l.ModelID(), Label: l.Label, Params: l.Params, State: string(l.State), Reason: l.Reason,
		Canary: string(l.Canary), Planned: l.Planned, Spared: l.Spared, Progress: l.Progress, Endings: map[string]int64{},
		CacheHits: l.CacheHits, Reused: l.Reused, PaidTwice: l.Surplus,
	}
	for e, n := range l.Endings {
		row.Endings[string(e)] = n
	}
	return row
}

// laneGrid is lanes by stages, as a page shows them.
type laneGrid struct {
	Stages []string
	Rows   []gridRow
}

type gridRow struct {
	Lane, Model string
	Cells       []*laneRow // nil: the lane has no part in the stage
}

// gridOf puts lanes into a grid: stages in the order of the study where it is known, else by name.
func gridOf(lanes []laneRow) laneGrid {
	var g laneGrid
	for _, l := range lanes {
		if !slices.Contains(g.Stages, l.Stage) {
			g.Stages = append(g.Stages, l.Stage)
		}
	}
	for _, l := range lanes {
		i := slices.IndexFunc(g.Rows, func(r gridRow) bool { return r.Lane == l.Lane })
		if i < 0 {
			i = len(g.Rows)
			g.Rows = append(g.Rows, gridRow{l.Lane, l.Model, make([]*laneRow, len(g.Stages))})
		}
		g.Rows[i].Cells[slices.Index(g.Stages, l.Stage)] = &l
	}
	sort.SliceStable(g.Rows, func(i, j int) bool { return g.Rows[i].Lane < g.Rows[j].Lane })
	return g
}
