package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// listed returns the ids of a list of runs.
func (r *rig) listed(path string) (ids []string) {
	for _, row := range r.json(path)["runs"].([]any) {
		ids = append(ids, row.(map[string]any)["run"].(string))
	}
	return ids
}

func TestAListOfRunsIsSearchedNarrowedAndSorted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.clock = r.clock.Add(time.Hour)
	r.another()
	for path, want := range map[string][]string{
		"/runs": {"run2", "run1"}, "/runs?sort=oldest": {"run1", "run2"}, "/runs?q=RUN2": {"run2"}, "/runs?q=onerror": {"run1"},
		"/runs?q=nothing": nil, "/runs?study=" + url.QueryEscape("<b>demo</b>"): {"run2", "run1"}, "/runs?study=demo": nil,
		"/runs?state=open": {"run2", "run1"}, "/runs?state=done": nil, "/runs?kept=real": {"run2", "run1"}, "/runs?kept=rehearsals": nil,
		"/runs?sort=cost": {"run1", "run2"}, "/runs?sort=size": {"run1", "run2"}, "/runs?sort=cost&limit=1": {"run1"},
		"/runs?sort=cost&limit=1&before=1": {"run2"}, "/runs?limit=1": {"run2"}, "/runs?limit=1&before=2": {"run1"},
	} {
		if d := cmp.Diff(want, r.listed(path)); d != "" {
			t.Errorf("%s: %s", path, d)
		}
	}
	for _, path := range []string{"/runs?sort=best", "/runs?state=opened", "/runs?kept=some", "/runs?sort=cost&before=x"} {
		if a := r.get(path); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestAListOfRunsKeepsWhatItWasAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.clock = r.clock.Add(time.Hour)
	r.another()
	body := r.get("/runs?q=run&state=open&sort=cost").body
	for _, want := range []string{`name="q" value="run"`, `<option selected>open</option>`, `name="sort" value="cost"`,
		`aria-sort="descending"`,
		`href="/runs?q=run&amp;sort=study&amp;state=open"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if body := r.get("/runs?q=nothing").body; !strings.Contains(body, "No run is like that") ||
		!strings.Contains(body, `href="/runs">Show all runs`) {
		t.Error("a list without runs leads nowhere")
	}
	if next := links(r.get("/runs?sort=oldest&q=run&limit=1").body, "/runs?before=1"); !slices.Contains(next,
		"/runs?before=1&q=run&sort=oldest") {
		t.Errorf("the next page is at %q", next)
	}
}
