// Package answers is the pages about single answers and verdicts: lists, an item, two texts, searches, raw bytes.
package answers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// Pages are the pages about single answers and verdicts.
type Pages struct {
	*site.Site
	beside func(q *site.Request, item string) (site.Beside, error)
}

// New returns the pages of a site about single answers and verdicts. What lies beside an item is asked of beside.
func New(s *site.Site, beside func(q *site.Request, item string) (site.Beside, error)) *Pages {
	return &Pages{s, beside}
}

// answerRow is the row of an answer, and what a page shows beside it.
type answerRow struct {
	rows.Answer
	Verdicts []verdictRow `json:"-"` // in place of the row's, with what chips need
	Fault    string       `json:"-"`
	TooLong  bool         `json:"-"` // the text is among the raw bytes alone
	Settled  *time.Time   `json:"-"`
	RawBytes int64        `json:"-"` // length of the raw line; 0: there is none
	Asked    string       `json:"-"` // the last message before the answer

	Words string           `json:"-"` // the text without calls of tools
	Calls []assay.ToolCall `json:"-"`

	at assay.Coordinates
}

// Of returns whose answer a judge was asked about; empty where the answer is the lane's own.
func (a answerRow) Of() string {
	if a.Lane == a.AskedLane {
		return ""
	}
	return a.Lane
}

// Cut reports whether a page shows less than the whole text.
func (a answerRow) Cut() bool { return len(a.Text) > site.MaxShown }

// Place returns the question's place, besides item and lane.
func (a answerRow) Place() string {
	parts := []string{"turn " + strconv.FormatInt(a.Turn, 10)}
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

// rows makes the rows of a request. A page that comes before the study is read goes without what the study knows, and
// without texts that are too long for a row of the ledger; a program waits.
func (s *Pages) rows(q *site.Request) (*rows.Reader, error) {
	ready, err := s.Ready(q)
	switch {
	case ready && q.API():
		return rows.OfPage(q.Context(), q.Home.Reader, q.Run)
	case ready:
		t, err := rows.OfPage(q.Context(), q.Home.Reader, q.Run)
		if err == nil {
			t.Short = true
		}
		return t, err
	case q.API() && err != nil:
		return nil, err
	case q.API():
		return nil, site.NotYet("the study is still being read")
	}
	return rows.Plain(q.Context(), q.Home.Reader, q.Run)
}

// answerRows returns the rows of answers with their verdicts.
func (s *Pages) answerRows(q *site.Request, answers []store.Answer) ([]answerRow, error) {
	t, err := s.rows(q)
	if err != nil {
		return nil, err
	}
	entries, err := t.Entries(q.Context(), answers)
	if err != nil {
		return nil, err
	}
	out := make([]answerRow, 0, len(entries))
	for _, e := range entries {
		row, err := rowOf(q.Context(), t, e)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

func rowOf(ctx context.Context, t *rows.Reader, e rows.Entry) (answerRow, error) {
	a := e.Answer
	row, err := t.Answer(ctx, a, e.Verdicts)
	damaged := errors.Is(err, artifacts.ErrDamaged)
	if damaged { // one answer that cannot be read keeps no page from being shown
		short := *t
		short.Short = true
		a.Outcome.Fault = &assay.Fault{Class: assay.FaultUnknown, Code: "damaged", Message: err.Error()}
		row, err = short.Answer(ctx, a, e.Verdicts)
	}
	if err != nil {
		return answerRow{}, err
	}
	out := answerRow{Answer: *row, TooLong: a.Over && row.Text == "" && !damaged, Settled: assay.KnownTime(a.Settled),
		RawBytes: a.Length, Words: a.Outcome.Words(), Calls: a.Outcome.Calls, at: a.At}
	if f := a.Outcome.Fault; f != nil {
		out.Fault = f.Error()
	}
	for i := range e.Verdicts {
		v := t.Verdict(&e.Verdicts[i])
		out.Verdicts = append(out.Verdicts, verdictRow{Verdict: *v, won: wonBy(e.Verdicts[i], a.Key)})
	}
	return out, nil
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

// answerQuery is the filter of a page of answers.
type answerQuery struct {
	Stage   string `json:"stage,omitempty"`
	Lane    string `json:"lane,omitempty"`
	Item    string `json:"item,omitempty"`
	Ending  string `json:"ending,omitempty"`  // or open
	Verdict string `json:"verdict,omitempty"` // STAGE:LABEL, or STAGE:STATE where there is no label
}

// Query returns the filter as part of an address.
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

func readAnswerQuery(q *site.Request) (answerQuery, error) {
	f := answerQuery{q.FormValue("stage"), q.FormValue("lane"), q.FormValue("item"), q.FormValue("ending"), q.FormValue("verdict")}
	if f.Ending != "" && f.Ending != endingOpen && !slices.Contains(assay.Endings(), assay.Ending(f.Ending)) {
		return f, site.Bad("ending: there is no %q", f.Ending)
	}
	if _, _, ok := strings.Cut(f.Verdict, ":"); f.Verdict != "" && !ok {
		return f, site.Bad("verdict: want STAGE:LABEL")
	}
	return f, nil
}

// List lists answers by a filter.
func (s *Pages) List(q *site.Request) (*site.View, error) {
	f, err := readAnswerQuery(q)
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
	lanes, err := q.Home.Ledger.Lanes(q.Context(), q.Run.No)
	if err != nil {
		return nil, err
	}
	data.Stages, data.Lanes = namesOf(lanes)
	if data.Labels, err = labelsOf(q, data.Stages); err != nil {
		return nil, err
	}
	return &site.View{Template: "answers", Title: "Answers", Tab: "answers", Data: data}, nil
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

func (s *Pages) answersInOrder(q *site.Request, data *answersData) error {
	limit, err := q.Limit()
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
	all, err := q.Home.Pages.AnswersPage(q.Context(), q.Run.No, filter, after, limit+1)
	if err != nil {
		return err
	}
	if len(all) > limit {
		all = all[:limit]
		last := all[limit-1]
		data.Next = fmt.Sprintf("%d.%d", last.Segment, last.Ord)
	}
	data.Answers, err = s.answerRows(q, all)
	return err
}

func readMark(text string) (store.Mark, error) {
	if text == "" {
		return store.Mark{}, nil
	}
	segment, ord, _ := strings.Cut(text, ".")
	g, err := strconv.ParseInt(segment, 10, 64)
	o, err2 := strconv.ParseInt(ord, 10, 64)
	if err != nil || err2 != nil || g < 1 || o < -1 {
		return store.Mark{}, site.Bad("after: %q is not a mark of a page", text)
	}
	return store.Mark{Segment: g, Ord: o}, nil
}

// answersByVerdict lists the answers that were judged in a way. The stage and the lane are those of the answer.
func (s *Pages) answersByVerdict(q *site.Request, data *answersData) error {
	after, limit, err := q.Page("after")
	if err != nil {
		return err
	}
	stage, label, _ := strings.Cut(data.Filter.Verdict, ":")
	f := data.Filter
	page, err := q.Home.Pages.VerdictsPage(q.Context(), q.Run.No,
		store.VerdictFilter{Stage: stage, Lane: f.Lane, Says: label, Item: f.Item}, after, limit)
	if err != nil {
		return err
	}
	data.Seen = page.Seen
	if page.Next != 0 {
		data.Next = fmt.Sprint(page.Next)
	}
	var refs []assay.Ref
	for _, v := range page.Verdicts {
		refs = append(refs, v.Answers()...)
	}
	answers, err := q.Home.Ledger.AnswersTo(q.Context(), q.Run.No, refs)
	if err != nil {
		return err
	}
	seen := map[assay.Key]bool{}
	var kept []store.Answer
	for _, ref := range refs {
		a, ok := answers[ref.Key]
		if !ok || seen[ref.Key] || f.Stage != "" && a.At.Stage != f.Stage || f.Ending != "" && string(a.Outcome.Ending) != f.Ending {
			continue
		}
		seen[ref.Key] = true
		kept = append(kept, a)
	}
	data.Answers, err = s.answerRows(q, kept)
	return err
}

// labelsOf returns the labels that the first verdicts of each stage have: enough to choose from.
func labelsOf(q *site.Request, stages []string) ([]string, error) {
	var out []string
	for _, stage := range stages {
		page, err := q.Home.Pages.VerdictsPage(q.Context(), q.Run.No, store.VerdictFilter{Stage: stage}, 0, 200)
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
