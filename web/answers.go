package web

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/pairs"
	"assay/store"
)

// answerRow is a request, and what stands for it.
type answerRow struct {
	Key       string     `json:"key"`
	Stage     string     `json:"stage"`
	Item      string     `json:"item"`
	Lane      string     `json:"lane"` // whose answer it is; of a judge's, the judge
	Of        string     `json:"of_lane,omitempty"`
	Template  string     `json:"template,omitempty"`
	Turn      int        `json:"turn"`
	Branch    string     `json:"branch,omitempty"`
	Draw      int        `json:"draw"`
	Pair      string     `json:"pair,omitempty"`
	Judge     string     `json:"judge,omitempty"`
	Ending    string     `json:"ending"` // empty: in flight
	Text      string     `json:"text"`
	Thoughts  string     `json:"thoughts,omitempty"`
	TooLong   bool       `json:"too_long,omitempty"` // the text is among the raw bytes alone
	Finish    string     `json:"finish,omitempty"`
	Model     string     `json:"model,omitempty"`
	Fault     string     `json:"fault,omitempty"`
	Input     *int64     `json:"input_tokens"`
	Cached    *int64     `json:"cached_tokens"`
	Output    *int64     `json:"output_tokens"`
	Reasoning *int64     `json:"reasoning_tokens"`
	Cost      *float64   `json:"cost_usd"`
	Mode      string     `json:"mode"`
	Attempts  int64      `json:"attempts"`
	Reused    bool       `json:"reused,omitempty"`
	Segment   int64      `json:"segment"`
	Settled   *time.Time `json:"settled"`
	RawBytes  int64      `json:"raw_bytes,omitempty"` // length of the raw line; 0: there is none

	Verdicts []verdictRow `json:"verdicts,omitempty"`
	Asked    string       `json:"asked,omitempty"` // the last message before the answer
	key      assay.Key
	at       assay.Coordinates
	ord      int64
}

// Cut tells whether a page shows less than the whole text.
func (a answerRow) Cut() bool { return len(a.Text) > maxShown }

// Place says which question it was, besides item and lane.
func (a answerRow) Place() string {
	parts := []string{"turn " + strconv.Itoa(a.Turn)}
	if a.Branch != "" {
		parts = append(parts, a.Branch)
	}
	if a.Template != "" && a.Judge == "" {
		parts = append(parts, a.Template)
	}
	if a.Draw > 1 {
		parts = append(parts, fmt.Sprintf("draw %d", a.Draw))
	}
	return strings.Join(parts, " · ")
}

func answerRowOf(a store.Answer) answerRow {
	o := a.Outcome
	row := answerRow{
		Key: a.Key.String(), Stage: a.At.Stage, Item: a.At.Item, Lane: a.Lane, Template: a.At.Template, Turn: a.At.Turn, Branch: a.At.Branch, Draw: a.At.Draw,
		Pair: pairs.Of(a.At), Judge: a.At.Judge, Ending: string(o.Ending), Text: o.Text, Thoughts: o.Thoughts, TooLong: a.Over, Finish: o.Finish, Model: o.Model,
		Mode: string(a.Mode), Attempts: a.Try, Reused: a.Reused != 0, Segment: a.Segment, Settled: orNone(a.Settled), RawBytes: a.Length,
		key: a.Key, at: a.At, ord: a.Ord,
	}
	if a.At.Lane != a.Lane && !a.At.Paired() {
		row.Of = a.At.Lane
	}
	if o.Fault != nil {
		row.Fault = o.Fault.Error()
	}
	if u := o.Usage; u.Known {
		row.Input, row.Cached, row.Output, row.Reasoning = &u.Input, &u.Cached, &u.Output, &u.Reasoning
	}
	if a.Cost != nil {
		c := a.Cost.Float()
		row.Cost = &c
	}
	return row
}

type answersData struct {
	Filter  answerQuery `json:"filter"`
	Answers []answerRow `json:"answers"`
	Next    string      `json:"next,omitempty"` // the mark of the next page
	Seen    int         `json:"verdicts_seen,omitempty"`

	Stages, Lanes []string       `json:"-"`
	Endings       []assay.Ending `json:"-"`
	Labels        []string       `json:"-"` // stage:label
}

// answerQuery is what a page of answers is narrowed by.
type answerQuery struct {
	Stage   string `json:"stage,omitempty"`
	Lane    string `json:"lane,omitempty"`
	Item    string `json:"item,omitempty"`
	Ending  string `json:"ending,omitempty"`  // or open
	Verdict string `json:"verdict,omitempty"` // STAGE:LABEL, or STAGE:STATE where there is no label
}

// Query is the filter as part of an address.
func (f answerQuery) Query(more ...string) string {
	q := url.Values{}
	for _, p := range [][2]string{{"stage", f.Stage}, {"lane", f.Lane}, {"item", f.Item}, {"ending", f.Ending}, {"verdict", f.Verdict}} {
		if p[1] != "" {
			q.Set(p[0], p[1])
		}
	}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q.Encode()
}

const endingOpen = "open"

func (q *request) answerQuery() (answerQuery, error) {
	f := answerQuery{q.FormValue("stage"), q.FormValue("lane"), q.FormValue("item"), q.FormValue("ending"), q.FormValue("verdict")}
	if f.Ending != "" && f.Ending != endingOpen && !slices.Contains(assay.Endings(), assay.Ending(f.Ending)) {
		return f, bad("ending: there is no %q", f.Ending)
	}
	if _, _, ok := strings.Cut(f.Verdict, ":"); f.Verdict != "" && !ok {
		return f, bad("verdict: want STAGE:LABEL")
	}
	return f, nil
}

// answersPage lists answers by a filter.
func (s *Server) answersPage(q *request) (*view, error) {
	f, err := q.answerQuery()
	if err != nil {
		return nil, err
	}
	data := answersData{Filter: f, Answers: []answerRow{}, Endings: assay.Endings()}
	if f.Verdict != "" {
		err = s.answersByVerdict(q, &data)
	} else {
		err = s.answersInOrder(q, &data)
	}
	if err != nil {
		return nil, err
	}
	if err := s.addVerdicts(q.Context(), q, data.Answers); err != nil {
		return nil, err
	}
	lanes, err := q.home.Ledger.Lanes(q.Context(), q.run.No)
	if err != nil {
		return nil, err
	}
	data.Stages, data.Lanes = namesOf(lanes)
	if data.Labels, err = s.labelsOf(q, data.Stages); err != nil {
		return nil, err
	}
	return &view{template: "answers", title: "Answers", tab: "answers", data: data}, nil
}

func namesOf(all []store.Lane) (stages, lanes []string) {
	for _, l := range all {
		if !slices.Contains(stages, l.Stage) {
			stages = append(stages, l.Stage)
		}
		if !slices.Contains(lanes, l.Name) {
			lanes = append(lanes, l.Name)
		}
	}
	slices.Sort(lanes)
	return stages, lanes
}

func (s *Server) answersInOrder(q *request, data *answersData) error {
	limit, err := q.limit()
	if err != nil {
		return err
	}
	after, err := readMark(q.FormValue("after"))
	if err != nil {
		return err
	}
	f := data.Filter
	filter := store.AnswerFilter{Stage: f.Stage, Lane: f.Lane, Item: f.Item, Ending: assay.Ending(f.Ending)}
	if f.Ending == endingOpen {
		filter.Ending, filter.Open = "", true
	}
	all, err := q.home.Ledger.AnswersPage(q.Context(), q.run.No, filter, after, limit+1)
	if err != nil {
		return err
	}
	if len(all) > limit {
		all = all[:limit]
		last := all[limit-1]
		data.Next = fmt.Sprintf("%d.%d", last.Segment, last.Ord)
	}
	for _, a := range all {
		data.Answers = append(data.Answers, answerRowOf(a))
	}
	return nil
}

func readMark(text string) (store.Mark, error) {
	if text == "" {
		return store.Mark{}, nil
	}
	segment, ord, _ := strings.Cut(text, ".")
	g, err := strconv.ParseInt(segment, 10, 64)
	o, err2 := strconv.ParseInt(ord, 10, 64)
	if err != nil || err2 != nil || g < 1 || o < 0 {
		return store.Mark{}, bad("after: %q is no mark of a page", text)
	}
	return store.Mark{Segment: g, Ord: o}, nil
}

// answersByVerdict lists the answers that were judged in a way. The stage and the lane are those of the answer.
func (s *Server) answersByVerdict(q *request, data *answersData) error {
	limit, err := q.limit()
	if err != nil {
		return err
	}
	after, err := q.number("after", 0)
	if err != nil {
		return err
	}
	stage, label, _ := strings.Cut(data.Filter.Verdict, ":")
	f := data.Filter
	page, err := q.home.Ledger.VerdictsPage(q.Context(), q.run.No, store.VerdictFilter{Stage: stage, Lane: f.Lane, Keep: func(v *store.Verdict) bool {
		return (v.Label == label || v.Label == "" && string(v.State) == label) && (f.Item == "" || v.At.Item == f.Item)
	}}, after, limit)
	if err != nil {
		return err
	}
	data.Seen = page.Seen
	if page.Next != 0 {
		data.Next = fmt.Sprint(page.Next)
	}
	var keys []assay.Key
	for _, v := range page.Verdicts {
		keys = append(keys, v.Subject)
		if v.Against != (assay.Key{}) {
			keys = append(keys, v.Against)
		}
	}
	answers, err := q.home.Ledger.AnswersTo(q.Context(), q.run.No, keys)
	if err != nil {
		return err
	}
	seen := map[assay.Key]bool{}
	for _, k := range keys {
		a, ok := answers[k]
		if !ok || seen[k] || f.Stage != "" && a.At.Stage != f.Stage || f.Ending != "" && string(a.Outcome.Ending) != f.Ending {
			continue
		}
		seen[k] = true
		data.Answers = append(data.Answers, answerRowOf(a))
	}
	return nil
}

// addVerdicts puts what judges said beside answers.
func (s *Server) addVerdicts(ctx context.Context, q *request, answers []answerRow) error {
	keys := make([]assay.Key, len(answers))
	for i, a := range answers {
		keys[i] = a.key
	}
	all, err := q.home.Ledger.VerdictsOn(ctx, q.run.No, keys)
	if err != nil {
		return err
	}
	for i := range answers {
		for _, v := range all[answers[i].key] {
			row := verdictRowOf(v)
			row.won = wonBy(v, answers[i].key)
			answers[i].Verdicts = append(answers[i].Verdicts, row)
		}
	}
	return nil
}

// labelsOf are the labels that the first verdicts of each stage have: enough to choose from.
func (s *Server) labelsOf(q *request, stages []string) ([]string, error) {
	var out []string
	for _, stage := range stages {
		page, err := q.home.Ledger.VerdictsPage(q.Context(), q.run.No, store.VerdictFilter{Stage: stage}, 0, 200)
		if err != nil {
			return nil, err
		}
		var labels []string
		for _, v := range page.Verdicts {
			label := stage + ":" + cmp.Or(v.Label, string(v.State))
			if !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
		slices.Sort(labels)
		out = append(out, labels...)
	}
	return out, nil
}
