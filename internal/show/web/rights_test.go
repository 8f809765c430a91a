package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"assay/internal/keep/store"
	"assay/internal/show/web/guard"
)

// looking shows the token of those who may look.
func looking(q *http.Request) { q.Header.Set("Authorization", "Bearer "+guard.LookToken(token)) }

func TestWhoMayLookSeesEveryPageWithoutAForm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range paths() {
		a := r.do(http.MethodGet, path, nil, looking)
		if a.status != http.StatusOK || strings.Contains(a.body, `name="csrf"`) || !strings.Contains(a.body, "read-only") {
			t.Errorf("%s: %d, or it has a form, or it does not say that it is read-only", path, a.status)
		}
		if a := r.get(path); strings.Contains(a.body, "read-only") {
			t.Errorf("%s says read-only to one who may do all", path)
		}
	}
}

func TestWhoMayLookGivesNoOrderAndNoVerdict(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.get("/runs/run1/progress").body
	_, rest, ok := strings.Cut(page, `name="csrf" value="`)
	if !ok {
		t.Fatal("one who may do all sees no form")
	}
	secret, _, _ := strings.Cut(rest, `"`)
	forms := map[string]url.Values{
		"/runs/run1/orders":       {"csrf": {secret}, "kind": {string(store.OrderCollect)}},
		"/runs/run1/people/arena": {"csrf": {secret}, "as": {"anna"}, "say": {"a"}},
		"/runs/run1/marks":        {"csrf": {secret}, "as": {"anna"}, "comment": {"x"}, "text-x": {"y"}},
	}
	for path, form := range forms {
		if a := r.do(http.MethodPost, path, form, looking); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if n := strings.Count(r.get("/runs/run1/progress").body, "Waiting to be carried out"); n != 0 {
		t.Errorf("%d orders were taken", n)
	}
	if a := r.do(http.MethodPost, "/runs/run1/orders", forms["/runs/run1/orders"],
		func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+token) }); a.status != http.StatusSeeOther {
		t.Errorf("the same order by one who may do all: %d %s", a.status, a.body)
	}
}

func TestTheTokenForLookingComesByAddressAndFormAndStaysWhatItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, enter := range []func() answer{
		func() answer { return r.do(http.MethodGet, "/runs?token="+guard.LookToken(token), nil, nil) },
		func() answer {
			return r.do(http.MethodPost, "/token", url.Values{"token": {guard.LookToken(token)}, "to": {"/runs"}}, nil)
		},
	} {
		a := enter()
		c, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
		r.ok(err)
		if a.status != http.StatusSeeOther || strings.Contains(c.Value, guard.LookToken(token)) || c.Value == r.enter().Value {
			t.Errorf("%d, cookie %v", a.status, c)
		}
		with := func(q *http.Request) { q.AddCookie(c) }
		if got := r.do(http.MethodGet, "/runs", nil, with).status; got != http.StatusOK {
			t.Errorf("with the cookie: %d", got)
		}
		if got := r.do(http.MethodPost, "/runs/run1/orders", url.Values{"kind": {"collect"}}, with).status; got != http.StatusForbidden {
			t.Errorf("an order with the cookie: %d", got)
		}
	}
}

func TestSigningOutTakesTheCookieAway(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.enter()
	a := r.do(http.MethodPost, "/signout", nil, func(q *http.Request) { q.AddCookie(c) })
	gone, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	r.ok(err)
	if a.status != http.StatusSeeOther || gone.Name != c.Name || gone.MaxAge >= 0 || gone.Value != "" {
		t.Errorf("%d, cookie %+v", a.status, gone)
	}
	a = r.do(http.MethodPost, "/signout", nil, func(q *http.Request) {
		q.AddCookie(c)
		q.Header.Set("Sec-Fetch-Site", "cross-site")
	})
	if a.status != http.StatusForbidden {
		t.Errorf("another site signs us out: %d", a.status)
	}
}
