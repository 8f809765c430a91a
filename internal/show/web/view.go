package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"assay/internal/keep/store"
)

// view is the data of a page.
type view struct {
	template string
	title    string
	run      *runRow // nil: the page is about no run
	tab      string  // of the run
	data     any     // as JSON: what the API hands out
	live     string  // where news come from; empty: the page does not change by itself
}

// request is one request.
type request struct {
	*http.Request
	writer http.ResponseWriter // for deadlines alone: pages are written when they are whole
	home   *Home
	run    store.Run // of the path; zero: none
	waits  bool      // rather long than for less
}

// problem is an error of the client.
type problem struct {
	status int
	what   string
}

func (p *problem) Error() string { return p.what }

var errNoPage = &problem{http.StatusNotFound, "there is no such page"}

func bad(format string, args ...any) error {
	return &problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// open finds the home and the run that a path names.
func (s *Server) open(r *http.Request) (*request, error) {
	q := &request{Request: r}
	id := r.PathValue("run")
	if id == "" {
		return q, nil
	}
	var newest store.Run
	for _, h := range s.options.Homes() {
		run, err := h.Ledger.FindRun(r.Context(), id, "")
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if run.ID == id { // the beginning of an id will do for the command line; an address stays the same for good
			q.home, q.run = h, run
			return q, nil
		}
		if (id == latestRun || run.Study == id) && run.Created.After(newest.Created) {
			newest = run
		}
	}
	if newest.ID != "" {
		return nil, &moved{id, newest.ID}
	}
	return nil, &problem{http.StatusNotFound, "no run is called " + strconv.Quote(id)}
}

// latestRun is the name of the newest run in an address.
const latestRun = "latest"

// moved is the redirect from a name in an address, a study's or latest, to its current run.
type moved struct{ name, run string }

func (m *moved) Error() string { return m.name + " is run " + m.run }

// to returns the same address with the run's own id.
func (m *moved) to(u *url.URL) string {
	before, after, _ := strings.Cut(u.Path, "/runs/"+m.name)
	return (&url.URL{Path: before + "/runs/" + m.run + after, RawQuery: u.RawQuery}).String()
}

// api reports whether a program asks, which would rather wait than get less.
func (q *request) api() bool { return strings.HasPrefix(q.URL.Path, "/api/") }

// patience returns how long the asker waits for what is being made.
func (q *request) patience() (time.Duration, error) {
	if q.api() || q.waits {
		return apiPatience, q.extend()
	}
	return pagePatience, nil
}

// extend gives an answer that takes long the time to be written.
func (q *request) extend() error {
	if q.writer == nil {
		return nil
	}
	return http.NewResponseController(q.writer).SetWriteDeadline(time.Now().Add(apiPatience + writeTimeout))
}

// number reads a whole number of the query; fallback where it is not there.
func (q *request) number(name string, fallback int64) (int64, error) {
	text := q.FormValue(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("%s: %q is not a number", name, text)
	}
	return n, nil
}

// limit returns how many rows a page holds: as many as a person reads, or as a program asks for.
func (q *request) limit() (int, error) {
	n, err := q.number("limit", pageRows)
	if err == nil && (n < 1 || n > maxRows) {
		err = bad("limit: want 1 to %d", maxRows)
	}
	return int(n), err
}

const (
	pageRows = 50
	maxRows  = 1000
)

// html answers with a page.
func (s *Server) html(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.read(p, w, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.show(w, r, http.StatusOK, v)
	}
}

// json answers with what a page shows.
func (s *Server) json(p page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.read(p, w, r)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		writeJSON(w, http.StatusOK, v.data)
	}
}

func (s *Server) read(p page, w http.ResponseWriter, r *http.Request) (*view, error) {
	q, err := s.open(r)
	if err != nil {
		return nil, err
	}
	q.writer = w
	v, err := p.read(s, q)
	if err != nil {
		return nil, err
	}
	if q.home != nil && v.run == nil {
		row, err := s.rowOf(r.Context(), q.home, q.run)
		if err != nil {
			return nil, err
		}
		v.run = &row
	}
	return v, nil
}

// show writes a page: all of it is made before the first byte goes out.
func (s *Server) show(w http.ResponseWriter, r *http.Request, status int, v *view) {
	var b bytes.Buffer
	if err := s.pages.write(&b, v, s.guard.formsOf(r)); err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

// fail writes an error in the requested format.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if m, ok := errors.AsType[*moved](err); ok && r.Method == http.MethodGet {
		http.Redirect(w, r, m.to(r.URL), http.StatusFound)
		return
	}
	status, what := statusOf(err)
	if strings.HasPrefix(r.URL.Path, "/api/") {
		writeJSON(w, status, map[string]string{"error": what})
		return
	}
	s.show(w, r, status, &view{template: "error", title: http.StatusText(status), data: what})
}

func statusOf(err error) (int, string) {
	var p *problem
	switch {
	case errors.As(err, &p):
		return p.status, p.what
	case errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound, err.Error()
	}
	return http.StatusInternalServerError, err.Error()
}

// writeJSON writes a value for programs. Markup in it is escaped, for a reader who opens it in a browser after all.
func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

// ready reports whether the study of the run is there to make questions and sheets from; where it is not, it will be
// soon.
func (s *Server) ready(q *request) (bool, error) {
	patience, err := q.patience()
	if err != nil {
		return false, err
	}
	f := s.loaded.get(q.Context(), causesKey{q.home, q.run.No}, "loaded", patience)
	return f.Known, f.Err
}

func (s *Server) load(ctx context.Context, k causesKey) error {
	run, err := k.home.Ledger.Run(ctx, k.run)
	if err != nil {
		return err
	}
	_, err = k.home.Study(ctx, run)
	return err
}
