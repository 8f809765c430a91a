package web_test

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wayBack is the reader's own address in the page that asks for the token.
var wayBack = regexp.MustCompile(`name="to" value="[^"]*"`)

func TestNothingIsServedWithoutTheToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	all := append(paths(), "/", "/metrics", "/news", "/runs/run1/news", "/static/app.js", "/api/runs", "/api/runs/run1",
		"/runs/run1/artifacts/2", "/runs/run1/people")
	for _, path := range all {
		for name, edit := range map[string]func(*http.Request){
			"nothing":       nil,
			"a wrong token": func(q *http.Request) { q.Header.Set("Authorization", "Bearer "+token+"x") },
			"the token as a cookie": func(q *http.Request) {
				q.AddCookie(&http.Cookie{Name: "assay-" + q.URL.Port(), Value: token})
			},
		} {
			a := r.do(http.MethodGet, path, nil, edit)
			if own := wayBack.ReplaceAllString(a.body, ""); a.status != http.StatusUnauthorized || strings.Contains(own, "run1") {
				t.Errorf("%s with %s: %d %s", path, name, a.status, a.body)
			}
		}
	}
	for _, path := range []string{"/runs?token=wrong", "/runs?token="} {
		if a := r.do(http.MethodGet, path, nil, nil); a.status != http.StatusUnauthorized {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// enter opens the printed address and returns the cookie it leaves.
func (r *rig) enter() *http.Cookie {
	r.t.Helper()
	a := r.do(http.MethodGet, "/runs?limit=5&token="+token, nil, nil)
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/runs?limit=5" {
		r.t.Fatalf("entering: %d, %s", a.status, a.header.Get("Location"))
	}
	c, err := http.ParseSetCookie(a.header.Get("Set-Cookie"))
	r.ok(err)
	return c
}

func TestTheAddressLeavesACookieAndTheTokenLeavesTheAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	c := r.enter()
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || strings.Contains(c.Value, token) {
		t.Errorf("cookie: %+v", c)
	}
	if a := r.do(http.MethodGet, "/runs", nil, func(q *http.Request) { q.AddCookie(c) }); a.status != http.StatusOK {
		t.Errorf("with the cookie: %d", a.status)
	}
	for _, path := range []string{"//evil.example/?token=" + token, "/\\evil.example?token=" + token} {
		if to := r.do(http.MethodGet, path, nil, nil).header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "\\") ||
			strings.Contains(to, "://") {
			t.Errorf("%s leads to %s", path, to)
		}
	}
}

func TestOnlyOurOwnNamesAreAnswered(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for host, want := range map[string]int{
		"127.0.0.1:7788": 200, "localhost:7788": 200, "[::1]:7788": 200, "192.168.1.5": 200, "assay.example:7788": 200,
		"ASSAY.example": 200, "evil.example": 421, "evil.example:7788": 421, "localhost.evil.example": 421,
		"127.0.0.1.evil.example:7788": 421, "": 200,
	} {
		got := r.do(http.MethodGet, "/runs", nil, func(q *http.Request) {
			q.Header.Set("Authorization", "Bearer "+token)
			q.Host = host
		})
		if got.status != want {
			t.Errorf("host %q: %d, want %d", host, got.status, want)
		}
	}
}

func TestHeadersKeepBrowsersFromTrusting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range []string{"/runs", "/nothing", "/healthz", "/static/app.js", "/api/runs", "/runs/run1/artifacts/2"} {
		h := r.get(path).header
		got := map[string]string{}
		for _, name := range []string{"X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy"} {
			got[name] = h.Get(name)
		}
		want := map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin"}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", path, d)
		}
		csp := h.Get("Content-Security-Policy")
		for _, must := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
			"base-uri 'none'"} {
			if !strings.Contains(csp, must) {
				t.Errorf("%s: the policy lacks %s", path, must)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy allows something unsafe", path)
		}
	}
}

func TestWhatModelsSayIsTextEverywhere(t *testing.T) {
	t.Parallel()
	r := newRigAt(t, filepath.Join(t.TempDir(), "ledger.db"), 10<<20)
	all := append(paths(), "/runs/run1/search?stage=answers&lane=gpt&q=red", "/runs/run1/search?stage=answers&lane=gpt&q=long")
	for _, path := range all {
		a := r.get(path)
		for _, markup := range []string{"<script>a", "<svg onload", "<img src=x", "<b>demo", "\x1b", "\u202e", "\u2066",
			"</div></main>{{"} {
			if strings.Contains(a.body, markup) {
				t.Errorf("%s carries %q as it is", path, markup)
			}
		}
		if len(a.body) > 2<<20 {
			t.Errorf("%s has %d bytes", path, len(a.body))
		}
		if strings.Contains(a.body, "style=") || strings.Count(a.body, "<script") != 1 {
			t.Errorf("%s has a style or a script of its own", path)
		}
	}
	for _, path := range paths() {
		if a := r.get("/api" + path); strings.Contains(a.body, "<script") {
			t.Errorf("/api%s carries markup", path)
		}
	}
}

func (r *rig) post(form url.Values, edit func(*http.Request)) answer {
	r.t.Helper()
	return r.do(http.MethodPost, "/runs/run1/orders", form, func(q *http.Request) {
		q.Header.Set("Authorization", "Bearer "+token)
		if edit != nil {
			edit(q)
		}
	})
}

// hidden reads a hidden field out of a page.
func hidden(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, `name="`+name+`" value="`)
	value, _, ok2 := strings.Cut(rest, `"`)
	if !ok || !ok2 {
		t.Fatalf("the page has no field %s", name)
	}
	return value
}

func TestOrdersAreAskedTwiceWhereMoneyIsConcerned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	csrf := hidden(t, r.get("/runs/run1/progress").body, "csrf")
	orders := func() int {
		all, err := r.ledger.Reader.Orders(t.Context(), r.run.No)
		r.ok(err)
		return len(all)
	}
	for _, kind := range []string{"retry", "cancel", "proceed"} {
		form := url.Values{"csrf": {csrf}, "kind": {kind}}
		before := orders()
		asked := r.post(form, nil)
		if asked.status != http.StatusOK || !strings.Contains(asked.body, "Are you sure?") || orders() != before {
			t.Errorf("%s the first time: %d, %d orders", kind, asked.status, orders())
		}
		form.Set("sure", "yes")
		if a := r.post(form, nil); a.status != http.StatusOK || orders() != before {
			t.Errorf("%s with a guessed yes: %d", kind, a.status)
		}
		form.Set("sure", hidden(t, asked.body, "sure"))
		if a := r.post(form, nil); a.status != http.StatusSeeOther || orders() != before+1 {
			t.Errorf("%s the second time: %d, %d orders", kind, a.status, orders())
		}
	}
	if a := r.post(url.Values{"csrf": {csrf}, "kind": {"collect"}}, nil); a.status != http.StatusSeeOther || orders() != 4 {
		t.Errorf("collect: %d, %d orders", a.status, orders())
	}
}

// TestADashboardUnderANewerLedgerWritesNothing has a newer program change the tables while an old dashboard is open.
func TestADashboardUnderANewerLedgerWritesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	csrf := hidden(t, r.get("/runs/run1/progress").body, "csrf")
	r.home.Newer = func(context.Context) string { return "a newer one wrote it" }
	for _, path := range []string{"/runs/run1/orders", "/runs/run1/marks", "/runs/run1/people/good", "/runs/run1/settle"} {
		a := r.do(http.MethodPost, path, url.Values{"csrf": {csrf}, "kind": {"collect"}}, func(q *http.Request) {
			q.Header.Set("Authorization", "Bearer "+token)
		})
		if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, "a newer one wrote it") {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := r.get("/runs/run1/progress"); a.status != http.StatusOK {
		t.Errorf("looking: %d", a.status)
	}
}

func TestAYesToOneQuestionIsNoYesToAnother(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	csrf := hidden(t, r.get("/runs/run1/progress").body, "csrf")
	sure := hidden(t, r.post(url.Values{"csrf": {csrf}, "kind": {"retry"}, "only": {"lost"}}, nil).body, "sure")
	for _, form := range []url.Values{{"kind": {"cancel"}}, {"kind": {"retry"}}, {"kind": {"retry"}, "only": {"errored"}}} {
		form.Set("csrf", csrf)
		form.Set("sure", sure)
		if a := r.post(form, nil); a.status != http.StatusOK {
			t.Errorf("%v: %d", form, a.status)
		}
	}
}

func TestForgedOrdersAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	csrf := hidden(t, r.get("/runs/run1/progress").body, "csrf")
	good := url.Values{"csrf": {csrf}, "kind": {"collect"}}
	for name, c := range map[string]struct {
		form url.Values
		edit func(*http.Request)
		want int
	}{
		"no form token":             {url.Values{"kind": {"collect"}}, nil, 403},
		"the token as form token":   {url.Values{"kind": {"collect"}, "csrf": {token}}, nil, 403},
		"from another site":         {good, func(q *http.Request) { q.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"from another origin":       {good, func(q *http.Request) { q.Header.Set("Origin", "http://evil.example") }, 403},
		"without the login":         {good, func(q *http.Request) { q.Header.Del("Authorization") }, 401},
		"an order that is none":     {url.Values{"csrf": {csrf}, "kind": {"destroy"}}, nil, 400},
		"a segment that is no such": {url.Values{"csrf": {csrf}, "kind": {"resolve"}, "segment": {"x"}, "do": {"drop"}}, nil, 400},
		"a segment not held":        {url.Values{"csrf": {csrf}, "kind": {"resolve"}, "segment": {"1"}, "do": {"drop"}}, nil, 400},
		"an answer sent again":      {url.Values{"csrf": {csrf}, "kind": {"retry"}, "only": {"answered"}}, nil, 400},
	} {
		if a := r.post(c.form, c.edit); a.status != c.want {
			t.Errorf("%s: %d, want %d", name, a.status, c.want)
		}
	}
	all, err := r.ledger.Reader.Orders(t.Context(), r.run.No)
	r.ok(err)
	if len(all) != 0 {
		t.Errorf("%d orders were given", len(all))
	}
}

func TestAReaderMayTypeTheToken(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.do(http.MethodGet, "/runs/run1/answers?lane=gpt", nil, nil)
	if page.status != http.StatusUnauthorized || hidden(t, page.body, "to") != "/runs/run1/answers?lane=gpt" ||
		!strings.Contains(page.body, `name="token"`) {
		t.Fatalf("%d: %s", page.status, page.body)
	}
	wrong := r.do(http.MethodPost, "/token", url.Values{"token": {"guess"}, "to": {"/runs"}}, nil)
	if wrong.status != http.StatusUnauthorized || wrong.header.Get("Set-Cookie") != "" || !strings.Contains(wrong.body, "not the token") ||
		hidden(t, wrong.body, "to") != "/runs" {
		t.Errorf("a wrong token: %d %s", wrong.status, wrong.body)
	}
	right := r.do(http.MethodPost, "/token", url.Values{"token": {" " + token}, "to": {"/runs/run1/answers?lane=gpt"}}, nil)
	if right.status != http.StatusSeeOther || right.header.Get("Location") != "/runs/run1/answers?lane=gpt" ||
		!strings.Contains(right.header.Get("Set-Cookie"), "SameSite=Lax") {
		t.Errorf("the right token: %d %v", right.status, right.header)
	}
	if strings.Contains(right.header.Get("Set-Cookie"), token) {
		t.Error("the cookie holds the token")
	}
	for _, to := range []string{"https://evil.example/x", "//evil.example/x", "/\\evil.example", "javascript:alert(1)"} {
		if got := r.do(http.MethodPost, "/token", url.Values{"token": {token}, "to": {to}},
			nil).header.Get("Location"); !strings.HasPrefix(got, "/") || strings.HasPrefix(got, "//") || strings.Contains(got, "\\") {
			t.Errorf("%s leads to %s", to, got)
		}
	}
	other := r.do(http.MethodPost, "/token", url.Values{"token": {token}, "to": {"/"}}, func(q *http.Request) {
		q.Header.Set("Sec-Fetch-Site", "cross-site")
	})
	if other.status != http.StatusForbidden {
		t.Errorf("a form of another site: %d", other.status)
	}
}

func TestNamesOfRunsLeadToTheirAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, want := range map[string]string{
		"/runs/latest": "/runs/run1", "/runs/latest/answers?lane=gpt": "/runs/run1/answers?lane=gpt",
		"/api/runs/latest/events": "/api/runs/run1/events", "/runs/%3Cb%3Edemo%3C%2Fb%3E/findings": "/runs/run1/findings",
	} {
		if a := r.get(path); a.status != http.StatusFound || a.header.Get("Location") != want {
			t.Errorf("%s: %d to %q, want %s", path, a.status, a.header.Get("Location"), want)
		}
	}
}
