package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
)

// paths returns all pages of the rig's run.
func paths() []string {
	key, other := coordinates("gpt", 0).Key().String(), coordinates("opus", 0).Key().String()
	item := url.QueryEscape(itemID(0))
	return []string{
		"/runs", "/users", "/runs/run1", "/runs/run1/summary", "/runs/run1/progress", "/runs/run1/segments", "/runs/run1/segments/1",
		"/runs/run1/events", "/runs/run1/answers", "/runs/run1/answers?stage=answers&lane=gpt", "/runs/run1/answers?ending=errored",
		"/runs/run1/answers?ending=open", "/runs/run1/answers?item=" + item, "/runs/run1/answers?verdict=good:yes",
		"/runs/run1/answers/" + key, "/runs/run1/answers/" + coordinates("gpt", 1).Key().String(), "/runs/run1/item?id=" + item,
		"/runs/run1/diff?a=" + key + "&b=" + other, "/runs/run1/verdicts", "/runs/run1/verdicts?stage=good&lane=gpt&label=yes",
		"/runs/run1/findings", "/runs/run1/findings?by=lane", "/runs/run1/people", "/runs/run1/people/arena?as=anna",
		"/runs/run1/people/good?as=anna", "/runs/run1/grid", "/runs/run1/grid?stage=arena&sort=gpt&down=1",
		"/runs/run1/trend",
		"/runs/run1/grid?stage=answers&is=unjudged&is=cut", "/runs/run1/grid?q=Paris&sort=item", "/runs/run1/grid?stage=good&show=text",
	}
}

func TestEveryPageIsAPageAndJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, path := range paths() {
		if a := r.get(path); a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") ||
			!strings.Contains(a.body, "</html>") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if a := r.get("/api" + path); a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "application/json") {
			t.Errorf("/api%s: %d %s", path, a.status, a.body)
		}
	}
}

func TestWhatIsNotThereIsSaidInTheFormThatWasAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, want := range map[string]int{
		"/runs/nothing": 404, "/runs/run": 404, "/nothing": 404, "/runs/run1/answers/x": 400,
		"/runs/run1/answers/" + coordinates("x", 9).Key().String(): 404, "/runs/run1/segments/99": 404, "/runs/run1/segments/x": 404,
		"/runs/run1/item": 400, "/runs/run1/item?id=none": 404, "/runs/run1/answers?ending=nice": 400, "/runs/run1/answers?after=x": 400,
		"/runs/run1/answers?limit=0": 400, "/runs/run1/answers?limit=100000": 400, "/runs?before=1.2.3": 400,
		"/runs/run1/verdicts?lane=gpt": 400, "/runs/run1/answers?verdict=yes": 400, "/runs/run1/events?before=-1": 400,
		"/static/web.go": 404, "/static/..%2fweb.go": 404, "/runs/run1/search?q=x": 400, "/runs/run1/diff?a=&b=": 400,
		"/runs/run1/people/arena": 400, "/compare": 400, "/compare?a=run1": 400, "/compare?a=run1&b=none": 404,
		"/compare?a=run1&b=run1": 400, "/runs/run1/people/arena?as=%3Cb%3E": 400, "/runs/run1/people/none?as=anna": 404,
		"/runs/run1/artifacts/99": 404,
	} {
		if a := r.get(path); a.status != want {
			t.Errorf("%s: %d, want %d", path, a.status, want)
		}
		if strings.HasPrefix(path, "/static/") || strings.Contains(path, "artifacts") {
			continue
		}
		if a := r.get(path); strings.HasPrefix(path, "/runs/run1/") && !strings.Contains(path, "people") &&
			!strings.Contains(a.body, `<a href="/runs/run1/grid">`) {
			t.Errorf("%s: no way back to the run", path)
		}
		if a := r.get("/api" + path); a.status != want || !strings.Contains(a.body, `"error"`) {
			t.Errorf("/api%s: %d %s, want %d and an error", path, a.status, a.body, want)
		}
	}
}

func TestARunIsReportedInNumbers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.json("/runs")["runs"].([]any)[0].(map[string]any)
	for name, want := range map[string]any{"run": "run1", "state": "in flight", "planned": 18.0, "answered": 6.0,
		"ended_without_answer": 2.0,
		"in_flight":            2.0, "budget_usd": 10.0, "rehearsal": false} {
		if d := cmp.Diff(want, got[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	causes := r.json("/runs/run1")["causes"].([]any)
	if len(causes) != 2 || causes[0].(map[string]any)["code"] != "oops" {
		t.Errorf("causes: %v", causes)
	}
}

func TestPagesOfAnswersFollowEachOther(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var got []string
	for next := ""; ; {
		page := r.json("/runs/run1/answers?limit=3&after=" + next)
		for _, a := range page["answers"].([]any) {
			got = append(got, a.(map[string]any)["key"].(string))
		}
		var more bool
		if next, more = page["next"].(string); !more {
			break
		}
	}
	var want []string
	for _, lane := range []string{"gpt", "opus"} {
		for i := range 5 {
			want = append(want, coordinates(lane, i).Key().String())
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAnswersAreFilteredByWhatWasSaidAboutThem(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for filter, want := range map[string]int{"verdict=good:yes": 2, "verdict=good:malformed": 2, "verdict=good:no": 0,
		"verdict=good:yes&lane=gpt": 1, "verdict=arena:b": 2,
		"ending=answered": 6, "ending=errored&lane=opus": 1, "ending=open": 2, "stage=good": 0} {
		if got := r.json("/runs/run1/answers?" + filter)["answers"].([]any); len(got) != want {
			t.Errorf("%s: %d answers, want %d", filter, len(got), want)
		}
	}
}

func TestASearchFindsWordsInOneLane(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.get("/api/runs/run1/search?stage=answers&lane=gpt&q=pArIs")
	lines := strings.Split(strings.TrimSpace(a.body), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"match":"Paris"`) || !strings.Contains(lines[1], `"seen":4`) {
		t.Errorf("search: %s", a.body)
	}
	if a := r.get("/runs/run1/search?stage=answers&lane=gpt&q=Paris"); !strings.Contains(a.body, "<mark>Paris</mark>") ||
		strings.Index(a.body, "<mark>") > strings.Index(a.body, "</html>") {
		t.Errorf("page: %s", a.body)
	}
	if a := r.get("/runs/run1/search?stage=answers&lane=gpt&q=Paris&after=999.-1"); strings.Contains(a.body, "<mark>") {
		t.Error("a search that goes on begins anew")
	}
	if a := r.get("/runs/run1/search?stage=answers&lane=gpt&q=" + url.QueryEscape("<script>")); strings.Contains(a.body, "<script>a") {
		t.Error("a search shows markup")
	}
}

func TestTextsAreRenderedOrShownAsSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := "/runs/run1/answers/" + coordinates("gpt", 2).Key().String()
	with := func(path, cookie string) answer {
		return r.do(http.MethodGet, path, nil, func(q *http.Request) {
			q.Header.Set("Authorization", "Bearer "+token)
			q.AddCookie(&http.Cookie{Name: "texts", Value: cookie})
		})
	}
	for _, c := range []struct{ path, cookie, shown, other, kept string }{
		{page, "", "md", "?texts=sent", ""},
		{page + "?texts=sent", "", "sent", "?texts=rendered", "texts=sent"},
		{page, "sent", "sent", "?texts=rendered", ""},
		{page + "?texts=rendered", "sent", "md", "?texts=sent", "texts=rendered"},
	} {
		a := with(c.path, c.cookie)
		if !strings.Contains(a.body, `<div class="`+c.shown+`">`) || !strings.Contains(a.body, `href="`+page+c.other+`"`) {
			t.Errorf("%s with %q: %s", c.path, c.cookie, a.body)
		}
		if kept := a.header.Get("Set-Cookie"); (c.kept == "") != (kept == "") || !strings.HasPrefix(kept, c.kept) {
			t.Errorf("%s: keeps %q", c.path, kept)
		}
	}
}

func TestPagesAreCompressedForThoseWhoTakeIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for accept, want := range map[string]string{"gzip, br": "gzip", "br;q=1.0, GZIP;q=0.5": "gzip", "gzip;q=0": "", "br": ""} {
		for _, path := range []string{"/runs", "/api/runs/run1", "/static/web.css"} {
			a := r.do(http.MethodGet, path, nil, func(q *http.Request) {
				q.Header.Set("Authorization", "Bearer "+token)
				q.Header.Set("Accept-Encoding", accept)
			})
			if got := a.header.Get("Content-Encoding"); got != want || a.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s for %q: %q, varies by %q", path, accept, got, a.header.Get("Vary"))
			}
			if zipped := strings.HasPrefix(a.body, "\x1f\x8b"); zipped != (want == "gzip") {
				t.Errorf("%s for %q: compressed %v", path, accept, zipped)
			}
		}
	}
	plain := r.get("/runs")
	if !strings.Contains(plain.body, "</html>") {
		t.Errorf("the client reads %.80q", plain.body)
	}
}

func TestRawBytesAreThoseOfTheProvider(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.get("/runs/run1/answers/" + coordinates("gpt", 0).Key().String() + "/raw")
	if d := cmp.Diff(`{"text":"`+hostile+`"}`, a.body); d != "" || a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, d)
	}
	for name, want := range map[string]string{"Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff"} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment") {
		t.Error("a browser would show it")
	}
	if a := r.get("/runs/run1/artifacts/2"); a.status != http.StatusOK || !strings.HasPrefix(a.body, "first line\n") {
		t.Errorf("artifact: %d", a.status)
	}
	if a := r.get("/runs/run1/answers/" + coordinates("gpt", 2).Key().String() + "/raw"); a.status != http.StatusNotFound {
		t.Errorf("an answer without raw bytes: %d", a.status)
	}
}

func TestFindingsAreComputedOncePerLedger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	computed := func(path string) string {
		r.clock = r.clock.Add(time.Hour)
		a := r.get("/api" + path)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		return a.header.Get("Last-Modified")
	}
	first := computed("/runs/run1/findings")
	for range 3 {
		if a := r.get("/runs/run1/findings"); !strings.Contains(a.body, "lane=gpt") || !strings.Contains(a.body, "stage=good") {
			t.Fatalf("no link to the rows: %s", a.body)
		}
		if again := computed("/runs/run1/findings"); again != first {
			t.Errorf("computed again: %s, %s", first, again)
		}
	}
	if other := computed("/runs/run1/findings?by=judge"); other == first {
		t.Error("another grouping is not computed")
	}
	r.ok(r.ledger.Work.Note(t.Context(), r.run.No, 0, "something", "happened"))
	if changed := computed("/runs/run1/findings"); changed == first {
		t.Error("a change is not seen")
	}
}

func TestMetricsAndHealth(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if a := r.do(http.MethodGet, "/healthz", nil, nil); a.status != http.StatusOK || a.body != "ok\n" {
		t.Errorf("health: %d %s", a.status, a.body)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		r.home.Away = func(context.Context) string { return "bucket" }
		a := r.do(http.MethodGet, path, nil, nil)
		if a.status != http.StatusServiceUnavailable || a.body != "the bucket does not answer\n" {
			t.Errorf("%s without a bucket: %d %s", path, a.status, a.body)
		}
	}
	a := r.get("/metrics")
	for _, want := range []string{
		"# TYPE assay_run_spent_dollars gauge\n",
		`assay_requests{run="run1",study="<b>demo</b>",rehearsal="false",stage="answers",lane="gpt",state="answered"} 3` + "\n",
		`assay_run_budget_dollars{run="run1",study="<b>demo</b>",rehearsal="false"} 10` + "\n", `assay_info{version="test"} 1` + "\n",
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q in\n%s", want, a.body)
		}
	}
}

func TestWhetherARunnerIsAliveIsSaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	state := func() string {
		runner := r.json("/runs/run1")["runner"].(map[string]any)
		return fmt.Sprint(runner["driven"], " ", runner["holder"])
	}
	if got := state(); got != "true <nil>" {
		t.Errorf("due now: %v", got)
	}
	r.clock = r.clock.Add(60e9)
	if a := r.get("/runs/run1/progress"); state() != "false <nil>" || !strings.Contains(a.body, "No process drives it") {
		t.Errorf("a minute later: %v", state())
	}
	l, err := r.ledger.Leases.HoldRun(t.Context(), r.run.No, "host/1/x", 60e9)
	r.ok(err)
	if got := state(); got != "true host/1/x" {
		t.Errorf("held: %v", got)
	}
	r.ok(r.ledger.Leases.Release(t.Context(), l))
	r.ok(r.ledger.Leases.RunDue(t.Context(), r.run.No, r.clock.Add(60e9)))
	if _, err := r.ledger.Runs.PutOrder(t.Context(),
		store.Order{Run: r.run.No, Kind: store.OrderCollect, Args: "{}", By: "x"}); err != nil {
		t.Fatal(err)
	}
	if got := r.json("/runs/run1")["orders"].([]any); len(got) != 1 {
		t.Errorf("orders: %v", got)
	}
}

func TestTheFirstPageOfARunIsItsAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	answer := r.json("/runs/run1/summary")
	headline, _ := answer["headline"].(string)
	if headline == "" || len(answer["ranked"].([]any)) != 2 || len(answer["caveats"].([]any)) == 0 {
		t.Fatalf("%v", answer)
	}
	page := r.get("/runs/run1").body // computed by now
	for _, want := range []string{`class="headline"`, `href="/runs/run1/verdicts?lane=gpt&amp;stage=good"`, `href="/runs/run1/progress"`,
		`aria-current="page">Summary<`, "assay resume run1"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if got := r.json("/runs/run1/findings")["summary"].(map[string]any)["headline"]; got != headline {
		t.Errorf("the findings say %q, the summary %q", got, headline)
	}
}

func TestALaneWhoseAnswersWereImportedHasNoModel(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ok(r.ledger.Runs.PutLanes(t.Context(), []store.Lane{{Run: r.run.No, Stage: "answers", Name: "ann", Params: "{}", Planned: 1}}))
	page := r.get("/runs/run1/progress").body
	if !strings.Contains(page, `<bdi>ann</bdi><span class="model">imported</span>`) ||
		!strings.Contains(page, `<bdi>gpt</bdi><span class="model"><bdi>openai/m-gpt</bdi></span>`) {
		t.Errorf("the models of the lanes: %s", page)
	}
}
