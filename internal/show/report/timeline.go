package report

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
)

// clock is an axis of time that counts from the beginning of a run.
type clock struct {
	start time.Time
	unit  time.Duration
	name  string
	x     scale
}

// newClock chooses the unit that suits a span.
func newClock(start, end time.Time, from, to float64) clock {
	span := max(end.Sub(start), time.Millisecond)
	c := clock{start: start}
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "hours"}, {time.Minute, "minutes"}, {time.Second, "seconds"}, {time.Millisecond, "milliseconds"}} {
		if c.unit = u.unit; span >= 2*u.unit || u.unit == time.Millisecond {
			c.name = u.name
			break
		}
	}
	c.x = scale{high: float64(span) / float64(c.unit), from: from, to: to}
	return c
}

func (c clock) at(t time.Time) float64 { return c.x.at(float64(t.Sub(c.start)) / float64(c.unit)) }

// draw draws the axis and its grid.
func (c clock) draw(s *Scene, top, bottom float64) {
	list, step := ticks(c.x.low, c.x.high, 7)
	for _, v := range list {
		x := c.x.at(v)
		s.line("grid", x, top, x, bottom)
		s.say("tick mid", x, bottom+16, tickText(analysis.Points, v, step))
	}
	s.line("axis", c.x.from, bottom, c.x.to, bottom)
	s.say("axis-name mid", (c.x.from+c.x.to)/2, bottom+36, c.name+" since "+c.start.UTC().Format("2006-01-02 15:04:05")+" UTC")
}

// span is from the first segment to the last thing that happened, or to until where something is in flight.
func span(segments []Segment, until time.Time) (start, end time.Time) {
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
		open = open || g.open()
	}
	if open && until.After(end) {
		end = until
	}
	return start, end
}

func (g Segment) open() bool {
	return g.Settled.IsZero() && g.State != "failed" && g.State != "cancelled"
}

// BurnUp is what a run has cost, from its beginning to its end, under its budget. Until is now for a run that is open.
func BurnUp(segments []Segment, budget *assay.Money, until time.Time) *Figure {
	f := &Figure{Title: "Cost over time", Words: "What has been spent, as results came in."}
	var settled []Segment
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
	data := &Grid{Caption: f.Title, Head: []Column{{Text: "time (UTC)"}, {Text: "stage", Foreign: true}, {Text: "lane", Foreign: true}, {Text: "cost", Number: true}, {Text: "so far", Number: true}}}
	for i, g := range settled {
		total = total.Add(g.Cost)
		sums[i] = total
		if i < maxTimeRows {
			data.Rows = append(data.Rows, []Cell{{Text: stamp(g.Settled)}, foreign(g.Stage), foreign(g.Lane), number(g.Cost.String()), number(total.String())})
		}
	}
	if n := len(settled) - maxTimeRows; n > 0 {
		data.Notes = append(data.Notes, fmt.Sprintf("the first %d of %d; assay spend and assay sql have them all", maxTimeRows, len(settled)))
	}
	if !total.Known() {
		f.Notes = append(f.Notes, fmt.Sprintf("at least: %s without a known price", assay.Count(int(total.Unknown), "attempt")))
	}
	f.Data = data
	start, end := span(segments, until)
	f.Scene = burnScene(settled, sums, budget, start, end)
	return f
}

// maxTimeRows is how many rows the tables under plots of time have.
const maxTimeRows = 200

func stamp(t time.Time) string {
	if t.IsZero() {
		return noneText
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

func burnScene(settled []Segment, sums []assay.Cost, budget *assay.Money, start, end time.Time) *Scene {
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
	s := &Scene{Title: "Cost over time", Desc: fmt.Sprintf("A line that climbs to %s in %s.", sums[len(sums)-1], assay.Count(len(settled), "step")), Width: plotWidth, Height: bottom + axisRoom}
	y := scale{high: high, from: bottom, to: top}
	list, _ := ticks(0, high, 5)
	for _, v := range list {
		s.line("grid", left, y.at(v), plotWidth-10, y.at(v))
		s.say("tick end", left-7, y.at(v)+3.8, dollarTick(v))
	}
	c := newClock(start, end, left, plotWidth-10)
	c.draw(s, top, bottom)
	up := s.say("axis-name mid", 12, (top+bottom)/2, "spent (US dollars)")
	up.Turn = -90
	if near {
		s.line("reference", left, y.at(budget.Float()), plotWidth-10, y.at(budget.Float()))
		s.say("tick end", plotWidth-12, y.at(budget.Float())-5, "budget "+budget.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %s", Px(left), Px(bottom))
	for i, g := range settled {
		fmt.Fprintf(&b, "H%sV%s", Px(c.at(g.Settled)), Px(y.at(sums[i].Sum.Float())))
	}
	fmt.Fprintf(&b, "H%s", Px(c.at(end)))
	s.path("area s1", b.String()+fmt.Sprintf("V%sZ", Px(bottom)))
	s.path("curve s1", b.String())
	return s
}

// Timeline is when the segments of a run waited, ran and were collected. Until is now for a run that is open.
func Timeline(segments []Segment, until time.Time, links Links) *Figure {
	f := &Figure{Title: "Segments over time", Words: "Each bar is a segment: requests of one lane that travel together."}
	if len(segments) == 0 {
		f.Words = "There is no segment yet."
		return f
	}
	f.Data = segmentGrid(segments, links)
	start, end := span(segments, until)
	f.Scene = ganttScene(segments, start, end, links, f)
	return f
}

func segmentGrid(segments []Segment, links Links) *Grid {
	g := &Grid{Caption: "Segments", Head: []Column{
		{Text: "segment", Number: true}, {Text: "stage", Foreign: true}, {Text: "lane", Foreign: true}, {Text: "mode"}, {Text: "state"}, {Text: "requests", Number: true},
		{Text: "created (UTC)"}, {Text: "launched"}, {Text: "ended"}, {Text: "settled"}, {Text: "cost", Number: true},
	}}
	for i, s := range segments {
		if i == maxTimeRows {
			g.Notes = append(g.Notes, fmt.Sprintf("the first %d of %d; assay status --segments has them all", maxTimeRows, len(segments)))
			break
		}
		g.Rows = append(g.Rows, []Cell{
			{Text: fmt.Sprint(s.No), Link: links.segment(s.No)}, foreign(s.Stage), foreign(s.Lane), {Text: s.Mode}, {Text: s.State}, number(assay.Thousands(s.Requests)),
			{Text: stamp(s.Created)}, {Text: stamp(s.Launched)}, {Text: stamp(s.Ended)}, {Text: stamp(s.Settled)}, number(s.Cost.String()),
		})
	}
	return g
}

// track is the segments of one lane in one stage; those that overlap stand under each other.
type track struct {
	stage, lane string
	segments    []Segment
	line        []int // of each segment
	lines       int
}

// maxTracks is how many lanes of stages a timeline has; maxLines, how many bars stand under each other in one.
const (
	maxTracks = 60
	maxLines  = 6
)

func tracksOf(segments []Segment, end time.Time) []track {
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
		free[i] = g.last(end)
		t.line = append(t.line, i)
	}
	t.lines = len(free)
}

// last is when a segment came to its end, or the end of the plot.
func (g Segment) last(end time.Time) time.Time {
	if g.open() {
		return end
	}
	last := g.Created
	for _, t := range []time.Time{g.Launched, g.Ended, g.Settled} {
		if t.After(last) {
			last = t
		}
	}
	return last
}

const (
	barHigh   = 7.0
	barGap    = 2.0
	trackGap  = 7.0
	stageHead = 22.0
	ganttTop  = 30.0
)

func (t *track) high() float64 { return max(13, float64(t.lines)*(barHigh+barGap)) + trackGap }

func ganttScene(segments []Segment, start, end time.Time, links Links, f *Figure) *Scene {
	tracks := tracksOf(segments, end)
	if n := len(tracks) - maxTracks; n > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%s of stages more are in the table", assay.Count(n, "lane")))
		tracks = tracks[:maxTracks]
	}
	label, bottom := 0.0, ganttTop
	for i, t := range tracks {
		label = max(label, widthOf(assay.Clean(t.lane, maxName), labelSize))
		if i == 0 || tracks[i-1].stage != t.stage {
			bottom += stageHead
		}
		bottom += t.high()
	}
	label = min(220, max(70, label+14))
	s := &Scene{
		Title: f.Title, Desc: fmt.Sprintf("Bars of %s in %s of stages, from waiting to collected. The table has every time.", assay.Count(len(segments), "segment"), assay.Count(len(tracks), "lane")),
		Width: plotWidth, Height: Px(bottom + axisRoom),
	}
	ganttLegend(s)
	c := newClock(start, end, label, plotWidth-12)
	c.draw(s, ganttTop, bottom)
	y := ganttTop
	for i, t := range tracks {
		if i == 0 || tracks[i-1].stage != t.stage {
			s.name("label strong", 0, y+15, label+200, t.stage)
			y += stageHead
		}
		s.name("label end", label-8, y+(t.high()-trackGap)/2+4, label-10, t.lane)
		first := y + (t.high()-trackGap-float64(t.lines)*(barHigh+barGap)+barGap)/2
		for k, g := range t.segments {
			drawSegment(s, c, g, end, first+float64(t.line[k])*(barHigh+barGap), links)
		}
		y += t.high()
	}
	return s
}

func ganttLegend(s *Scene) {
	x := 2.0
	for _, k := range []struct{ class, name string }{{"waits", "waiting to be sent"}, {"runs", "at the provider"}, {"collects", "being collected"}, {"failed", "failed or cancelled"}} {
		s.rect("bar "+k.class, x, 4, 16, barHigh)
		s.say("label", x+22, 12, k.name)
		x += 22 + widthOf(k.name, labelSize) + 18
	}
}

// drawSegment draws the three parts of a segment's life as far as they have come.
func drawSegment(s *Scene, c clock, g Segment, end time.Time, y float64, links Links) {
	tip := fmt.Sprintf("segment %d, %s, %s, %s", g.No, assay.Count(int(g.Requests), "request"), g.Mode, g.State)
	bar := func(class string, from, to time.Time) {
		x := min(c.at(from), c.x.to-1.5)
		r := s.rect("bar "+class, x, y, max(1.5, c.at(to)-x), barHigh)
		r.Tip, r.Link = tip, links.segment(g.No)
	}
	if g.State == "failed" || g.State == "cancelled" {
		bar("failed", g.Created, g.last(end))
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
		bar("collects", g.Ended, g.last(end))
	}
}
