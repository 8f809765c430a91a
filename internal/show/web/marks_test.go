package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mark sends what a reader says about an answer.
func (r *rig) mark(form url.Values) answer {
	r.t.Helper()
	form.Set("csrf", hidden(r.t.(*testing.T), r.get("/runs/run1/people").body, "csrf"))
	return r.do(http.MethodPost, "/runs/run1/marks", form, func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+token) })
}

// A label that is given under a lane's name is the person's, is taken back by the same again, and answers nothing that is asked blind.
func TestALabelInTheGridIsThePersonsAndIsStillAskedBlind(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	item, key := "/runs/run1/item?id="+url.QueryEscape(itemID(0)), coordinates("gpt", 0).Key().String()
	for _, page := range []string{item, "/runs/run1/grid?stage=good&show=text"} {
		if body := r.get(page).body; !strings.Contains(body, `value="`+key+` 1 good"`) {
			t.Errorf("%s has no button for a label:\n%s", page, body)
		}
		if body := r.do(http.MethodGet, page, nil, looking).body; strings.Contains(body, `name="pick"`) {
			t.Errorf("%s has one for those who may look", page)
		}
	}
	pick := url.Values{"as": {"anna"}, "pick": {key + " 1 good"}, "back": {item}}
	a := r.mark(pick)
	if to := a.header.Get("Location"); a.status != http.StatusSeeOther || to != item+"#k"+key {
		t.Fatalf("%d to %q %s", a.status, to, a.body)
	}
	if d := cmp.Diff([]string{"yes"}, r.said("good", "human:anna")); d != "" {
		t.Error(d)
	}
	if page := r.get(item + "&as=anna").body; !strings.Contains(page, `1 good" aria-pressed="true"`) {
		t.Error("the page does not show which label is anna's")
	}
	blind := &sitting{rig: r, t: t, stage: "good", csrf: pick.Get("csrf")}
	if votes, _ := blind.shown()["votes"].(map[string]any); votes["labelled"] != 0.0 || votes["yours"] != 0.0 {
		t.Errorf("the label answers what is asked blind: %v", votes)
	}
	r.mark(pick)
	if got := r.said("good", "human:anna"); len(got) != 0 {
		t.Errorf("the same label again does not take it back: %v", got)
	}
	if a := r.mark(url.Values{"as": {"anna"}, "pick": {key + " 1 good"}, "back": {"https://evil.example/runs/run1/"}}); a.header.Get(
		"Location") != "/runs/run1/grid" {
		t.Errorf("it leads to %q", a.header.Get("Location"))
	}
}

// What a person said blind is not replaced by what the same person says under the lane's name.
func TestALabelGivenBlindStays(t *testing.T) {
	t.Parallel()
	s := &sitting{rig: newRig(t), t: t, stage: "good"}
	s.csrf = hidden(t, s.get("/runs/run1/people").body, "csrf")
	for s.shown()["task"] != nil {
		if a := s.say("2", nil); a.status != http.StatusSeeOther {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	before := s.rig.said("good", "human:anna")
	a := s.mark(url.Values{"as": {"anna"}, "pick": {coordinates("gpt", 0).Key().String() + " 1 good"}})
	if d := cmp.Diff(before, s.rig.said("good", "human:anna")); a.status != http.StatusConflict || d != "" || len(before) == 0 {
		t.Errorf("%d %s", a.status, d)
	}
}

// A comment is kept with its answer, is text whatever it holds, and is taken back by its author alone.
func TestACommentIsTextAndItsAuthors(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	item, key := "/runs/run1/item?id="+url.QueryEscape(itemID(0)), coordinates("gpt", 0).Key().String()
	if a := r.mark(url.Values{"as": {"anna"}, "comment": {key}, "text-" + key: {hostile}}); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	page := r.get(item).body
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "<svg onload") || !strings.Contains(page, "human:anna") {
		t.Errorf("the comment is not shown as text:\n%s", page)
	}
	kept := r.json("/runs/run1/item?id=" + url.QueryEscape(itemID(0)))["comments"].([]any)
	if len(kept) != 1 || kept[0].(map[string]any)["key"] != key {
		t.Fatalf("comments: %v", kept)
	}
	if a := r.mark(url.Values{"as": {"ben"}, "withdraw": {"1"}}); a.status != http.StatusForbidden {
		t.Errorf("another one takes it back: %d", a.status)
	}
	if a := r.mark(url.Values{"as": {"anna"}, "withdraw": {"1"}}); a.status != http.StatusSeeOther {
		t.Errorf("its author cannot take it back: %d", a.status)
	}
	if kept := r.json("/runs/run1/item?id=" + url.QueryEscape(itemID(0)))["comments"].([]any); len(kept) != 0 {
		t.Errorf("it is still there: %v", kept)
	}
	for name, form := range map[string]url.Values{
		"nobody":      {"comment": {key}, "text-" + key: {"x"}},
		"no answer":   {"as": {"anna"}, "comment": {"abc"}, "text-abc": {"x"}},
		"empty":       {"as": {"anna"}, "comment": {key}, "text-" + key: {" "}},
		"far too big": {"as": {"anna"}, "comment": {key}, "text-" + key: {strings.Repeat("x", 9<<10)}},
	} {
		if a := r.mark(form); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d", name, a.status)
		}
	}
}
