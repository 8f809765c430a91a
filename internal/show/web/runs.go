package web

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/keep/store"
)

// runRow is the state of a run.
type runRow struct {
	ID        string     `json:"run"`
	Study     string     `json:"study"`
	State     string     `json:"state"`
	Result    string     `json:"result,omitempty"`
	Rehearsal bool       `json:"rehearsal"`
	Note      string     `json:"note,omitempty"`
	By        string     `json:"by,omitempty"`
	Created   time.Time  `json:"created"`
	Closed    *time.Time `json:"closed"`
	Planned   int64      `json:"planned"`
	Spared    int64      `json:"spared"` // of those: need no asking
	runs.Progress
	Segments      int64      `json:"segments"`
	Held          int64      `json:"held"`
	Stopped       int64      `json:"stopped"`
	PaidTwice     int64      `json:"paid_twice"`
	Spent         float64    `json:"spent_at_least_usd"`
	Unpriced      int64      `json:"unpriced"`
	Reserved      float64    `json:"reserved_usd"`
	Budget        *float64   `json:"budget_usd"`
	CollectBefore *time.Time `json:"collect_before"`
	DoneAbout     *time.Time `json:"done_about"` // at the pace so far; null: not known

	Found string `json:"found,omitempty"` // of a closed run: who leads; empty: that was not computed yet

	no   int64
	cost assay.Cost
}

// SpentText returns what was spent, in words.
func (r runRow) SpentText() string { return r.cost.String() }

// SpentWords returns the label of the amount spent: of a rehearsal, what it would have been.
func (r runRow) SpentWords() string {
	if r.Rehearsal {
		return r.cost.WouldBe()
	}
	return r.cost.Spent()
}

// Standing returns the run's state in one word.
func (r runRow) Standing() string {
	if r.State == string(store.RunClosed) {
		return r.Result
	}
	if r.Held > 0 {
		return "held"
	}
	return r.State
}

// Live reports whether the run may still change.
func (r runRow) Live() bool { return r.State != string(store.RunClosed) }

func (s *Server) rowOf(ctx context.Context, h *Home, run store.Run) (runRow, error) {
	rows, err := s.rowsOf(ctx, h, []store.Run{run})
	if err != nil {
		return runRow{}, err
	}
	return rows[0], nil
}

func (s *Server) rowsOf(ctx context.Context, h *Home, of []store.Run) ([]runRow, error) {
	numbers := make([]int64, len(of))
	for i, r := range of {
		numbers[i] = r.No
	}
	progress, err := runs.ProgressOf(ctx, h.Reader, of...)
	if err != nil {
		return nil, err
	}
	needs, err := h.Pages.Attention(ctx, numbers)
	if err != nil {
		return nil, err
	}
	rows := make([]runRow, len(of))
	for i, r := range of {
		rows[i] = row(h, r, progress[r.No], needs[r.No])
		if rows[i].DoneAbout, err = s.doneAbout(ctx, h, r, progress[r.No]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// doneAbout returns when a run that a process drives is done at the pace so far; nil: that is not known.
func (s *Server) doneAbout(ctx context.Context, h *Home, r store.Run, p runs.RunProgress) (*time.Time, error) {
	pace, known := p.Pace(s.options.Now())
	if !known {
		return nil, nil
	}
	_, alive, err := runs.Alive(ctx, h.Reader, r, s.options.Now())
	if err != nil || !alive {
		return nil, err
	}
	return orNone(s.options.Now().Add(pace.Left)), nil
}

func row(h *Home, r store.Run, p runs.RunProgress, a store.Attention) runRow {
	row := runRow{
		ID: r.ID, Study: r.Study, State: string(r.State), Result: string(r.Result), Rehearsal: h.Rehearsal || r.Rehearsal, Note: r.Note,
		By: r.By, Created: r.Created, Closed: orNone(r.Closed), Progress: p.Progress, Segments: a.Segments, Held: a.Held,
		Stopped: a.Stopped, Spent: a.Cost.Sum.Float(), Unpriced: a.Cost.Unknown, cost: a.Cost, Reserved: r.Reserved.Float(),
		CollectBefore: orNone(a.CollectBefore), no: r.No,
	}
	if r.Budget != nil {
		b := r.Budget.Float()
		row.Budget = &b
	}
	for _, l := range p.Lanes {
		row.Planned, row.Spared, row.PaidTwice = row.Planned+l.Planned, row.Spared+l.Spared, row.PaidTwice+l.Surplus
	}
	return row
}

func orNone(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

type runsData struct {
	Runs  []runRow `json:"runs"`
	Older string   `json:"older,omitempty"` // the mark of the next page
	Users bool     `json:"-"`               // a gateway has some
}

// Several reports whether there are two to compare.
func (d runsData) Several() bool { return len(d.Runs) > 1 }

// runsPage lists runs of all homes, newest first.
func (s *Server) runsPage(q *request) (*view, error) {
	homes := s.options.Homes()
	before, err := readMarks(q.FormValue("before"), len(homes))
	if err != nil {
		return nil, err
	}
	limit, err := q.limit()
	if err != nil {
		return nil, err
	}
	type placed struct {
		runRow
		home int
	}
	var all []placed
	users := false
	for i, h := range homes {
		named, err := h.Clients.ClientUsers(q.Context())
		if err != nil {
			return nil, err
		}
		users = users || len(named) > 0
		page, err := h.Pages.RunsPage(q.Context(), before[i], limit+1)
		if err != nil {
			return nil, err
		}
		rows, err := s.rowsOf(q.Context(), h, page)
		if err != nil {
			return nil, err
		}
		found, err := runs.Found(q.Context(), h.Reader, page)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			r.Found = found[r.no]
			all = append(all, placed{r, i})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].Created.After(all[j].Created) })
	data := runsData{Runs: []runRow{}, Users: users}
	for i, r := range all {
		if i == limit {
			data.Older = marks(before)
			break
		}
		data.Runs = append(data.Runs, r.runRow)
		before[r.home] = r.no
	}
	return &view{template: "runs", title: "Runs", data: data, live: "/news"}, nil
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
		return nil, bad("before: %q is not a mark of a page", text)
	}
	for i, p := range parts {
		n, err := strconv.ParseInt(p, 10, 64)
		if err != nil || n < 0 {
			return nil, bad("before: %q is not a mark of a page", text)
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
