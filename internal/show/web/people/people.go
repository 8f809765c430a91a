// Package people is the pages on which people label answers and pairs, blind.
package people

import (
	"context"
	"net/http"
	"net/url"

	"assay/internal/find/analysis"
	"assay/internal/find/results/labels"
	"assay/internal/find/results/rows"
	"assay/internal/show/web/site"
)

// Pages are the pages on which people label.
type Pages struct {
	*site.Site
	sessions *sessions
}

// New returns the pages of a site on which people label.
func New(s *site.Site) *Pages { return &Pages{s, newSessions(s.Now)} }

type peopleData struct {
	Stages    []peopleStage `json:"stages"`
	Preparing bool          `json:"being_prepared,omitempty"`
	Name      string        `json:"-"`
}

type peopleStage struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"` // judge or compare
}

// Stages lists the stages that people may judge.
func (s *Pages) Stages(q *site.Request) (*site.View, error) {
	data := peopleData{Stages: []peopleStage{}, Name: q.Person()}
	ready, err := s.Ready(q)
	if err != nil {
		return nil, err
	}
	data.Preparing = !ready
	if ready {
		stages, err := labels.Stages(q.Context(), q.Home.Reader, q.Run)
		if err != nil {
			return nil, err
		}
		for _, st := range stages {
			panel, err := labels.Open(q.Context(), q.Home.Reader, q.Run, st)
			if err != nil {
				return nil, err
			}
			if panel.Choices() == nil {
				continue
			}
			verb := "judge"
			if panel.Pairs() {
				verb = "compare"
			}
			data.Stages = append(data.Stages, peopleStage{Stage: st, Verb: verb})
		}
	}
	return &site.View{Template: "people", Title: "People", Tab: "people", Data: data}, nil
}

type arenaData struct {
	Stage   string          `json:"stage"`
	As      string          `json:"as"`
	Choose  string          `json:"choose"` // drawn, balanced, uncertain or adjudicate
	Pair    bool            `json:"pair"`
	Task    string          `json:"task,omitempty"` // empty: nothing is left, or it is being chosen
	Waiting bool            `json:"being_chosen"`
	Sheet   *labels.Sheet   `json:"sheet"`
	Choices []labels.Choice `json:"choices"`
	Given   int             `json:"given_in_this_session"`
	Undo    bool            `json:"can_undo"`
	Votes   labels.Votes    `json:"votes"`
	Unread  bool            `json:"-"` // what the judge is told is not what was shown before

	Shown  []site.Picture `json:"media,omitempty"`   // that the models were shown
	ShownA []site.Picture `json:"media_a,omitempty"` // of two items
	ShownB []site.Picture `json:"media_b,omitempty"`
}

const (
	chooseDrawn     = "drawn"
	chooseBalanced  = "balanced"
	chooseUncertain = "uncertain"
	chooseDiffering = "adjudicate" // answers on which people differ
)

// show adds what the models were shown, or what two items show.
func (d *arenaData) show(q *site.Request, t analysis.Task) error {
	places := []*[]site.Picture{&d.ShownA, &d.ShownB}
	items := t.Items()
	if len(items) == 1 {
		places[0] = &d.Shown
	}
	for i, id := range items {
		files, err := rows.Files(q.Context(), q.Home.Reader, q.Run, id)
		if err != nil {
			return err
		}
		*places[i] = site.Pictures(q.Run.ID, id, files)
	}
	return nil
}

// Arena shows one person the next pair, or the next answer, blind.
func (s *Pages) Arena(q *site.Request) (*site.View, error) {
	session, err := s.sessionOf(q)
	if err != nil {
		return nil, err
	}
	data := arenaData{Stage: session.stage, As: session.name, Choose: session.choose, Choices: session.panel.Choices(),
		Pair: session.panel.Pairs()}
	patience, err := q.Patience()
	if err != nil {
		return nil, err
	}
	task, sheet, waiting, err := s.sessions.next(q.Context(), session, patience)
	if err != nil {
		return nil, err
	}
	data.Waiting, data.Sheet = waiting, sheet
	if sheet != nil {
		data.Task, data.Unread = task.ID.String(), s.sessions.unread(session, task.ID, sheet.Prompt())
		if err := data.show(q, task); err != nil {
			return nil, err
		}
	}
	data.Given, data.Undo = s.sessions.given(session)
	if data.Votes, err = labels.VotesOf(q.Context(), q.Home.Reader, q.Run, session.panel, session.stage, session.person); err != nil {
		return nil, err
	}
	data.Votes.Planned = s.sessions.planned(session)
	v := &site.View{Template: "arena", Title: "Which is better?", Tab: "people", Data: data}
	if !data.Pair {
		v.Title = session.panel.Question()
	}
	if waiting {
		v.Live = "/runs/" + q.Run.ID + "/news"
	}
	return v, nil
}

// sessionOf returns the session of a person at a stage.
func (s *Pages) sessionOf(q *site.Request) (*session, error) {
	if ready, err := s.Ready(q); err != nil {
		return nil, err
	} else if !ready {
		return nil, site.NotYet("the study is being prepared: reload in a moment")
	}
	name := q.Person()
	person, err := labels.Person(name)
	if name == "" {
		return nil, site.Bad("say who you are, on the page People of this run")
	}
	if err != nil {
		return nil, site.Bad("say who you are: %s", err)
	}
	stage := q.PathValue("stage")
	panel, err := labels.Open(q.Context(), q.Home.Reader, q.Run, stage)
	if err != nil {
		return nil, site.Refused(http.StatusNotFound, err.Error())
	}
	if panel.Choices() == nil {
		return nil, site.Bad("the rubric of this stage has no labels or whole numbers to choose from")
	}
	choose := chooseDrawn
	switch asked := q.FormValue("choose"); {
	case panel.Pairs() && (asked == chooseUncertain || asked == chooseBalanced), !panel.Pairs() && asked == chooseDiffering:
		choose = asked
	}
	return &session{home: q.Home, run: q.Run, panel: panel, key: sessionKey{q.Home, q.Run.No, stage, person, choose}, stage: stage,
		name: name, person: person, choose: choose}, nil
}

// Label stores a person's label, and goes on to the next task.
func (s *Pages) Label(w http.ResponseWriter, r *http.Request) {
	q, err := s.OpenForm(r)
	var at *session
	if err == nil {
		at, err = s.sessionOf(q)
	}
	if err == nil && r.PostFormValue("say") != "" {
		err = s.keepLabel(r.Context(), at, r.PostForm)
	}
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	site.KeepPerson(w, at.name)
	to, err := site.Link("/runs/"+q.Run.ID+"/people/"+at.stage, "as", at.name, "choose", at.choose)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// keepLabel stores the label of the task that was shown.
func (s *Pages) keepLabel(ctx context.Context, at *session, form url.Values) error {
	switch say := form.Get("say"); say {
	case "undo":
		return s.sessions.undo(ctx, at)
	case "skip":
		return s.sessions.skip(at, form.Get("task"))
	default:
		return s.sessions.keep(ctx, at, form.Get("task"), say)
	}
}
