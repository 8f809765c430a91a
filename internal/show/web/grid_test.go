package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// itemsOf returns the items of a page of the grid.
func (r *rig) itemsOf(path string) []string {
	r.t.Helper()
	out := []string{}
	for _, row := range r.json(path)["grid"].([]any) {
		out = append(out, row.(map[string]any)["item"].(string))
	}
	return out
}

func TestTheGridIsFilteredSortedAndSearchedByItsAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for query, want := range map[string][]string{
		"":                                 {itemID(0), itemID(1), itemID(2), itemID(3)},
		"?sort=item&down=1":                {itemID(3), itemID(2), itemID(1), itemID(0)},
		"?is=unjudged":                     {itemID(1), itemID(2), itemID(3)},
		"?is=unjudged&is=refused":          {},
		"?stage=arena&sort=gpt&down=1":     {itemID(0), itemID(1), itemID(2), itemID(3)},
		"?q=PARIS":                         {itemID(2)},
		"?q=q/1":                           {itemID(1)},
		"?q=nowhere":                       {},
		"?limit=2":                         {itemID(0), itemID(1)},
		"?q=Paris&is=unjudged&sort=opus":   {itemID(2)},
		"?stage=answers&sort=item&limit=1": {itemID(0)},
	} {
		if d := cmp.Diff(want, r.itemsOf("/runs/run1/grid"+query)); d != "" {
			t.Errorf("%s: %s", query, d)
		}
	}
	next := r.json("/runs/run1/grid?limit=2")["next"].(string)
	if d := cmp.Diff([]string{itemID(2), itemID(3)}, r.itemsOf("/runs/run1/grid?limit=2&after="+next)); d != "" {
		t.Error(d)
	}
	for _, wrong := range []string{"?is=nice", "?sort=none", "?after=x", "?stage=none", "?stage=judge", "?limit=0",
		"?q=" + strings.Repeat("x", 501)} {
		if a := r.get("/runs/run1/grid" + wrong); a.status != http.StatusBadRequest {
			t.Errorf("%s: %d", wrong, a.status)
		}
	}
}

// links returns the addresses on a page that have a text in them.
func links(body, with string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if to := html.UnescapeString(m[1]); strings.Contains(to, with) {
			out = append(out, to)
		}
	}
	return out
}

func TestEveryLinkOfTheGridKeepsItsState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.get("/runs/run1/grid?stage=good&is=unjudged&sort=gpt&q=the")
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for want, state := range map[string]string{"the chip lets go": "q=the&sort=gpt&stage=good",
		"the head turns round": "down=1&is=unjudged&q=the&sort=gpt&stage=good", "another lane": "is=unjudged&q=the&sort=opus&stage=good"} {
		if len(links(a.body, "/grid?"+state)) == 0 {
			t.Errorf("%s: no link with %s among %q", want, state, links(a.body, "/grid"))
		}
	}
	if !strings.Contains(a.body, `<input type="hidden" name="is" value="unjudged">`) || !strings.Contains(a.body, `aria-sort="ascending"`) {
		t.Error("the form loses the filter, or the head does not show the order")
	}
}

func TestACellOpensTheConversationTheReasonAndTheBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	page := r.get("/runs/run1/grid?stage=good")
	cells := links(page.body, "/runs/run1/item?id="+url.QueryEscape(itemID(0))+"&lane=gpt")
	if len(cells) != 1 {
		t.Fatalf("cells: %q", links(page.body, "/item"))
	}
	a := r.get(cells[0])
	raw := "/runs/run1/answers/" + coordinates("gpt", 0).Key().String() + "/raw"
	for _, want := range []string{"What is ", "Be brief.", raw, "judge</bdi> on <bdi>good", "&lt;script&gt;alert(1)"} {
		if !strings.Contains(a.body, want) {
			t.Errorf("no %q behind the cell", want)
		}
	}
	if strings.Contains(a.body, coordinates("opus", 0).Key().String()) || strings.Contains(a.body, "<script>alert") {
		t.Error("another lane's answer is there, or markup is")
	}
}

func TestASearchLooksIntoAllLanes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := r.get("/api/runs/run1/search?stage=answers&q=paris")
	if a.status != http.StatusOK || strings.Count(a.body, `"match":"Paris"`) != 2 || !strings.Contains(a.body, `"asked_lane":"opus"`) ||
		!strings.Contains(a.body, `"asked_lane":"gpt"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}
