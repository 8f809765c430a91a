package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"assay/internal/find/results/labels"
)

type peopleData struct {
	Stages    []peopleStage `json:"stages"`
	Preparing bool          `json:"being_prepared,omitempty"`
	Name      string        `json:"-"`
}

type peopleStage struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"` // judge or compare
}

// peoplePage lists the stages that people may judge.
func (s *Server) peoplePage(q *request) (*view, error) {
	data := peopleData{Stages: []peopleStage{}, Name: q.person()}
	ready, err := s.ready(q)
	if err != nil {
		return nil, err
	}
	data.Preparing = !ready
	if ready {
		stages, err := labels.Stages(q.Context(), q.home.Reader, q.run)
		if err != nil {
			return nil, err
		}
		for _, st := range stages {
			panel, err := labels.Open(q.Context(), q.home.Reader, q.run, st)
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
	return &view{template: "people", title: "People", tab: "people", data: data}, nil
}

// person is who looks: by the form, else by the cookie that an earlier form left.
func (q *request) person() string {
	if name := strings.TrimPrefix(strings.TrimSpace(q.FormValue("as")), "human:"); name != "" {
		return name
	}
	if c, err := q.Cookie(personCookie); err == nil {
		return c.Value
	}
	return ""
}

const personCookie = "assay-person"

type arenaData struct {
	Stage   string          `json:"stage"`
	As      string          `json:"as"`
	Choose  string          `json:"choose"` // balanced or uncertain
	Pair    bool            `json:"pair"`
	Task    string          `json:"task,omitempty"` // empty: nothing is left, or it is being chosen
	Waiting bool            `json:"being_chosen"`
	Sheet   *labels.Sheet   `json:"sheet"`
	Choices []labels.Choice `json:"choices"`
	Given   int             `json:"given_in_this_session"`
	Undo    bool            `json:"can_undo"`
	Votes   labels.Votes    `json:"votes"`
}

const (
	chooseBalanced  = "balanced"
	chooseUncertain = "uncertain"
)

// arenaPage shows one person the next pair, or the next answer, blind.
func (s *Server) arenaPage(q *request) (*view, error) {
	session, err := s.sessionOf(q)
	if err != nil {
		return nil, err
	}
	data := arenaData{Stage: session.stage, As: session.name, Choose: session.choose, Choices: session.panel.Choices(),
		Pair: session.panel.Pairs()}
	patience, err := q.patience()
	if err != nil {
		return nil, err
	}
	task, sheet, waiting, err := s.sessions.next(q.Context(), session, patience)
	if err != nil {
		return nil, err
	}
	data.Waiting, data.Sheet = waiting, sheet
	if sheet != nil {
		data.Task = task.ID.String()
	}
	data.Given, data.Undo = s.sessions.given(session)
	if data.Votes, err = labels.VotesOf(q.Context(), q.home.Reader, q.run, session.panel, session.stage, session.person); err != nil {
		return nil, err
	}
	data.Votes.Planned = s.sessions.planned(session)
	v := &view{template: "arena", title: "Which is better?", tab: "people", data: data}
	if !data.Pair {
		v.title = "What is it?"
	}
	if waiting {
		v.live = "/runs/" + q.run.ID + "/news"
	}
	return v, nil
}

// sessionOf returns the session of a person at a stage.
func (s *Server) sessionOf(q *request) (*labelSession, error) {
	if ready, err := s.ready(q); err != nil {
		return nil, err
	} else if !ready {
		return nil, &problem{http.StatusServiceUnavailable, "the study is being prepared: reload in a moment"}
	}
	name := q.person()
	person, err := labels.Person(name)
	if err != nil {
		return nil, bad("say who you are: %s", err)
	}
	stage := q.PathValue("stage")
	panel, err := labels.Open(q.Context(), q.home.Reader, q.run, stage)
	if err != nil {
		return nil, &problem{http.StatusNotFound, err.Error()}
	}
	if panel.Choices() == nil {
		return nil, bad("the rubric of this stage has no labels or whole numbers to choose from")
	}
	choose := chooseBalanced
	if q.FormValue("choose") == chooseUncertain && panel.Pairs() {
		choose = chooseUncertain
	}
	return &labelSession{home: q.home, run: q.run, panel: panel, key: sessionKey{q.home, q.run.No, stage, person, choose}, stage: stage,
		name: name, person: person, choose: choose}, nil
}

// judgeForm stores a person's label, and goes on to the next task.
func (s *Server) judgeForm(w http.ResponseWriter, r *http.Request) {
	q, err := s.open(r)
	if err == nil {
		err = r.ParseForm()
	}
	if err == nil && !same(r.PostFormValue("csrf"), s.guard.csrf) {
		err = &problem{http.StatusForbidden,
			"the form is not one of ours, or of an earlier start of the dashboard: reload the page and try again"}
	}
	var at *labelSession
	if err == nil {
		at, err = s.sessionOf(q)
	}
	if err == nil && r.PostFormValue("say") != "" {
		err = s.keepLabel(r.Context(), at, r.PostForm)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: personCookie, Value: at.name, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: 30 * 24 * 3600})
	to, err := link("/runs/"+q.run.ID+"/people/"+at.stage, "as", at.name, "choose", at.choose)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// keepLabel stores the label of the task that was shown.
func (s *Server) keepLabel(ctx context.Context, at *labelSession, form url.Values) error {
	switch say := form.Get("say"); say {
	case "undo":
		return s.sessions.undo(ctx, at)
	case "skip":
		return s.sessions.skip(at, form.Get("task"))
	default:
		return s.sessions.keep(ctx, at, labelForm{form.Get("task"), say, form.Get("seen")})
	}
}
