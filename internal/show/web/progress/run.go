package progress

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
	"assay/internal/show/report/plot"
	"assay/internal/show/web/site"
)

type runData struct {
	Run    site.RunRow  `json:"run"`
	Pulse  pulse        `json:"runner"`
	Lanes  []laneRow    `json:"lanes"`
	Causes []causeRow   `json:"causes"`
	Jobs   []segmentRow `json:"segments"` // the newest
	Events []eventRow   `json:"events"`   // the newest
	Orders []orderRow   `json:"orders"`   // not carried out yet
	Waits  []waitRow    `json:"waits"`    // segments that do not move as they should

	Grid     laneGrid         `json:"-"`
	Burn     *plot.Figure     `json:"-"`
	Timeline *plot.Figure     `json:"-"`
	Counting bool             `json:"causes_incomplete"` // the causes are being counted
	Held     []segmentRow     `json:"-"`
	Endings  map[string]int64 `json:"-"` // of requests without an answer
	More     bool             `json:"-"` // there are more segments than are listed
}

// pulse is which process drives the run, and when its next step is due.
type pulse struct {
	Driven bool       `json:"driven"`
	Holder string     `json:"holder,omitempty"`
	Due    *time.Time `json:"due"`
}

const (
	shownSegments = 12
	shownEvents   = 15
	shownSpans    = 100
	shownCauses   = 50
)

func (s *Pages) Run(q *site.Request) (*site.View, error) {
	ctx := q.Context()
	row, err := s.RowOf(ctx, q.Home, q.Run)
	if err != nil {
		return nil, err
	}
	data := runData{Run: row, Lanes: []laneRow{}, Causes: []causeRow{}, Endings: map[string]int64{}}
	for _, l := range row.Standing.Far.Lanes {
		data.Lanes = append(data.Lanes, laneRowOf(l))
		for e, n := range l.Endings {
			if !e.Stands() {
				data.Endings[string(e)] += n
			}
		}
	}
	data.Grid = gridOf(data.Lanes)
	data.Pulse = pulse{row.Standing.Alive, row.Standing.Pulse.Holder, assay.KnownTime(row.Standing.Pulse.Due)}
	if err := s.readWaits(ctx, q, &data); err != nil {
		return nil, err
	}
	if err := s.readHistory(ctx, q, &data); err != nil {
		return nil, err
	}
	if row.Failed > 0 {
		if err := s.readCauses(ctx, q, &data); err != nil {
			return nil, err
		}
	}
	return &site.View{Template: "run", Title: q.Run.Study, Run: &row, Tab: "run", Data: data, Live: "/runs/" + q.Run.ID + "/news"}, nil
}

// waitRow is why a segment does not move as it should.
type waitRow struct {
	Segment  int64      `json:"segment"`
	Stage    string     `json:"stage"`
	Lane     string     `json:"lane"`
	Provider string     `json:"provider"`
	Reason   string     `json:"reason"`
	Until    *time.Time `json:"asked_to_wait_until"` // null: the provider did not ask
	Due      *time.Time `json:"tried_again"`         // null: not by itself, or it is at it
}

// readWaits reads which segments do not move as they should.
func (s *Pages) readWaits(ctx context.Context, q *site.Request, data *runData) error {
	data.Waits = []waitRow{}
	if q.Run.State == store.RunClosed {
		return nil
	}
	all, err := q.Home.Pages.Troubles(ctx, q.Run.No, shownSegments)
	for _, t := range all {
		row := waitRow{t.Segment, t.Stage, t.Lane, t.Provider, t.Reason.String(), nil, assay.KnownTime(t.Due)}
		if t.Wait.After(s.Now()) {
			row.Until = &t.Wait
		}
		if t.State != store.Held { // listed apart
			data.Waits = append(data.Waits, row)
		}
	}
	return err
}

// readHistory reads what happened: segments, events, orders.
func (s *Pages) readHistory(ctx context.Context, q *site.Request, data *runData) error {
	ledger, pages := q.Home.Ledger, q.Home.Pages
	var err error
	if closed := q.Run.Closed; closed.IsZero() || closed.Sub(q.Run.Created) >= time.Minute { // a shorter run has no history to look at
		if data.Burn, data.Timeline, err = History(ctx, q.Home, q.Run, s.Now()); err != nil {
			return err
		}
	}
	segments, err := pages.SegmentsPage(ctx, q.Run.No, "", "", 0, shownSegments+1)
	if err != nil {
		return err
	}
	data.Jobs, data.More = segmentRows(segments[:min(len(segments), shownSegments)]), len(segments) > shownSegments
	if data.Run.Held > 0 {
		held, err := ledger.Segments(ctx, q.Run.No, store.Held)
		if err != nil {
			return err
		}
		data.Held = segmentRows(held[:min(len(held), shownSegments)])
	}
	events, err := pages.EventsBefore(ctx, q.Run.No, 0, shownEvents)
	if err != nil {
		return err
	}
	data.Events = eventRows(events)
	orders, err := ledger.Orders(ctx, q.Run.No)
	data.Orders = []orderRow{}
	for _, o := range orders {
		data.Orders = append(data.Orders, orderRow{o.No, string(o.Kind), o.Segment, o.Args, o.By, o.Given})
	}
	return err
}

type orderRow struct {
	No      int64     `json:"no"`
	Kind    string    `json:"kind"`
	Segment int64     `json:"segment,omitempty"`
	Args    string    `json:"args"`
	By      string    `json:"by"`
	Given   time.Time `json:"given"`
}

// causeRow is why requests have no answer.
type causeRow struct {
	Stage   string `json:"stage"`
	Lane    string `json:"lane"`
	Ending  string `json:"ending"`
	Class   string `json:"class,omitempty"`
	Status  int    `json:"http_status,omitempty"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Count   int64  `json:"count"`
	Item    string `json:"an_item"`
}

// readCauses counts failures by cause; where that takes long, the page does not wait for it.
func (s *Pages) readCauses(ctx context.Context, q *site.Request, data *runData) error {
	version, err := q.Home.Pages.Version(ctx, q.Run.No)
	if err != nil {
		return err
	}
	f := s.causes.Get(ctx, site.RunKey{Home: q.Home, Run: q.Run.No}, version, 40*time.Millisecond)
	if f.Err != nil {
		return f.Err
	}
	data.Counting = !f.Current
	for _, c := range f.Value {
		data.Causes = append(data.Causes,
			causeRow{c.Stage, c.Lane, string(c.Ending), string(c.Class), c.Status, c.Code, c.Message, c.Count, c.Item})
	}
	return nil
}

// segmentRow is requests that travel together.
type segmentRow struct {
	No            int64            `json:"segment"`
	Stage         string           `json:"stage"`
	Lane          string           `json:"lane"`
	Turn          int              `json:"turn"`
	Mode          string           `json:"mode"`
	Purpose       string           `json:"purpose"`
	Model         string           `json:"model"`
	State         string           `json:"state"`
	Reason        string           `json:"reason,omitempty"`
	Requests      int64            `json:"requests"`
	Done          int64            `json:"done"`
	Reported      *int64           `json:"provider_done"` // what the provider counts as done, results not all here; null: not known
	Answered      int64            `json:"answered"`
	Endings       map[string]int64 `json:"endings"`
	Job           string           `json:"job,omitempty"`
	JobWord       string           `json:"job_state,omitempty"`
	Created       time.Time        `json:"created"`
	Launched      *time.Time       `json:"launched"`
	Ended         *time.Time       `json:"ended"`
	Settled       *time.Time       `json:"settled"`
	CollectBefore *time.Time       `json:"collect_before"`
	Expected      float64          `json:"expected_usd"`
	Cost          float64          `json:"cost_at_least_usd"`
	Unpriced      int64            `json:"unpriced"`
	InputTokens   *int64           `json:"input_tokens"` // null: unknown
	OutputTokens  *int64           `json:"output_tokens"`
	UsageUnknown  int64            `json:"usage_unknown"` // replies without a count

	cost assay.Cost
}

// Counted returns how many requests are done, here or by the provider's count.
func (r segmentRow) Counted() int64 {
	if r.Reported == nil {
		return r.Done
	}
	return max(r.Done, *r.Reported)
}

// TokensText returns a number of tokens in words.
func (r segmentRow) TokensText(n *int64) string {
	if n == nil {
		return assay.TokensText(0, r.UsageUnknown)
	}
	return assay.TokensText(*n, r.UsageUnknown)
}

// CostText returns the cost in words.
func (r segmentRow) CostText() string {
	return r.cost.String()
}

func segmentRows(all []store.Segment) []segmentRow {
	out := []segmentRow{}
	for _, g := range all {
		row := segmentRow{
			No: g.No, Stage: g.Stage, Lane: g.Lane, Turn: g.Turn, Mode: string(g.Mode), Purpose: string(g.Purpose),
			Model: g.Provider + "/" + g.Model, State: string(g.State), Reason: g.Reason.String(), Requests: g.Requests, Done: g.Done(),
			Endings: map[string]int64{}, Job: g.Job, JobWord: g.JobWord, Created: g.Created, Launched: assay.KnownTime(g.Launched),
			Ended: assay.KnownTime(g.EndedAt), Settled: assay.KnownTime(g.SettledAt), CollectBefore: assay.KnownTime(g.CollectBefore),
			Expected: g.Expected.Float(), Cost: g.Cost.Sum.Float(), Unpriced: g.Cost.Unknown, cost: g.Cost,
			InputTokens: assay.KnownTokens(g.InputTokens, g.UsageUnknown), OutputTokens: assay.KnownTokens(g.OutputTokens, g.UsageUnknown),
			UsageUnknown: g.UsageUnknown,
		}
		if n, known := runs.Reported(g); known {
			row.Reported = &n
		}
		for e, n := range g.Endings {
			row.Endings[string(e)] = n
			if e.Stands() {
				row.Answered += n
			}
		}
		out = append(out, row)
	}
	return out
}

type eventRow struct {
	No      int64     `json:"no"`
	At      time.Time `json:"at"`
	Segment int64     `json:"segment,omitempty"`
	Kind    string    `json:"kind"`
	Text    string    `json:"text,omitempty"`
}

func eventRows(all []store.Event) []eventRow {
	out := []eventRow{}
	for _, e := range all {
		out = append(out, eventRow{e.No, e.At, e.Segment, e.Kind, e.Text})
	}
	return out
}

type eventsData struct {
	Events []eventRow `json:"events"`
	Older  int64      `json:"older,omitempty"`
}

func (s *Pages) Events(q *site.Request) (*site.View, error) {
	before, limit, err := q.Page("before")
	if err != nil {
		return nil, err
	}
	all, err := q.Home.Pages.EventsBefore(q.Context(), q.Run.No, before, limit+1)
	if err != nil {
		return nil, err
	}
	data := eventsData{}
	if len(all) > limit {
		all = all[:limit]
		data.Older = all[limit-1].No
	}
	data.Events = eventRows(all)
	return &site.View{Template: "events", Title: "Events", Tab: "run", Data: data}, nil
}

type segmentsData struct {
	Stage    string       `json:"stage,omitempty"`
	Lane     string       `json:"lane,omitempty"`
	Segments []segmentRow `json:"segments"`
	Older    int64        `json:"older,omitempty"`
}

func (s *Pages) Segments(q *site.Request) (*site.View, error) {
	before, limit, err := q.Page("before")
	if err != nil {
		return nil, err
	}
	data := segmentsData{Stage: q.FormValue("stage"), Lane: q.FormValue("lane")}
	all, err := q.Home.Pages.SegmentsPage(q.Context(), q.Run.No, data.Stage, data.Lane, before, limit+1)
	if err != nil {
		return nil, err
	}
	if len(all) > limit {
		all = all[:limit]
		data.Older = all[limit-1].No
	}
	data.Segments = segmentRows(all)
	return &site.View{Template: "segments", Title: "Segments", Tab: "run", Data: data}, nil
}

type segmentData struct {
	Segment   segmentRow    `json:"segment"`
	Artifacts []artifactRow `json:"artifacts"`
}

type artifactRow struct {
	No     int64              `json:"artifact"`
	Name   string             `json:"name"`
	Kind   store.ArtifactKind `json:"kind"`
	Bytes  int64              `json:"bytes"`
	SHA256 string             `json:"sha256"`
}

func (s *Pages) Segment(q *site.Request) (*site.View, error) {
	no, err := strconv.ParseInt(q.PathValue("segment"), 10, 64)
	if err != nil {
		return nil, site.ErrNoPage
	}
	g, err := q.Home.Ledger.Segment(q.Context(), no)
	if err == nil && g.Run != q.Run.No {
		err = site.Refused(http.StatusNotFound, "the segment belongs to another run")
	}
	if err != nil {
		return nil, err
	}
	files, err := q.Home.Ledger.Artifacts(q.Context(), no)
	if err != nil {
		return nil, err
	}
	data := segmentData{Segment: segmentRows([]store.Segment{g})[0], Artifacts: []artifactRow{}}
	for _, a := range files {
		data.Artifacts = append(data.Artifacts, artifactRow{a.No, a.Name, a.Kind, a.Size, a.SHA256})
	}
	return &site.View{Template: "segment", Title: "Segment " + strconv.FormatInt(no, 10), Tab: "run", Data: data}, nil
}
