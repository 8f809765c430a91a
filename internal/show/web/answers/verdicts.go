package answers

import (
	"slices"

	"assay/internal/assay"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// verdictRow is the row of a verdict, and what a page shows of it.
type verdictRow struct {
	rows.Verdict
	won string // of a pair: the outcome for the answer beside it
}

// wonBy returns the outcome of a verdict on a pair for one of the two answers; empty where it is about something else.
func wonBy(v store.Verdict, k assay.Key) string {
	better := v.Subject
	if v.Label == assay.LabelB {
		better = v.Against
	}
	switch {
	case v.Against == (assay.Key{}) || v.State != assay.VerdictValid || k != v.Subject && k != v.Against:
		return ""
	case v.Label == assay.LabelTie:
		return "tie"
	case better == k:
		return "won"
	}
	return "lost"
}

// Says returns the verdict in a word.
func (v verdictRow) Says() string {
	switch {
	case v.State != assay.VerdictValid:
		return string(v.State)
	case v.won != "":
		return v.won
	case v.Label == "":
		return "scored"
	case v.Label == assay.LabelA && v.First != "":
		return v.First
	case v.Label == assay.LabelB && v.Second != "":
		return v.Second
	}
	return v.Label
}

// Shown returns the score where it adds to the word.
func (v verdictRow) Shown() *float64 {
	if v.Pair != "" {
		return nil
	}
	return v.Score
}

// Tone returns how the verdict is coloured: a state that is not valid is highlighted.
func (v verdictRow) Tone() string {
	if v.State == assay.VerdictValid {
		return "valid"
	}
	return "other"
}

type verdictsData struct {
	Filter   map[string]string `json:"filter"`
	Verdicts []verdictRow      `json:"verdicts"`
	Next     int64             `json:"next,omitempty"`
	Seen     int               `json:"seen"`

	Stages []string `json:"-"`
	Lanes  []string `json:"-"`
	Query  string   `json:"-"` // the filter as part of an address
}

// Fields lists the filter's other fields, in order.
func (d verdictsData) Fields() []string {
	var names []string
	for name := range d.Filter {
		if name != "stage" && name != "lane" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// verdictWords are the names of the query that are not fields of rows.
var verdictWords = []string{"after", "limit", "stage", "lane", "against", "label", "state"}

// Verdicts lists verdicts: the rows that numbers come from. What a finding is grouped by is a filter.
func (s *Pages) Verdicts(q *site.Request) (*site.View, error) {
	after, limit, err := q.Page("after")
	if err != nil {
		return nil, err
	}
	lanes, err := q.Home.Ledger.Lanes(q.Context(), q.Run.No)
	if err != nil {
		return nil, err
	}
	data := verdictsData{Filter: map[string]string{}, Verdicts: []verdictRow{}}
	data.Stages, data.Lanes = namesOf(lanes)
	for name, values := range q.URL.Query() {
		if name != "after" && name != "limit" && values[0] != "" {
			data.Filter[name] = values[0]
		}
	}
	query := q.URL.Query()
	query.Del("after")
	data.Query = query.Encode()
	filter, failed, err := verdictFilter(q, data)
	if err != nil {
		return nil, err
	}
	page, err := q.Home.Pages.VerdictsPage(q.Context(), q.Run.No, filter, after, limit)
	if err == nil {
		err = failed()
	}
	if err != nil {
		return nil, err
	}
	data.Next, data.Seen = page.Next, page.Seen
	t, err := s.rows(q)
	if err != nil {
		return nil, err
	}
	for i := range page.Verdicts {
		v := t.Verdict(&page.Verdicts[i])
		data.Verdicts = append(data.Verdicts, verdictRow{Verdict: *v})
	}
	return &site.View{Template: "verdicts", Title: "Verdicts", Tab: "verdicts", Data: data}, nil
}

// verdictFilter makes a filter of a query. Its second result returns the error of its use.
func verdictFilter(q *site.Request, data verdictsData) (store.VerdictFilter, func() error, error) {
	f := store.VerdictFilter{Stage: data.Filter["stage"], Label: data.Filter["label"], State: data.Filter["state"]}
	lane, against := data.Filter["lane"], data.Filter["against"]
	if lane != "" && f.Stage == "" {
		return f, nil, site.Bad("lane: say of which stage")
	}
	compares, err := compares(q, f.Stage)
	if err != nil {
		return f, nil, err
	}
	switch {
	case lane != "" && compares:
		f.Pairs = pairsWith(lane, against, data.Lanes)
	case lane != "":
		f.Lane = lane
	}
	fields := map[string]string{}
	for name, value := range data.Filter {
		if !slices.Contains(verdictWords, name) {
			fields[name] = value
		}
	}
	if len(fields) == 0 || f.Stage == "" {
		return f, func() error { return nil }, nil
	}
	keep, err := findings.Keep(q.Context(), q.Home.Reader, q.Run, f.Stage, fields)
	if err != nil {
		return f, nil, site.Bad("%s", err)
	}
	var failure error
	f.Keep = func(v *store.Verdict) bool {
		if failure != nil {
			return false
		}
		yes, err := keep(v)
		if err != nil {
			failure = err
		}
		return yes && err == nil
	}
	return f, func() error { return failure }, nil
}

// compares reports whether a stage's verdicts are about pairs, by the first of them.
func compares(q *site.Request, stage string) (bool, error) {
	page, err := q.Home.Pages.VerdictsPage(q.Context(), q.Run.No, store.VerdictFilter{Stage: stage}, 0, 1)
	return err == nil && len(page.Verdicts) == 1 && page.Verdicts[0].At.Paired(), err
}

// pairsWith returns the pairs that a lane is one of, in both orders; with one other lane, or with all.
func pairsWith(lane, against string, lanes []string) [][2]string {
	if against != "" {
		lanes = []string{against}
	}
	var out [][2]string
	for _, other := range lanes {
		if other != lane {
			out = append(out, [2]string{lane, other}, [2]string{other, lane})
		}
	}
	if len(out) == 0 {
		return [][2]string{{lane, lane}} // none
	}
	return out
}
