package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sitting is a person who judges, page by page.
type sitting struct {
	*rig
	t     *testing.T
	csrf  string
	stage string
}

func (s *sitting) shown() map[string]any {
	return s.json("/runs/run1/people/" + s.stage + "?as=anna")
}

func (s *sitting) say(word string, edit func(url.Values)) answer {
	page := s.shown()
	task, _ := page["task"].(string)
	form := url.Values{"csrf": {s.csrf}, "as": {"anna"}, "task": {task}, "say": {word}}
	if edit != nil {
		edit(form)
	}
	return s.do(http.MethodPost, "/runs/run1/people/"+s.stage, form, func(q *http.Request) {
		q.Header.Set("Authorization", "Bearer "+token)
	})
}

func TestAPersonJudgesOneAfterTheOther(t *testing.T) {
	t.Parallel()
	s := &sitting{rig: newRig(t), t: t, stage: "arena"}
	s.csrf = hidden(t, s.get("/runs/run1/people").body, "csrf")
	page := s.get("/runs/run1/people/arena?as=anna").body
	if strings.Contains(page, "gpt") || strings.Contains(page, "opus") {
		t.Error("the arena names a lane")
	}
	for _, word := range []string{"a", "skip", "b"} { // the last of four has no answers, and is passed over
		if a := s.say(word, nil); a.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", word, a.status, a.body)
		}
	}
	if d := cmp.Diff([]string{"a", "b"}, s.said("arena", "human:anna")); d != "" {
		t.Error(d)
	}
	got := s.shown()
	if got["task"] != nil || got["given_in_this_session"] != 2.0 {
		t.Errorf("at the end: %v", got)
	}
	if v, _ := got["votes"].(map[string]any); v["planned"] != 4.0 || v["labelled"] != 2.0 || v["yours"] != 2.0 {
		t.Errorf("votes: %v", v)
	}
	if page := s.get("/runs/run1/people/arena?as=anna").body; !strings.Contains(page, "2 of 4 pairs judged by people") {
		t.Errorf("the arena does not say how far it is: %s", page)
	}
	if a := s.say("undo", nil); a.status != http.StatusSeeOther || len(s.said("arena", "human:anna")) != 1 || s.shown()["task"] == nil {
		t.Errorf("undo: %d, %v", a.status, s.said("arena", "human:anna"))
	}
}

func TestALabelIsKeptOnceHoweverOftenItIsSent(t *testing.T) {
	t.Parallel()
	s := &sitting{rig: newRig(t), t: t, stage: "good"}
	s.csrf = hidden(t, s.get("/runs/run1/people").body, "csrf")
	first := s.shown()["task"].(string)
	again := func(f url.Values) { f.Set("task", first) }
	if a := s.say("1", again); a.status != http.StatusSeeOther {
		t.Fatalf("the first time: %d", a.status)
	}
	if a := s.say("2", again); a.status != http.StatusConflict {
		t.Errorf("the second time: %d", a.status)
	}
	for name, edit := range map[string]func(url.Values){
		"no form token":        func(f url.Values) { f.Del("csrf") },
		"no task":              func(f url.Values) { f.Set("task", "") },
		"nosuch":               func(f url.Values) { f.Set("as", "<b>") },
		"a task of other keys": func(f url.Values) { f.Set("task", coordinates("x", 9).Key().String()) },
	} {
		if a := s.say("1", edit); a.status < 400 {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if a := s.say("z", nil); a.status < 400 || s.shown()["task"] == nil {
		t.Errorf("a choice that is none: %d", a.status)
	}
	if got := s.said("good", "human:anna"); len(got) != 1 {
		t.Errorf("kept: %v", got)
	}
}

func TestWhatIsLeastCertainComesFirstOnlyWhenAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for query, want := range map[string]string{"": "drawn", "&choose=uncertain": "uncertain",
		"&choose=balanced": "balanced", "&choose=nonsense": "drawn"} {
		if got := r.json("/runs/run1/people/arena?as=anna" + query)["choose"]; got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}
