package answers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// A search is a walk over the answers of a stage, or of one lane in it. It reads a block, lets the database go, and
// writes what it found; it ends when the reader leaves.
const (
	searchBlock = 5_000
	maxFound    = 500
	searchSpan  = 250_000 // answers that one page looks at: a second or two
)

// hit is an answer that has the words, with the words around them.
type hit struct {
	answerRow `json:"-"`

	Key       string `json:"key"`
	Stage     string `json:"stage"`
	Item      string `json:"item"`
	Lane      string `json:"lane"`
	AskedLane string `json:"asked_lane"`
	Template  string `json:"template"`
	Turn      int64  `json:"turn"`
	Branch    string `json:"branch"`
	Draw      int64  `json:"draw"`

	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}

type search struct {
	pages             *Pages
	q                 *site.Request
	words             string
	stage, lane       string
	found, seen, most int
	span              int        // how many answers are looked at; 0: all
	after             store.Mark // where the search begins; at its end, where it goes on; zero: nowhere
}

func (s *Pages) newSearch(r *http.Request) (*search, error) {
	q, err := s.Open(r)
	if err != nil {
		return nil, err
	}
	f := &search{pages: s, q: q, words: strings.TrimSpace(r.FormValue("q")), stage: r.FormValue("stage"), lane: r.FormValue("lane"),
		most: maxFound}
	if f.words == "" || f.stage == "" {
		return nil, site.Bad("a search needs words (q) and a stage")
	}
	if len(f.words) > 500 {
		return nil, site.Bad("q: at most 500 bytes")
	}
	f.after, err = readMark(r.FormValue("after"))
	return f, err
}

// beginSearch reads what is looked for and takes a place among the searches; free gives the place back.
func (s *Pages) beginSearch(r *http.Request) (f *search, free func(), err error) {
	if f, err = s.newSearch(r); err != nil {
		return nil, nil, err
	}
	free, err = s.BeginScan(r.Context())
	return f, free, err
}

// walk hands over every block of hits, also empty ones, so that the reader sees that it goes on.
func (f *search) walk(ctx context.Context, found func([]hit) error) error {
	t, err := f.pages.rows(f.q)
	if err != nil {
		return err
	}
	t.Short = true
	for filter := (store.AnswerFilter{Stage: f.stage, Lane: f.lane}); f.found < f.most; {
		some, err := f.q.Home.Pages.AnswersWith(ctx, f.q.Run.No, filter, f.words, f.after, searchBlock)
		if err != nil {
			return err
		}
		var hits []hit
		for _, a := range some.Answers {
			row, err := rowOf(ctx, t, rows.Entry{Answer: a})
			if err != nil {
				return err
			}
			if h, ok := match(row, f.words); ok && f.found < f.most {
				f.found++
				hits = append(hits, h)
			}
		}
		f.seen, f.after = f.seen+some.Seen, some.Next
		if err := found(hits); err != nil || f.after == (store.Mark{}) || f.span > 0 && f.seen >= f.span {
			return err
		}
	}
	return nil
}

// match looks for words, in any case, in what was answered; the thoughts are looked at last.
func match(a answerRow, words string) (hit, bool) {
	for _, text := range []string{a.Text, a.Thoughts, a.Fault} {
		at := indexFold(text, words)
		if at < 0 {
			continue
		}
		from, to := max(0, at-100), min(len(text), at+len(words)+160)
		h := hit{answerRow: a, Key: a.Key, Stage: a.Stage, Item: a.Item, Lane: a.Lane, AskedLane: a.AskedLane, Template: a.Template,
			Turn: a.Turn, Branch: a.Branch, Draw: a.Draw, Before: assay.Clean(strings.ToValidUTF8(text[from:at], ""), 300),
			Match: assay.Clean(text[at:at+len(words)], 1000), After: assay.Clean(strings.ToValidUTF8(text[at+len(words):to], ""), 400)}
		return h, true
	}
	return hit{}, false
}

// indexFold returns where a text has words, letters of ASCII in any case; -1: it has not.
func indexFold(text, words string) int {
	return bytes.Index(assay.LowerASCII(text), assay.LowerASCII(words))
}

type searchData struct {
	Stage, Lane, Words string
	Stages, Lanes      []string
}

// Search streams hits into a page: its head at once, each block when it is there.
func (s *Pages) Search(w http.ResponseWriter, r *http.Request) {
	f, free, err := s.beginSearch(r)
	if err != nil {
		s.FailOnRun(w, r, err)
		return
	}
	defer free()
	row, err := s.RowOf(r.Context(), f.q.Home, f.q.Run)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	text, err := s.Render(r, &site.View{Template: "search", Title: "Search", Run: &row, Tab: "answers",
		Data: searchData{Stage: f.stage, Lane: f.lane, Words: f.words}})
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	f.span = searchSpan
	head, tail, _ := bytes.Cut(text, []byte(site.HitsHere))
	out := site.NewStream(w, "text/html; charset=utf-8")
	if out.Send(head) != nil {
		return
	}
	err = f.walk(r.Context(), func(hits []hit) error {
		var b bytes.Buffer
		if err := s.Part(&b, "search", "hits", map[string]any{"Run": row.ID, "Hits": hits, "Seen": f.seen}); err != nil {
			return err
		}
		return out.Send(b.Bytes())
	})
	var end bytes.Buffer
	if s.Part(&end, "search", "end", map[string]any{"Seen": f.seen, "Found": f.found, "Full": f.found == f.most, "Err": err,
		"Further": f.further(err)}) == nil {
		out.Send(end.Bytes())
	}
	out.Send(tail)
}

// further returns the address of the search from where this one ended; empty: there is nothing further.
func (f *search) further(err error) string {
	if err != nil || f.found == f.most || f.after == (store.Mark{}) {
		return ""
	}
	to := url.Values{"stage": {f.stage}, "q": {f.words}, "after": {fmt.Sprintf("%d.%d", f.after.Segment, f.after.Ord)}}
	if f.lane != "" {
		to.Set("lane", f.lane)
	}
	return "/runs/" + f.q.Run.ID + "/search?" + to.Encode()
}

// SearchJSON streams hits as lines of JSON; the last line counts the answers searched.
func (s *Pages) SearchJSON(w http.ResponseWriter, r *http.Request) {
	f, free, err := s.beginSearch(r)
	if err != nil {
		s.Fail(w, r, err)
		return
	}
	defer free()
	out := site.NewStream(w, "application/x-ndjson; charset=utf-8")
	err = f.walk(r.Context(), func(hits []hit) error {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for _, h := range hits {
			if err := e.Encode(h); err != nil {
				return err
			}
		}
		return out.Send(b.Bytes())
	})
	end := map[string]any{"done": err == nil, "seen": f.seen, "found": f.found, "more": f.found == f.most}
	if text, err := json.Marshal(end); err == nil {
		out.Send(append(text, '\n'))
	}
}
