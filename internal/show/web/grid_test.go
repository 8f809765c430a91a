package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
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
	cells := links(page.body, "/runs/run1/item?grid=stage%3Dgood&id="+url.QueryEscape(itemID(0))+"&lane=gpt")
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

func TestTheGridRanksItsColumnsAndShowsQuestionsAndTexts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	_, err := r.ledger.Runs.AddVerdicts(t.Context(), []store.Verdict{{Run: r.run.No, At: r.expected("good", itemID(1), "gpt"),
		Subject: coordinates("gpt", 1).Key(), State: assay.VerdictValid, Label: "no"}})
	r.ok(err)
	heads := regexp.MustCompile(`(?s)<span class="head".*?<bdi>(.*?)</bdi>.*?</th>`)
	ranked := func(body string) (names []string) {
		for _, m := range heads.FindAllStringSubmatch(body, -1) {
			names = append(names, m[1])
		}
		return names
	}
	body := ""
	for strings.Count(body, `class="value"`) < 2 { // numbers may come after the grid
		body = r.get("/runs/run1/grid?stage=good").body
	}
	if d := cmp.Diff([]string{"item", "opus", "gpt"}, ranked(body)); d != "" {
		t.Error(d)
	}
	lanes := regexp.MustCompile(`<section class="lane" aria-label="(.*?)">`)
	item := r.get("/runs/run1/item?stage=answers&id=" + url.QueryEscape(itemID(1))).body
	if got := lanes.FindAllStringSubmatch(item, -1); len(got) != 2 || got[0][1] != "opus" {
		t.Errorf("the lanes of an item are not in the order of the grid: %q", got)
	}
	for _, want := range []string{`<span class="value">100.0%</span>`, `<span class="value">50.0%</span>`,
		`<span class="words" dir="auto">&lt;script&gt;alert(1)`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in the grid", want)
		}
	}
	if strings.Contains(body, "the answer is Paris") {
		t.Error("texts are shown, unasked")
	}
	texts := r.get("/runs/run1/grid?stage=good&show=text").body
	if strings.Count(texts, `dir="auto">the answer is Paris, surely`) != 2 || strings.Contains(texts, "<script>alert") {
		t.Error("no texts, or live ones")
	}
	if len(links(texts, "/grid?is=unjudged&show=text&stage=good")) == 0 {
		t.Errorf("a chip lets texts go: %q", links(texts, "/grid"))
	}
}

// beside returns where the links of an item's page lead.
func beside(body string) map[string]string {
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`<a rel="(prev|next)" href="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		to, _ := url.Parse(html.UnescapeString(m[2]))
		out[m[1]] = to.Query().Get("id")
	}
	return out
}

func TestAnItemLeadsToThoseBesideItInTheGrid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for grid, want := range map[string]map[int]map[string]string{
		"":                            {0: {"next": itemID(1)}, 1: {"prev": itemID(0), "next": itemID(2)}, 3: {"prev": itemID(2)}},
		"stage=good&sort=item&down=1": {0: {"prev": itemID(1)}, 3: {"next": itemID(2)}},
		"stage=good&is=unjudged":      {1: {"next": itemID(2)}, 3: {"prev": itemID(2)}, 0: {"next": itemID(1)}}, // 0 is none of them
		"stage=good&q=x":              {1: {"prev": itemID(0), "next": itemID(2)}},
		"stage=good&q=paris":          {0: {"next": itemID(2)}, 3: {"prev": itemID(2)}, 2: {}},
	} {
		for i, want := range want {
			a := r.get("/runs/run1/item?lane=gpt&stage=answers&id=" + url.QueryEscape(itemID(i)) + "&grid=" + url.QueryEscape(grid))
			for !strings.Contains(a.body, `class="beside"`) && a.status == http.StatusOK { // the grid may come after the page
				a = r.get("/runs/run1/item?lane=gpt&stage=answers&id=" + url.QueryEscape(itemID(i)) + "&grid=" + url.QueryEscape(grid))
			}
			if d := cmp.Diff(want, beside(a.body)); d != "" {
				t.Errorf("%s, %d: %d %s", grid, i, a.status, d)
			}
			for _, to := range links(a.body, "/item?") {
				if strings.Contains(a.body, `rel="next" href="`+html.EscapeString(to)) && !strings.Contains(to, "&lane=gpt&stage=answers") {
					t.Errorf("%s loses the lane or the stage", to)
				}
			}
		}
	}
	if a := r.get("/runs/run1/item?id=" + url.QueryEscape(itemID(0)) + "&grid=sort%3Dnobody"); a.status != http.StatusBadRequest {
		t.Errorf("a grid that cannot be: %d", a.status)
	}
}
