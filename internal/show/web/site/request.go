package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"assay/internal/keep/store"
)

// Request is one request.
type Request struct {
	*http.Request
	Writer http.ResponseWriter // for deadlines and headers alone: pages are written when they are whole
	Home   *Home
	Run    store.Run // of the path; zero: none
	Waits  bool      // rather long than for less
}

// Beside holds the neighbours of an item in a grid.
type Beside struct {
	Prev, Next string // the addresses of the items before and after it; empty: there is none
	Grid       string // the address of the grid; empty: nothing is known of it
	At, Of     int    // which of the grid's items it is; 0: none of them, or not counted

	Lanes []string // as the grid ranks them, best first; empty: nothing ranks them, or it is not known yet
}

// Problem is an error of the client.
type Problem struct {
	Status int
	What   string
}

func (p *Problem) Error() string { return p.What }

var ErrNoPage = &Problem{http.StatusNotFound, "there is no such page"}

// Refused returns an error of the client with a status of its own.
func Refused(status int, what string) error { return &Problem{status, what} }

// Bad returns the error of a request that asks for what cannot be.
func Bad(format string, args ...any) error {
	return &Problem{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// NotYet returns the error of a program that asks for what is still being made.
func NotYet(what string) error { return &Problem{http.StatusServiceUnavailable, what} }

// Open finds the home and the run that a path names.
func (s *Site) Open(r *http.Request) (*Request, error) {
	q := &Request{Request: r}
	id := r.PathValue("run")
	if id == "" {
		return q, nil
	}
	var err error
	q.Home, q.Run, err = s.find(r.Context(), id)
	return q, err
}

// find returns the run with an id. A name, of a study or latest, is a moved error with the id of its newest run.
func (s *Site) find(ctx context.Context, id string) (*Home, store.Run, error) {
	var newest store.Run
	for _, h := range s.Homes() {
		run, err := h.Ledger.FindRun(ctx, id, "")
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, store.Run{}, err
		}
		if run.ID == id { // the beginning of an id will do for the command line; an address stays the same for good
			return h, run, nil
		}
		if (id == latestRun || run.Study == id) && run.Created.After(newest.Created) {
			newest = run
		}
	}
	if newest.ID != "" {
		return nil, store.Run{}, &moved{id, newest.ID}
	}
	return nil, store.Run{}, &Problem{http.StatusNotFound, "no run is called " + strconv.Quote(id)}
}

// RunOf finds the run that a value of the query names, by its id, its study or latest.
func (s *Site) RunOf(q *Request, name string) (*Home, store.Run, error) {
	id := q.FormValue(name)
	if id == "" {
		return nil, store.Run{}, Bad("%s: which run?", name)
	}
	h, run, err := s.find(q.Context(), id)
	if m, ok := errors.AsType[*moved](err); ok {
		return s.find(q.Context(), m.run)
	}
	return h, run, err
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

// API reports whether a program asks, which would rather wait than get less.
func (q *Request) API() bool { return strings.HasPrefix(q.URL.Path, "/api/") }

// How long a page waits for what is being computed before it shows what there is; a program waits until it is there.
const (
	pagePatience = 200 * time.Millisecond
	apiPatience  = 10 * time.Minute
)

// Patience returns how long the asker waits for what is being made.
func (q *Request) Patience() (time.Duration, error) {
	if q.API() || q.Waits {
		return apiPatience, q.Extend()
	}
	return pagePatience, nil
}

// Extend gives an answer that takes long the time to be written.
func (q *Request) Extend() error {
	if q.Writer == nil {
		return nil
	}
	return http.NewResponseController(q.Writer).SetWriteDeadline(time.Now().Add(apiPatience + WriteTimeout))
}

// Number reads a whole number of the query; fallback where it is not there.
func (q *Request) Number(name string, fallback int64) (int64, error) {
	text := q.FormValue(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, Bad("%s: %q is not a number", name, text)
	}
	return n, nil
}

// PageRows is how many rows a page has where the query does not say, maxRows how many it may ask for.
const (
	PageRows = 50
	maxRows  = 1000
)

// Limit returns how many rows a page holds: as many as a person reads, or as a program asks for.
func (q *Request) Limit() (int, error) {
	n, err := q.Number("limit", PageRows)
	if err == nil && (n < 1 || n > maxRows) {
		err = Bad("limit: want 1 to %d", maxRows)
	}
	return int(n), err
}

// Page reads the mark and the size of a page of rows.
func (q *Request) Page(mark string) (from int64, limit int, err error) {
	if from, err = q.Number(mark, 0); err != nil {
		return 0, 0, err
	}
	limit, err = q.Limit()
	return from, limit, err
}
