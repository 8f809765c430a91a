package people

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/find/results/labels"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// maxComment is how many bytes a comment may have.
const maxComment = 8 << 10

// Mark stores what a person says about an answer where it is read, under its lane's name: a label, or a comment.
func (s *Pages) Mark(w http.ResponseWriter, r *http.Request) {
	q, err := s.OpenForm(r)
	var key string
	if err == nil {
		key, err = s.mark(q, r.PostForm)
	}
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	site.KeepPerson(w, q.Person())
	http.Redirect(w, r, backTo(q, r.PostFormValue("back"), key), http.StatusSeeOther)
}

// mark stores what a form says, and returns the answer that it is about.
func (s *Pages) mark(q *site.Request, form url.Values) (key string, err error) {
	person, err := labels.Person(q.Person())
	if err != nil {
		return "", site.Bad("say who you are: %s", err)
	}
	if pick := form.Get("pick"); pick != "" {
		key, rest, _ := strings.Cut(pick, " ")
		choice, stage, _ := strings.Cut(rest, " ")
		return key, s.pick(q, key, stage, choice, person)
	}
	if no := form.Get("withdraw"); no != "" {
		n, err := strconv.ParseInt(no, 10, 64)
		if err != nil {
			return "", site.Bad("withdraw: %q is not a number", no)
		}
		if was, err := q.Home.Orders.WithdrawComment(q.Context(), q.Run.No, n, person); err != nil || !was {
			return "", orRefused(err, "that is no comment of yours")
		}
		return form.Get("of"), nil
	}
	key = form.Get("comment")
	text := strings.TrimSpace(form.Get("text-" + key))
	switch {
	case text == "":
		return key, site.Bad("there is nothing to keep: write a comment first")
	case len(text) > maxComment:
		return key, site.Bad("a comment has at most %d bytes", maxComment)
	}
	a, err := answerOf(q, key)
	if err != nil {
		return key, err
	}
	return key, q.Home.Orders.AddComment(q.Context(), store.Comment{Run: q.Run.No, Key: a.At.Key(), Item: a.At.Item, Person: person,
		Text: text})
}

func orRefused(err error, what string) error {
	if err != nil {
		return err
	}
	return site.Refused(http.StatusForbidden, what)
}

// pick stores a label, or takes it back.
func (s *Pages) pick(q *site.Request, key, stage, choice, person string) error {
	if ready, err := s.Ready(q); err != nil {
		return err
	} else if !ready {
		return site.NotYet("the study is being prepared: reload in a moment")
	}
	a, err := answerOf(q, key)
	if err != nil {
		return err
	}
	panel, err := labels.Open(q.Context(), q.Home.Reader, q.Run, stage)
	if err != nil {
		return site.Refused(http.StatusNotFound, err.Error())
	}
	it, err := q.Home.Ledger.Item(q.Context(), q.Run.No, panel.People.Judging.Items(), a.At.Item)
	if err == nil {
		err = panel.Pick(q.Context(), q.Home.Ledger, it, a.At.Key(), person, choice)
	}
	if m, ok := errors.AsType[*results.Mistake](err); ok {
		return site.Refused(http.StatusConflict, m.What)
	}
	return err
}

func answerOf(q *site.Request, text string) (store.Answer, error) {
	key, err := assay.ParseKey(text)
	if err != nil {
		return store.Answer{}, site.Bad("%s", err)
	}
	return q.Home.Ledger.AnswerTo(q.Context(), q.Run.No, key)
}

// backTo returns the page of this run that a form came from, at the answer that it was about.
func backTo(q *site.Request, back, key string) string {
	own := "/runs/" + q.Run.ID + "/"
	u, err := url.Parse(back)
	if err != nil || u.Host != "" || u.Scheme != "" || !strings.HasPrefix(u.Path, own) {
		return own + "grid"
	}
	if _, err := assay.ParseKey(key); err == nil {
		u.Fragment = "k" + key
	}
	return u.String()
}
