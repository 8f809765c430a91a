package answers

import (
	"net/http/httptest"
	"testing"

	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// A search that looked at as many answers as a page may says where it goes on; one that is over does not.
func TestASearchThatIsNotOverGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	q := &site.Request{Request: httptest.NewRequest("GET", "/", nil)}
	q.Run.ID = "r"
	for name, c := range map[string]struct {
		f    search
		want string
	}{
		"over":         {search{most: 5}, ""},
		"enough found": {search{most: 5, found: 5, after: store.Mark{Segment: 3, Ord: 9}}, ""},
		"in a segment": {search{most: 5, words: "a b", stage: "s", after: store.Mark{Segment: 3, Ord: 9}},
			"/runs/r/search?after=3.9&q=a+b&stage=s"},
		"at its begin": {search{most: 5, words: "a", stage: "s", lane: "l", after: store.Mark{Segment: 4, Ord: -1}},
			"/runs/r/search?after=4.-1&lane=l&q=a&stage=s"},
	} {
		c.f.q = q
		got := c.f.further(nil)
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got == "" {
			continue
		}
		mark, err := readMark(httptest.NewRequest("GET", got, nil).FormValue("after"))
		if err != nil || mark != c.f.after {
			t.Errorf("%s: %v is read back as %v, %v", name, c.f.after, mark, err)
		}
	}
}
