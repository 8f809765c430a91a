package progress

import (
	"context"
	"fmt"
	"slices"
	"time"

	"assay/internal/keep/store"
	"assay/internal/show/report"
	"assay/internal/show/report/figures"
	"assay/internal/show/report/plot"
	"assay/internal/show/web/site"
)

// The ids of the plots of a run's history.
const (
	BurnID     = "burn"
	TimelineID = "timeline"
)

// History returns the plots of what a run sent and spent; nil where nothing was sent yet.
func History(ctx context.Context, h *site.Home, run store.Run, now time.Time) (burn, timeline *plot.Figure, err error) {
	spans, err := h.Pages.Spans(ctx, run.No, shownSpans)
	if err != nil || len(spans) == 0 {
		return nil, nil, err
	}
	var all []report.Segment
	for _, g := range spans {
		all = append(all, report.Segment{
			No: g.No, Stage: g.Stage, Lane: g.Lane, Mode: string(g.Mode), State: string(g.State), Requests: g.Requests, Created: g.Created,
			Launched: g.Launched, Ended: g.Ended, Settled: g.Settled, Cost: g.Cost,
		})
	}
	until := run.Closed
	if until.IsZero() {
		until = now
	}
	burn = figures.BurnUp(all, run.Budget, until)
	timeline = figures.Timeline(all, until, site.LinksOf(run.ID))
	if len(spans) == shownSpans {
		note := fmt.Sprintf("the newest %d segments", shownSpans)
		burn.Notes, timeline.Notes = append(slices.Clone(burn.Notes), note), append(slices.Clone(timeline.Notes), note)
	}
	burn.ID, timeline.ID = BurnID, TimelineID
	site.WithFiles(run.ID, "", burn, timeline)
	return burn, timeline, nil
}
