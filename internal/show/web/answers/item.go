package answers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/labels"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// maxOnItem is how many requests about one item are read, for a page that shows some of them at a time.
const maxOnItem = 2_000

// maxInAnswer is how many a program gets.
const maxInAnswer = 400

// maxAsked is for how many of them it makes the question again.
const maxAsked = 120

type itemData struct {
	Item      string     `json:"item"`
	Inputs    []inputRow `json:"inputs"`
	Stage     string     `json:"stage"`
	Stages    []string   `json:"stages"`
	Lane      string     `json:"asked_lane,omitempty"` // the one that alone is shown
	Lanes     []itemLane `json:"lanes"`
	System    string     `json:"system,omitempty"`
	Truncated bool       `json:"truncated,omitempty"`
	Preparing bool       `json:"questions_being_prepared,omitempty"`

	Comments []site.Comment `json:"comments"`

	Each   []string    `json:"-"` // the lanes of the stage, where not all requests were read
	Places window      `json:"-"` // what of all this the page shows
	Marks  *site.Marks `json:"-"`
	Beside site.Beside `json:"-"`
	Grid   string      `json:"-"` // the state of the grid that led here

	Unasked bool `json:"-"` // no question stands beside the answers: the fields tell what it was
}

// inputRow is the item as an input has it.
type inputRow struct {
	Input   string         `json:"input"`
	Cluster string         `json:"cluster,omitempty"`
	Expect  string         `json:"expect,omitempty"`
	Fields  map[string]any `json:"fields"`
	Shown   []site.Picture `json:"media,omitempty"`
}

// Values lists the fields by name, each as a text.
func (r inputRow) Values() [][2]string {
	var out [][2]string
	for name, v := range r.Fields {
		out = append(out, [2]string{name, fmt.Sprint(v)})
	}
	sort.Slice(out, func(i, k int) bool { return out[i][0] < out[k][0] })
	return out
}

// itemLane holds one lane's answers to the item.
type itemLane struct {
	Lane    string            `json:"asked_lane"`
	Answers []answerRow       `json:"answers"`
	Asked   map[string]string `json:"asked"` // the last message before each answer, by its key
	Cells   []*answerRow      `json:"-"`     // the answers, one for each place of any lane; nil: it has none there
}

// Item puts the lanes of a stage side by side on one item.
func (s *Pages) Item(q *site.Request) (*site.View, error) {
	ctx, id := q.Context(), q.FormValue("id")
	if id == "" {
		return nil, site.Bad("id: which item?")
	}
	filter := store.AnswerFilter{Item: id, Lane: q.FormValue("lane")}
	if filter.Lane != "" { // of one lane alone more fits on a page, and other stages are a link away
		filter.Stage = q.FormValue("stage")
	}
	most := maxOnItem
	if q.API() {
		most = maxInAnswer
	}
	all, err := q.Home.Pages.AnswersPage(ctx, q.Run.No, filter, store.Mark{}, most)
	if err != nil {
		return nil, err
	}
	data := itemData{Item: id, Lane: q.FormValue("lane"), Grid: q.FormValue("grid"),
		Inputs: []inputRow{}, Lanes: []itemLane{}, Truncated: len(all) == most}
	named, err := q.Home.Ledger.Named(ctx, q.Run.No, id)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 && len(named) == 0 {
		return nil, fmt.Errorf("item %q: %w", id, store.ErrNotFound)
	}
	for input, it := range named {
		data.Inputs = append(data.Inputs, inputRow{input, it.Cluster, it.Expect, it.Fields,
			site.Pictures(q.Run.ID, id, it.Files)})
	}
	sort.Slice(data.Inputs, func(i, j int) bool { return data.Inputs[i].Input < data.Inputs[j].Input })
	data.Stages, data.Stage = stagesOf(all, q.FormValue("stage"))
	if data.Truncated {
		lanes, err := q.Home.Ledger.Lanes(ctx, q.Run.No)
		if err != nil {
			return nil, err
		}
		_, data.Each = namesOf(slices.DeleteFunc(lanes, func(l store.Lane) bool { return l.Stage != data.Stage }))
	}
	all = slices.DeleteFunc(all, func(a store.Answer) bool { return a.At.Stage != data.Stage })
	if !q.API() {
		all, data.Places = cut(q, all)
	}
	rows, err := s.answerRows(q, all)
	if err != nil {
		return nil, err
	}
	if ready, err := s.Ready(q); err != nil || !ready {
		data.Preparing = err == nil
	} else {
		data.System = addQuestions(ctx, q, rows)
	}
	data.Lanes = byLane(rows)
	align(data.Lanes)
	if err := s.mark(q, &data, named); err != nil {
		return nil, err
	}
	if !q.API() {
		if data.Beside, err = s.beside(q, id); err != nil {
			return nil, err
		}
		inOrder(data.Lanes, data.Beside.Lanes)
		data.Unasked = !data.Preparing && !slices.ContainsFunc(data.Lanes, func(l itemLane) bool { return len(l.Asked) > 0 })
	}
	return &site.View{Template: "item", Title: "Item " + id, Tab: "answers", Data: data}, nil
}

// mark adds what people wrote about the answers, and what the reader may say about them.
func (s *Pages) mark(q *site.Request, data *itemData, named map[string]assay.Item) (err error) {
	if data.Comments, err = q.Comments([]string{data.Item}); err != nil || q.API() {
		return err
	}
	var stages []string
	if s.MayWrite(q) && !data.Preparing {
		if stages, err = labels.Stages(q.Context(), q.Home.Reader, q.Run); err != nil {
			return err
		}
	}
	data.Marks, err = s.Marks(q, stages, data.Comments, func(input string) []assay.Item {
		if it, ok := named[input]; ok {
			return []assay.Item{it}
		}
		return nil
	})
	return err
}

// stagesOf returns the stages that asked about an item, those that are not judged first; and the one to show.
func stagesOf(all []store.Answer, want string) (stages []string, shown string) {
	asks := map[string]bool{}
	for _, a := range all {
		if !slices.Contains(stages, a.At.Stage) {
			stages = append(stages, a.At.Stage)
		}
		asks[a.At.Stage] = asks[a.At.Stage] || a.At.Judge == ""
	}
	slices.SortStableFunc(stages, func(a, b string) int {
		switch {
		case asks[a] == asks[b]:
			return 0
		case asks[a]:
			return -1
		}
		return 1
	})
	if slices.Contains(stages, want) {
		return stages, want
	}
	if len(stages) > 0 {
		shown = stages[0]
	}
	return stages, shown
}

// byLane groups answers by lane, each in the order of the conversation.
func byLane(rows []answerRow) []itemLane {
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := &rows[i], &rows[j]
		return cmp.Or(cmp.Compare(a.AskedLane, b.AskedLane), compareTurns(a, b)) < 0
	})
	out := []itemLane{}
	for _, r := range rows {
		if len(out) == 0 || out[len(out)-1].Lane != r.AskedLane {
			out = append(out, itemLane{Lane: r.AskedLane, Asked: map[string]string{}})
		}
		last := &out[len(out)-1]
		last.Answers = append(last.Answers, r)
		if r.Asked != "" {
			last.Asked[r.Key] = r.Asked
		}
	}
	return out
}

// inOrder puts lanes into the order of a ranking; those that it does not have come last.
func inOrder(lanes []itemLane, ranking []string) {
	at := func(l itemLane) int {
		if i := slices.Index(ranking, l.Lane); i >= 0 {
			return i
		}
		return len(ranking)
	}
	slices.SortStableFunc(lanes, func(a, b itemLane) int { return at(a) - at(b) })
}

// align gives every lane a cell for each place at which any lane was asked, so that the same turns are side by side.
func align(lanes []itemLane) {
	at := map[assay.Coordinates]int{}
	var all []*answerRow
	for i := range lanes {
		for k := range lanes[i].Answers {
			if r := &lanes[i].Answers[k]; !known(at, r.place()) {
				at[r.place()] = 0
				all = append(all, r)
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return compareTurns(all[i], all[j]) < 0 })
	for n, r := range all {
		at[r.place()] = n
	}
	for i := range lanes {
		lanes[i].Cells = make([]*answerRow, len(all))
		for k := range lanes[i].Answers {
			r := &lanes[i].Answers[k]
			lanes[i].Cells[at[r.place()]] = r
		}
	}
}

func known(at map[assay.Coordinates]int, place assay.Coordinates) bool {
	_, ok := at[place]
	return ok
}

// place returns which question it was, whichever lane was asked.
func (a *answerRow) place() assay.Coordinates { return placeOf(a.at) }

// compareTurns orders answers as a conversation goes.
func compareTurns(a, b *answerRow) int {
	return cmp.Or(cmp.Compare(a.at.Template, b.at.Template), cmp.Compare(a.Draw, b.Draw), cmp.Compare(a.Turn, b.Turn),
		cmp.Compare(a.Branch, b.Branch))
}

// addQuestions makes again what was asked, and returns the system text where all share one. A question that cannot be
// made again is left out: the answers are there all the same.
func addQuestions(ctx context.Context, q *site.Request, answers []answerRow) (system string) {
	systems := map[string]bool{}
	for i := range answers[:min(len(answers), maxAsked)] {
		p, err := rows.Prompts(ctx, q.Home.Reader, q.Run, []assay.Coordinates{answers[i].at})
		if err != nil || len(p) != 1 || len(p[0].Messages) == 0 {
			continue
		}
		asked := p[0].Messages[len(p[0].Messages)-1].Text
		if answers[i].Turn == 1 && p[0].Context != "" {
			asked = p[0].Context + "\n\n" + asked
		}
		answers[i].Asked = asked
		systems[p[0].System] = true
	}
	if len(systems) == 1 {
		for text := range systems {
			return text
		}
	}
	return ""
}

type answerData struct {
	Answer       answerRow    `json:"answer"`
	System       string       `json:"system,omitempty"`
	Conversation []messageRow `json:"conversation"` // up to the answer; empty: it cannot be made again
	Params       string       `json:"params,omitempty"`
	RawBytes     int64        `json:"raw_bytes"` // length of the raw line; 0: there is none

	Shown []site.Picture `json:"media,omitempty"` // that requests about its item show
}

type messageRow struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Answer shows one request with all that is known of it.
func (s *Pages) Answer(q *site.Request) (*site.View, error) {
	a, err := answerOf(q, q.PathValue("key"))
	if err != nil {
		return nil, err
	}
	shown, err := s.answerRows(q, []store.Answer{a})
	if err != nil {
		return nil, err
	}
	data := answerData{Answer: shown[0], RawBytes: a.Length, Conversation: []messageRow{}}
	files, err := rows.Files(q.Context(), q.Home.Reader, q.Run, a.At.Item)
	if err != nil {
		return nil, err
	}
	data.Shown = site.Pictures(q.Run.ID, a.At.Item, files)
	if ready, err := s.Ready(q); err == nil && ready {
		data.converse(q, a)
	}
	lanes, err := q.Home.Ledger.Lanes(q.Context(), q.Run.No)
	if err != nil {
		return nil, err
	}
	for _, l := range lanes {
		if l.Stage == a.At.Stage && l.Name == a.Lane {
			data.Params = l.Params
		}
	}
	return &site.View{Template: "answer", Title: "Answer of " + a.Lane, Tab: "answers", Data: data}, nil
}

// converse makes again what led to the answer, where that can be made.
func (d *answerData) converse(q *site.Request, a store.Answer) {
	p, err := rows.Prompts(q.Context(), q.Home.Reader, q.Run, []assay.Coordinates{a.At})
	if err != nil || len(p) != 1 {
		return
	}
	d.System = p[0].System
	if p[0].Context != "" {
		d.Conversation = append(d.Conversation, messageRow{"context", p[0].Context})
	}
	for _, m := range p[0].Messages {
		d.Conversation = append(d.Conversation, messageRow{string(m.Role), m.Text})
	}
}

// answerOf reads the answer that a key in an address names.
func answerOf(q *site.Request, text string) (store.Answer, error) {
	key, err := assay.ParseKey(strings.TrimSpace(text))
	if err != nil {
		return store.Answer{}, site.Bad("%s", err)
	}
	if item := q.FormValue("item"); item != "" { // as links have it
		ref := assay.Ref{Item: item, Key: key}
		found, err := q.Home.Ledger.AnswersTo(q.Context(), q.Run.No, []assay.Ref{ref})
		if a, ok := found[key]; ok || err != nil {
			return a, err
		}
	}
	return q.Home.Ledger.AnswerTo(q.Context(), q.Run.No, key)
}
