package found

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/trend"
	"assay/internal/show/report/plot"
	"assay/internal/show/web/site"
)

// trendRuns is how many runs the page of a trend has, the newest.
const trendRuns = 20

// trendKey names a study: whatever else has its name lies in another folder.
type trendKey struct {
	home          *site.Home
	study, folder string
}

func computeTrend(ctx context.Context, k trendKey) (*trend.Trend, error) {
	run, err := k.home.Ledger.FindRun(ctx, k.study, k.folder)
	if err != nil {
		return nil, err
	}
	return trend.Of(ctx, k.home.Reader, run, trendRuns)
}

// trendData is a study over its runs.
type trendData struct {
	Run     site.RunRow
	Known   bool // it is there
	Current bool
	At      time.Time
	Runs    int
	Counts  string // of runs, in words
	Stages  []trendStage
}

// trendStage is a stage of a trend: a plot of its lanes, their numbers, and what happened between the runs.
type trendStage struct {
	Name    string
	Figure  *plot.Figure
	About   []string // of each run
	Stories []trendStory
}

// trendStory tells the changes between two runs.
type trendStory struct {
	Title    string
	A, B     string // the runs
	Sentence []string
}

// Trend shows the study of a run over its closed runs.
func (s *Pages) Trend(q *site.Request) (*site.View, error) {
	row, err := s.RowOf(q.Context(), q.Home, q.Run)
	if err != nil {
		return nil, err
	}
	runs, open, _, err := trend.Runs(q.Context(), q.Home.Reader, q.Run, trendRuns)
	if err != nil {
		return nil, err
	}
	version := strconv.Itoa(open)
	for _, run := range runs {
		one, err := q.Home.Pages.Version(q.Context(), run.No)
		if err != nil {
			return nil, err
		}
		version += "/" + run.ID + " " + one
	}
	patience, err := q.Patience()
	if err != nil {
		return nil, err
	}
	f := s.trends.Get(q.Context(), trendKey{q.Home, q.Run.Study, q.Run.Folder}, version, patience)
	if f.Err != nil {
		return nil, site.Refused(http.StatusUnprocessableEntity, f.Err.Error())
	}
	v := &site.View{Template: "trend", Title: "Over its runs", Run: &row, Tab: "summary"}
	if q.API() {
		if !f.Known {
			return nil, site.NotYet("the runs are still being compared")
		}
		v.Data = f.Value.JSON()
		return v, nil
	}
	data := trendData{Run: row, Known: f.Known, Current: f.Current, At: f.At}
	if f.Known {
		data.fill(f.Value)
	} else {
		v.Live = "/news?made=1"
	}
	v.Data = data
	return v, nil
}

// fill makes what is shown of a trend.
func (d *trendData) fill(t *trend.Trend) {
	d.Runs, d.Counts = len(t.Runs), assay.Count(len(t.Runs), "closed run")
	if t.Earlier > 0 {
		d.Counts += ", " + assay.Count(t.Earlier, "earlier one") + " not shown"
	}
	if t.Open > 0 {
		d.Counts += ", " + assay.Count(t.Open, "open one") + " left out"
	}
	for i := range t.Stages {
		s := &t.Stages[i]
		one := trendStage{Name: s.Name, Figure: trendFigure(t, s)}
		for k := range t.Runs {
			one.About = append(one.About, t.About(s, k))
		}
		for k := range s.Steps {
			lines := t.Story(s, k)
			one.Stories = append(one.Stories, trendStory{Title: lines[0], A: t.Runs[k].ID, B: t.Runs[k+1].ID, Sentence: lines[1:]})
		}
		d.Stages = append(d.Stages, one)
	}
}

// trendFigure draws what each lane got in every run.
func trendFigure(t *trend.Trend, s *trend.Stage) *plot.Figure {
	p := plot.Intervals{Title: "Lanes over the runs", Words: "Dots are values, lines 95% intervals. The oldest run is on top.", Down: "run",
		Across: "lane", Axis: s.What, Unit: s.Unit, Level: trend.Level, Series: s.Lanes}
	for i := range t.Runs {
		row := plot.IntervalRow{Label: t.Runs[i].Created.UTC().Format(time.DateOnly) + " " + t.Runs[i].ID}
		for k, at := range s.Points[i] {
			change, _ := s.Change(i, s.Lanes[k])
			row.Dots = append(row.Dots, plot.Interval{Series: k, Value: at.Value, Between: at.Interval, N: at.N, Aside: change,
				Link: site.VerdictsLink(t.Runs[i].ID, "stage", s.Name, "lane", s.Lanes[k])})
		}
		p.Rows = append(p.Rows, row)
	}
	return p.Figure()
}
