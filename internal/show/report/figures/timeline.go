package figures

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/show/report"
	"assay/internal/show/report/plot"
)

// clock is an axis of time that counts from the beginning of a run.
type clock struct {
	start time.Time
	unit  time.Duration
	name  string
	x     plot.Scale
}

// newClock chooses the unit that suits a span.
func newClock(start, end time.Time, from, to float64) clock {
	span := max(end.Sub(start), time.Millisecond)
	c := clock{start: start}
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "hours"}, {time.Minute, "minutes"}, {time.Second, "seconds"},
		{time.Millisecond, "milliseconds"}} {
		if c.unit = u.unit; span >= 2*u.unit || u.unit == time.Millisecond {
			c.name = u.name
			break
		}
	}
	c.x = plot.Scale{High: float64(span) / float64(c.unit), From: from, To: to}
	return c
}

func (c clock) at(t time.Time) float64 { return c.x.At(float64(t.Sub(c.start)) / float64(c.unit)) }

// draw draws the axis and its grid.
func (c clock) draw(s *plot.Scene, top, bottom float64) {
	list, step := plot.Ticks(c.x.Low, c.x.High, 7)
	for _, v := range list {
		x := c.x.At(v)
		s.Line("grid", x, top, x, bottom)
		s.Say("tick mid", x, bottom+16, plot.TickText(analysis.Points, v, step))
	}
	s.Line("axis", c.x.From, bottom, c.x.To, bottom)
	s.Say("axis-name mid", (c.x.From+c.x.To)/2, bottom+36, c.name+" since "+c.start.UTC().Format("2006-01-02 15:04:05")+" UTC")
}

// Span is from the first segment to the last thing that happened, or to until where something is in flight.
func Span(segments []report.Segment, until time.Time) (start, end time.Time) {
	open := false
	for _, g := range segments {
		if start.IsZero() || g.Created.Before(start) {
			start = g.Created
		}
		for _, t := range []time.Time{g.Created, g.Launched, g.Ended, g.Settled} {
			if t.After(end) {
				end = t
			}
		}
		open = open || g.Open()
	}
	if open && until.After(end) {
		end = until
	}
	return start, end
}

// BurnUp returns what a run has cost, from its beginning to its end, under its budget. Until is now for a run that is
// open.
func BurnUp(segments []report.Segment, budget *assay.Money, until time.Time) *plot.Figure {
	f := &plot.Figure{Title: "Cost over time", Words: "What has been spent, as results came in."}
	var settled []report.Segment
	for _, g := range segments {
		if !g.Settled.IsZero() {
			settled = append(settled, g)
		}
	}
	sort.SliceStable(settled, func(i, j int) bool { return settled[i].Settled.Before(settled[j].Settled) })
	if len(settled) == 0 {
		f.Words = "Nothing has come back yet."
		return f
	}
	var total assay.Cost
	sums := make([]assay.Cost, len(settled))
	data := &plot.Grid{Caption: f.Title, Head: []plot.Column{{Text: "time (UTC)"}, {Text: "stage", Foreign: true},
		{Text: "lane", Foreign: true}, {Text: "cost", Number: true}, {Text: "so far", Number: true}}}
	for i, g := range settled {
		total = total.Add(g.Cost)
		sums[i] = total
		if i < maxTimeRows {
			data.Rows = append(data.Rows, []plot.Cell{{Text: plot.Stamp(g.Settled)}, plot.Foreign(g.Stage), plot.Foreign(g.Lane),
				plot.Number(g.Cost.String()), plot.Number(total.String())})
		}
	}
	if n := len(settled) - maxTimeRows; n > 0 {
		data.Notes = append(data.Notes,
			fmt.Sprintf("the first %d of %d; assay spend and assay sql have them all", maxTimeRows, len(settled)))
	}
	if !total.Known() {
		f.Notes = append(f.Notes, fmt.Sprintf("at least: %s without a known price", assay.Count(int(total.Unknown), "attempt")))
	}
	f.Data = data
	start, end := Span(segments, until)
	f.Scene = burnScene(settled, sums, budget, start, end)
	return f
}

// maxTimeRows is how many rows the tables under plots of time have.
const maxTimeRows = 200

func burnScene(settled []report.Segment, sums []assay.Cost, budget *assay.Money, start, end time.Time) *plot.Scene {
	total := sums[len(sums)-1].Sum
	const top, bottom, left = 16.0, 210.0, 74.0
	high := total.Float() * 1.1
	near := budget != nil && *budget > 0 && budget.Float() <= 4*total.Float()
	if near {
		high = max(high, budget.Float()*1.08)
	}
	if high <= 0 {
		high = 1
	}
	s := &plot.Scene{Title: "Cost over time", Desc: fmt.Sprintf("A line that climbs to %s in %s.", sums[len(sums)-1],
		assay.Count(len(settled), "step")), Width: plot.PlotWidth, Height: bottom + plot.AxisRoom}
	y := plot.Scale{High: high, From: bottom, To: top}
	list, _ := plot.Ticks(0, high, 5)
	for _, v := range list {
		s.Line("grid", left, y.At(v), plot.PlotWidth-10, y.At(v))
		s.Say("tick end", left-7, y.At(v)+3.8, plot.DollarTick(v))
	}
	c := newClock(start, end, left, plot.PlotWidth-10)
	c.draw(s, top, bottom)
	up := s.Say("axis-name mid", 12, (top+bottom)/2, "spent (US dollars)")
	up.Turn = -90
	if near {
		s.Line("reference", left, y.At(budget.Float()), plot.PlotWidth-10, y.At(budget.Float()))
		s.Say("tick end", plot.PlotWidth-12, y.At(budget.Float())-5, "budget "+budget.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %s", plot.Px(left), plot.Px(bottom))
	for i, g := range settled {
		fmt.Fprintf(&b, "H%sV%s", plot.Px(c.at(g.Settled)), plot.Px(y.At(sums[i].Sum.Float())))
	}
	fmt.Fprintf(&b, "H%s", plot.Px(c.at(end)))
	s.Path("area s1", b.String()+fmt.Sprintf("V%sZ", plot.Px(bottom)))
	s.Path("curve s1", b.String())
	return s
}

// Timeline returns when the segments of a run waited, ran and were collected. Until is now for a run that is open.
func Timeline(segments []report.Segment, until time.Time, links report.Links) *plot.Figure {
	f := &plot.Figure{Title: "Segments over time", Words: "Each bar is a segment: requests of one lane that travel together."}
	if len(segments) == 0 {
		f.Words = "There is no segment yet."
		return f
	}
	f.Data = segmentGrid(segments, links)
	start, end := Span(segments, until)
	f.Scene = ganttScene(segments, start, end, links, f)
	return f
}

func segmentGrid(segments []report.Segment, links report.Links) *plot.Grid {
	g := &plot.Grid{Caption: "Segments", Head: []plot.Column{
		{Text: "segment", Number: true}, {Text: "stage", Foreign: true}, {Text: "lane", Foreign: true}, {Text: "mode"}, {Text: "state"},
		{Text: "requests", Number: true}, {Text: "created (UTC)"}, {Text: "launched"}, {Text: "ended"}, {Text: "settled"},
		{Text: "cost", Number: true},
	}}
	for i, s := range segments {
		if i == maxTimeRows {
			g.Notes = append(g.Notes, fmt.Sprintf("the first %d of %d; assay status --segments has them all", maxTimeRows, len(segments)))
			break
		}
		g.Rows = append(g.Rows, []plot.Cell{
			{Text: fmt.Sprint(s.No), Link: links.ToSegment(s.No)}, plot.Foreign(s.Stage), plot.Foreign(s.Lane), {Text: s.Mode},
			{Text: s.State}, plot.Number(assay.Thousands(s.Requests)), {Text: plot.Stamp(s.Created)}, {Text: plot.Stamp(s.Launched)},
			{Text: plot.Stamp(s.Ended)}, {Text: plot.Stamp(s.Settled)}, plot.Number(s.Cost.String()),
		})
	}
	return g
}

// track is the segments of one lane in one stage; those that overlap are drawn below each other.
type track struct {
	stage, lane string
	segments    []report.Segment
	line        []int // of each segment
	lines       int
}

// maxTracks is how many lanes of stages a timeline has; maxLines, how many bars one has below each other.
const (
	maxTracks = 60
	maxLines  = 6
)

func tracksOf(segments []report.Segment, end time.Time) []track {
	var out []track
	for _, g := range segments {
		i := slices.IndexFunc(out, func(t track) bool { return t.stage == g.Stage && t.lane == g.Lane })
		if i < 0 {
			i = len(out)
			out = append(out, track{stage: g.Stage, lane: g.Lane})
		}
		out[i].segments = append(out[i].segments, g)
	}
	order := map[string]int{}
	for i := range out {
		out[i].pack(end)
		if _, ok := order[out[i].stage]; !ok {
			order[out[i].stage] = len(order)
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return order[out[i].stage] < order[out[j].stage] })
	return out
}

// pack gives each segment the first line that is free when it begins.
func (t *track) pack(end time.Time) {
	sort.SliceStable(t.segments, func(i, j int) bool { return t.segments[i].Created.Before(t.segments[j].Created) })
	var free []time.Time
	for _, g := range t.segments {
		i := slices.IndexFunc(free, func(at time.Time) bool { return !at.After(g.Created) })
		if i < 0 && len(free) < maxLines {
			i = len(free)
			free = append(free, time.Time{})
		}
		i = max(0, i)
		free[i] = g.Last(end)
		t.line = append(t.line, i)
	}
	t.lines = len(free)
}

const (
	barHigh   = 7.0
	barGap    = 2.0
	trackGap  = 7.0
	stageHead = 22.0
	ganttTop  = 30.0
)

func (t *track) high() float64 { return max(13, float64(t.lines)*(barHigh+barGap)) + trackGap }

func ganttScene(segments []report.Segment, start, end time.Time, links report.Links, f *plot.Figure) *plot.Scene {
	tracks := tracksOf(segments, end)
	if n := len(tracks) - maxTracks; n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s of stages more are in the table", assay.Count(n, "lane")))
		tracks = tracks[:maxTracks]
	}
	label, bottom := 0.0, ganttTop
	for i, t := range tracks {
		label = max(label, plot.WidthOf(assay.Clean(t.lane, plot.MaxName), plot.LabelSize))
		if i == 0 || tracks[i-1].stage != t.stage {
			bottom += stageHead
		}
		bottom += t.high()
	}
	label = min(220, max(70, label+14))
	s := &plot.Scene{
		Title: f.Title, Desc: fmt.Sprintf("Bars of %s in %s of stages, from waiting to collected. The table has every time.",
			assay.Count(len(segments), "segment"), assay.Count(len(tracks), "lane")), Width: plot.PlotWidth,
		Height: plot.Px(bottom + plot.AxisRoom),
	}
	ganttLegend(s)
	c := newClock(start, end, label, plot.PlotWidth-12)
	c.draw(s, ganttTop, bottom)
	y := ganttTop
	for i, t := range tracks {
		if i == 0 || tracks[i-1].stage != t.stage {
			s.Name("label strong", 0, y+15, label+200, t.stage)
			y += stageHead
		}
		s.Name("label end", label-8, y+(t.high()-trackGap)/2+4, label-10, t.lane)
		first := y + (t.high()-trackGap-float64(t.lines)*(barHigh+barGap)+barGap)/2
		for k, g := range t.segments {
			drawSegment(s, c, g, end, first+float64(t.line[k])*(barHigh+barGap), links)
		}
		y += t.high()
	}
	return s
}

func ganttLegend(s *plot.Scene) {
	x := 2.0
	for _, k := range []struct{ class, name string }{{"waits", "waiting to be sent"}, {"runs", "at the provider"},
		{"collects", "being collected"}, {"failed", "failed or cancelled"}} {
		s.Rect("bar "+k.class, x, 4, 16, barHigh)
		s.Say("label", x+22, 12, k.name)
		x += 22 + plot.WidthOf(k.name, plot.LabelSize) + 18
	}
}

// drawSegment draws the three parts of a segment's life as far as they have come.
func drawSegment(s *plot.Scene, c clock, g report.Segment, end time.Time, y float64, links report.Links) {
	tip := fmt.Sprintf("segment %d, %s, %s, %s", g.No, assay.Count(int(g.Requests), "request"), g.Mode, g.State)
	bar := func(class string, from, to time.Time) {
		x := min(c.at(from), c.x.To-1.5)
		r := s.Rect("bar "+class, x, y, max(1.5, c.at(to)-x), barHigh)
		r.Tip, r.Link = tip, links.ToSegment(g.No)
	}
	if g.State == "failed" || g.State == "cancelled" {
		bar("failed", g.Created, g.Last(end))
		return
	}
	if g.Launched.IsZero() {
		bar("waits", g.Created, end)
		return
	}
	bar("waits", g.Created, g.Launched)
	ran := g.Ended
	if ran.IsZero() {
		ran = g.Settled
	}
	if ran.IsZero() {
		ran = end
	}
	bar("runs", g.Launched, ran)
	if !g.Ended.IsZero() {
		bar("collects", g.Ended, g.Last(end))
	}
}
