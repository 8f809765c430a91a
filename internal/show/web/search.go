package web

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/keep/store"
)

// A search is a walk over the answers of a stage, or of one lane in it. It reads a block, lets the database go, and
// writes what it found; it ends when the reader leaves.
const (
	searchBlock = 500
	maxFound    = 500
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
	*Server
	q                 *request
	words             string
	stage, lane       string
	found, seen, most int
}

func (s *Server) newSearch(r *http.Request) (*search, error) {
	q, err := s.open(r)
	if err != nil {
		return nil, err
	}
	f := &search{Server: s, q: q, words: strings.TrimSpace(r.FormValue("q")), stage: r.FormValue("stage"), lane: r.FormValue("lane"),
		most: maxFound}
	if f.words == "" || f.stage == "" {
		return nil, bad("a search needs words (q) and a stage")
	}
	if len(f.words) > 500 {
		return nil, bad("q: at most 500 bytes")
	}
	return f, nil
}

// place takes one of the few places for what reads much of a ledger.
func (s *Server) place(ctx context.Context) (func(), error) {
	select {
	case s.scans <- struct{}{}:
		return func() { <-s.scans }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	default:
		return nil, &problem{http.StatusTooManyRequests, "other searches are going on, or files are being made: try again in a moment"}
	}
}

// beginSearch reads what is looked for and takes a place among the searches; free gives the place back.
func (s *Server) beginSearch(r *http.Request) (f *search, free func(), err error) {
	if f, err = s.newSearch(r); err != nil {
		return nil, nil, err
	}
	free, err = s.place(r.Context())
	return f, free, err
}

// walk hands over every block of hits, also empty ones, so that the reader sees that it goes on.
func (f *search) walk(ctx context.Context, found func([]hit) error) error {
	t, err := f.rows(f.q)
	if err != nil {
		return err
	}
	t.Short = true
	var after store.Mark
	filter := store.AnswerFilter{Stage: f.stage, Lane: f.lane}
	for f.found < f.most {
		all, err := f.q.home.Pages.AnswersPage(ctx, f.q.run.No, filter, after, searchBlock)
		if err != nil {
			return err
		}
		var hits []hit
		for _, a := range all {
			f.seen++
			after = store.Mark{Segment: a.Segment, Ord: a.Ord}
			row, err := rowOf(ctx, t, rows.Entry{Answer: a})
			if err != nil {
				return err
			}
			if h, ok := match(row, f.words); ok && f.found < f.most {
				f.found++
				hits = append(hits, h)
			}
		}
		if err := found(hits); err != nil || len(all) < searchBlock {
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
	return bytes.Index(lower(text), lower(words))
}

func lower(s string) []byte {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return b
}

type searchData struct {
	Stage, Lane, Words string
	Stages, Lanes      []string
}

// hitsHere is where hits come into a page. A template leaves comments out, so that it is a function's word.
const hitsHere = "<!-- hits -->"

// searchPage streams hits into a page: its head at once, each block when it is there.
func (s *Server) searchPage(w http.ResponseWriter, r *http.Request) {
	f, free, err := s.beginSearch(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer free()
	row, err := s.rowOf(r.Context(), f.q.home, f.q.run)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	var b bytes.Buffer
	v := &view{template: "search", title: "Search", run: &row, tab: "answers",
		data: searchData{Stage: f.stage, Lane: f.lane, Words: f.words}}
	if err := s.pages.write(&b, v, s.guard.formsOf(r)); err != nil {
		s.fail(w, r, err)
		return
	}
	head, tail, _ := bytes.Cut(b.Bytes(), []byte(hitsHere))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	out := &stream{w: w, control: http.NewResponseController(w)}
	if out.send(head) != nil {
		return
	}
	err = f.walk(r.Context(), func(hits []hit) error {
		var b bytes.Buffer
		if err := s.pages.part(&b, "search", "hits", map[string]any{"Run": row.ID, "Hits": hits, "Seen": f.seen}); err != nil {
			return err
		}
		return out.send(b.Bytes())
	})
	var end bytes.Buffer
	if s.pages.part(&end, "search", "end", map[string]any{"Seen": f.seen, "Found": f.found, "Full": f.found == f.most, "Err": err}) == nil {
		out.send(end.Bytes())
	}
	out.send(tail)
}

// searchJSON streams hits as lines of JSON; the last line counts the answers searched.
func (s *Server) searchJSON(w http.ResponseWriter, r *http.Request) {
	f, free, err := s.beginSearch(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	defer free()
	w.Header().Set("Content-Type", "application/x-ndjson; charset=utf-8")
	out := &stream{w: w, control: http.NewResponseController(w)}
	err = f.walk(r.Context(), func(hits []hit) error {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		for _, h := range hits {
			if err := e.Encode(h); err != nil {
				return err
			}
		}
		return out.send(b.Bytes())
	})
	end := map[string]any{"done": err == nil, "seen": f.seen, "found": f.found, "more": f.found == f.most}
	if text, err := json.Marshal(end); err == nil {
		out.send(append(text, '\n'))
	}
}

// stream writes piece by piece; a reader that takes long gets more time with every piece it takes.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (s *stream) send(text []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.control.Flush()
}
