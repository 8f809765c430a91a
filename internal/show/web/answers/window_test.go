package answers

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// Fifteen lanes and fifty branches do not fit on a page: every answer is on one, and on one only, with those of the other lanes beside it.
func TestThePagesOfAnItemHaveEveryAnswerOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lanes, branches, size, least, most int }{
		"few":        {3, 2, 100, 1, 1},
		"wide":       {15, 50, 100, 7, 7},
		"long texts": {15, 50, 40_000, 50, 50},
		"one lane":   {1, 100, 100, 1, 1},
		"forty":      {40, 9, 100, 3, 3},
	} {
		var all []store.Answer
		for b := range c.branches {
			for l := range c.lanes {
				lane := fmt.Sprint("lane", l)
				var a store.Answer
				a.Lane, a.Outcome.Text = lane, strings.Repeat("x", c.size)
				a.At = assay.Coordinates{Stage: "s", Item: "i", Lane: lane, Turn: 2, Branch: fmt.Sprintf("b%02d", b)}
				all = append(all, a)
			}
		}
		seen, pages := map[string]int{}, 0
		for next := "/runs/r/item?grid=g&id=i"; next != ""; pages++ {
			q := &site.Request{Request: httptest.NewRequest("GET", next, nil)}
			q.Run.ID = "r"
			shown, w := cut(q, append([]store.Answer(nil), all...))
			if got := len(shown); got != (w.To-w.From+1)*c.lanes {
				t.Errorf("%s: %d answers on places %d to %d", name, got, w.From, w.To)
			}
			for _, a := range shown {
				seen[a.Lane+" "+a.At.Branch]++
			}
			if len(w.Jumps) != c.branches || w.Folded() != (c.most > 1) {
				t.Errorf("%s: %d places are listed, folded: %v", name, len(w.Jumps), w.Folded())
			}
			if next = w.Next; next != "" {
				if u, err := url.Parse(next); err != nil || u.Query().Get("grid") != "g" {
					t.Errorf("%s: %s, %v", name, next, err)
				}
			}
		}
		if pages < c.least || pages > c.most {
			t.Errorf("%s: %d pages, want %d to %d", name, pages, c.least, c.most)
		}
		for what, n := range seen {
			if n != 1 {
				t.Errorf("%s: %s is on %d pages", name, what, n)
			}
		}
		if len(seen) != len(all) {
			t.Errorf("%s: %d of %d answers are on a page", name, len(seen), len(all))
		}
	}
}
