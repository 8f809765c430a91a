package progress

import (
	"cmp"
	"net/url"
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results/runs"
	"assay/internal/show/web/site"
)

// runsData is a list of runs, and how it was asked for.
type runsData struct {
	Runs  []site.RunRow `json:"runs"`
	Older string        `json:"older,omitempty"` // the mark of the next page

	Users   bool     `json:"-"` // a gateway has some
	Studies []string `json:"-"` // to choose from
	asked   runsQuery
}

// Several reports whether there are two to compare.
func (d runsData) Several() bool { return len(d.Runs) > 1 }

// Again reports whether a run is the first in the list of a study that has more of them there.
func (d runsData) Again(row int) bool {
	same := func(r site.RunRow) bool { return r.Study == d.Runs[row].Study }
	return !slices.ContainsFunc(d.Runs[:row], same) && slices.ContainsFunc(d.Runs[row+1:], same)
}

// Asked returns the query of the list.
func (d runsData) Asked() runsQuery { return d.asked }

// Next returns the address of the next page; empty: there is none.
func (d runsData) Next() string {
	if d.Older == "" {
		return ""
	}
	return d.asked.address("before", d.Older)
}

// States returns the states to choose from.
func (d runsData) States() []runs.State {
	return append([]runs.State{runs.StateOpen}, runs.States()...)
}

// runsQuery holds the parameters of a list of runs.
type runsQuery struct {
	Text, Study, State, Kept string
	Sort                     runs.Sort
	before                   string
}

// The kinds of runs that a list is asked for, by whether they cost something.
const (
	keptReal       = "real"
	keptRehearsals = "rehearsals"
)

func readRunsQuery(q *site.Request) (runsQuery, error) {
	asked := runsQuery{q.FormValue("q"), q.FormValue("study"), q.FormValue("state"), q.FormValue("kept"), runs.Sort(q.FormValue("sort")),
		q.FormValue("before")}
	if asked.Sort == runs.SortNewest {
		asked.Sort = ""
	}
	if s := runs.State(asked.State); s != "" && s != runs.StateOpen && !slices.Contains(runs.States(), s) {
		return asked, site.Bad("state: no state is called %q", asked.State)
	}
	if asked.Sort != "" && !slices.Contains(runs.Sorts(), asked.Sort) {
		return asked, site.Bad("sort: %s", assay.Choices(asked.Sort, runs.Sorts()))
	}
	if !slices.Contains([]string{"", keptReal, keptRehearsals}, asked.Kept) {
		return asked, site.Bad("kept: want %s or %s", keptReal, keptRehearsals)
	}
	return asked, nil
}

// Narrows reports whether some runs are left out.
func (r runsQuery) Narrows() bool { return r.Text+r.Study+r.State+r.Kept != "" }

// By returns the address of the first page of the same list in another order; of the age, the other way round.
func (r runsQuery) By(order string) string {
	if order == string(runs.SortNewest) && r.Sort == "" {
		order = string(runs.SortOldest)
	}
	return r.address("sort", order)
}

// Orders returns how a column is in order, as HTML spells it; empty: the list is in another order.
func (r runsQuery) Orders(column string) string {
	switch by := cmp.Or(r.Sort, runs.SortNewest); {
	case by == runs.SortOldest && column == string(runs.SortNewest):
		return "descending"
	case string(by) != column:
		return ""
	case by == runs.SortNewest || by == runs.SortStudy || by == runs.SortState:
		return "ascending"
	}
	return "descending"
}

// Only returns the address of the list of a study.
func (r runsQuery) Only(study string) string { return runsQuery{Study: study}.address("", "") }

// address returns the address of the list with one key set otherwise.
func (r runsQuery) address(key, value string) string {
	keys := map[string]string{"q": r.Text, "study": r.Study, "state": r.State, "kept": r.Kept, "sort": string(r.Sort)}
	keys[key] = value
	v := url.Values{}
	for name, has := range keys {
		if has != "" {
			v.Set(name, has)
		}
	}
	if len(v) == 0 {
		return "/runs"
	}
	return "/runs?" + v.Encode()
}

// filter returns what the runs of a home are narrowed by.
func (r runsQuery) filter() runs.Filter {
	f := runs.Filter{Text: r.Text, Study: r.Study, Sort: r.Sort, Real: r.Kept == keptReal, Rehearsed: r.Kept == keptRehearsals}
	if r.State != "" {
		f.States = []runs.State{runs.State(r.State)}
	}
	return f
}

// placed is a run with the number of its home.
type placed struct {
	runs.Listed
	home int
}

// Runs lists runs of all homes, newest first or in another order.
func (s *Pages) Runs(q *site.Request) (*site.View, error) {
	asked, err := readRunsQuery(q)
	if err != nil {
		return nil, err
	}
	limit, err := q.Limit()
	if err != nil {
		return nil, err
	}
	data := runsData{Runs: []site.RunRow{}, asked: asked}
	all, next, err := s.listed(q, asked, limit)
	if err != nil {
		return nil, err
	}
	data.Older = next
	homes := s.Homes()
	for _, l := range all {
		data.Runs = append(data.Runs, s.Listed(homes[l.home], l.Listed))
	}
	for _, h := range homes {
		named, err := h.Clients.ClientUsers(q.Context())
		if err != nil {
			return nil, err
		}
		studies, err := h.Pages.Studies(q.Context())
		if err != nil {
			return nil, err
		}
		data.Users, data.Studies = data.Users || len(named) > 0, append(data.Studies, studies...)
	}
	slices.Sort(data.Studies)
	data.Studies = slices.Compact(data.Studies)
	return &site.View{Template: "runs", Title: "Runs", Data: data, Live: "/news"}, nil
}

// listed returns one page of runs, and the mark of the next: the newest are read page by page, in another order all are read.
func (s *Pages) listed(q *site.Request, asked runsQuery, limit int) (page []placed, next string, err error) {
	homes := s.Homes()
	skip, before := int64(0), make([]int64, len(homes))
	filter := asked.filter()
	if asked.Sort == "" {
		filter.Limit = limit + 1
		before, err = readMarks(asked.before, len(homes))
	} else {
		skip, err = q.Number("before", 0)
	}
	if err != nil {
		return nil, "", err
	}
	var all []placed
	for i, h := range homes {
		filter.Before = before[i]
		own, _, err := runs.List(q.Context(), h.Reader, filter)
		if err != nil {
			return nil, "", err
		}
		for _, l := range own {
			all = append(all, placed{l, i})
		}
	}
	runs.Merge(asked.Sort, all, func(p placed) runs.Listed { return p.Listed }, len(homes))
	all = all[min(int(skip), len(all)):]
	if len(all) <= limit {
		return all, "", nil
	}
	if asked.Sort != "" {
		return all[:limit], marks([]int64{skip + int64(limit)}), nil
	}
	for _, l := range all[:limit] {
		before[l.home] = l.Run.No
	}
	return all[:limit], marks(before), nil
}
