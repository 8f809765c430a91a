// Package site holds the parts that all pages of the dashboard share: runs in addresses, templates, errors, and how each is written.
package site

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/clients"
	"assay/internal/keep/store/runs"
	"assay/internal/send/script/rounds"
	"assay/internal/show/web/guard"
	"assay/internal/show/web/memo"
)

// Options configure a dashboard.
type Options struct {
	Homes   func() []*Home // those there are now
	Token   string         // who shows it may look and give orders
	Hosts   []string       // names it may be called by, besides IP addresses and localhost
	By      string         // whose orders they are
	Version string         // of the program
	Now     func() time.Time
}

// Home is a ledger with its artifacts, and what can be read of its runs.
type Home struct {
	*results.Reader
	Files   artifacts.Place
	Orders  *runs.Store    // the same ledger, which takes orders
	Clients *clients.Store // and knows the users of gateways

	// Buy buys comparisons that tell two lanes of a closed run apart, and opens the run for them; false: another process was first. Nil:
	// nothing is bought here.
	Buy func(ctx context.Context, run store.Run, s rounds.Settle, cost assay.Money) (bool, error)

	Away func(ctx context.Context) string // names what does not answer, ledger or bucket; empty: all do; nil: the ledger alone is asked

	// Newer says that a newer program has changed the ledger's tables: nothing is written then. Empty: none has; nil: it is not asked.
	Newer func(ctx context.Context) string
}

// Site holds what all pages share: the options, the guard, the templates, and how a page or an error is written.
type Site struct {
	Options
	Guard     *guard.Guard
	templates *templates
	studies   *memo.Memo[RunKey, struct{}] // those that are read, to make questions and sheets from
	scans     chan struct{}                // places for what reads much of a ledger
}

// RunKey names a run of a home.
type RunKey struct {
	Home *Home
	Run  int64
}

// maxScans is how many searches and files are worked on at once.
const maxScans = 4

// New parses the templates and derives the secrets of a dashboard.
func New(o Options) (*Site, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	pages, err := newTemplates(o.Now)
	if err != nil {
		return nil, err
	}
	s := &Site{Options: o, templates: pages, studies: memo.New[RunKey](o.Now, readStudy), scans: make(chan struct{}, maxScans)}
	s.Guard = guard.New(o.Token, o.Hosts, guard.Doors{SignIn: s.askToken, Forbid: s.Fail})
	return s, nil
}

func readStudy(ctx context.Context, k RunKey) (struct{}, error) {
	run, err := k.Home.Ledger.Run(ctx, k.Run)
	if err == nil {
		_, err = k.Home.Study(ctx, run)
	}
	return struct{}{}, err
}

// View is the data of a page.
type View struct {
	Template string
	Title    string
	Run      *RunRow // nil: the page is about no run
	Tab      string  // of the run
	Data     any     // as JSON: what the API hands out
	Live     string  // where news come from; empty: the page does not change by itself
}

// ReadPage reads what a page shows.
type ReadPage func(q *Request) (*View, error)

// HTML answers with a page.
func (s *Site) HTML(read ReadPage) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.read(read, w, r)
		if err != nil {
			s.fail(w, r, err, v.Run)
			return
		}
		s.Show(w, r, v)
	}
}

// JSON answers with what a page shows.
func (s *Site) JSON(read ReadPage) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := s.read(read, w, r)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusOK, v.Data)
	}
}

// read returns what a page shows. The run that it is about is there beside what is wrong with a question, too; what is wrong with the
// ledger is not asked for twice.
func (s *Site) read(read ReadPage, w http.ResponseWriter, r *http.Request) (*View, error) {
	q, err := s.Open(r)
	if err != nil {
		return &View{}, err
	}
	q.Writer = w
	v, failed := read(q)
	if failed != nil {
		v = &View{}
		if status, _ := statusOf(failed); status >= http.StatusInternalServerError || q.API() {
			return v, failed
		}
	}
	if q.Home != nil && v.Run == nil {
		row, err := s.RowOf(r.Context(), q.Home, q.Run)
		if err != nil {
			return &View{}, cmp.Or(failed, err)
		}
		v.Run = &row
	}
	return v, failed
}

// Show writes a page: all of it is made before the first byte goes out.
func (s *Site) Show(w http.ResponseWriter, r *http.Request, v *View) { s.write(w, r, http.StatusOK, v) }

func (s *Site) write(w http.ResponseWriter, r *http.Request, status int, v *View) {
	text, err := s.Render(r, v)
	if err != nil {
		http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	rememberTexts(w, r)
	writeWhole(w, r, status, htmlType, text)
}

// Render returns the HTML of a page, with forms for a caller who may send any.
func (s *Site) Render(r *http.Request, v *View) ([]byte, error) {
	var b bytes.Buffer
	err := s.templates.write(&b, r, v, s.Guard.FormsOf(r))
	return b.Bytes(), err
}

// Part writes one part of a page.
func (s *Site) Part(w io.Writer, page, name string, data any) error {
	return s.templates.all[page].ExecuteTemplate(w, name, data)
}

// Fail writes an error in the requested format.
func (s *Site) Fail(w http.ResponseWriter, r *http.Request, err error) { s.fail(w, r, err, nil) }

// FailOnRun writes what is wrong with a question about a run as a page of the run, if there is one.
func (s *Site) FailOnRun(w http.ResponseWriter, r *http.Request, wrong error) {
	v, err := s.read(func(*Request) (*View, error) { return nil, wrong }, w, r)
	s.fail(w, r, err, v.Run)
}

// fail writes an error, as a page of a run where that is known.
func (s *Site) fail(w http.ResponseWriter, r *http.Request, err error, run *RunRow) {
	if m, ok := errors.AsType[*moved](err); ok && r.Method == http.MethodGet {
		http.Redirect(w, r, m.to(r.URL), http.StatusFound)
		return
	}
	status, what := statusOf(err)
	if strings.HasPrefix(r.URL.Path, "/api/") {
		writeJSON(w, r, status, map[string]string{"error": what})
		return
	}
	s.write(w, r, status, &View{Template: "error", Title: http.StatusText(status), Data: what, Run: run})
}

func statusOf(err error) (int, string) {
	var p *Problem
	switch {
	case errors.As(err, &p):
		return p.Status, p.What
	case errors.Is(err, store.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound, err.Error()
	case errors.Is(err, guard.ErrLookOnly):
		return http.StatusForbidden, err.Error()
	}
	return http.StatusInternalServerError, err.Error()
}

// writeJSON writes a value for programs. Markup in it is escaped, for a reader who opens it in a browser after all.
func writeJSON(w http.ResponseWriter, r *http.Request, status int, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the answer cannot be written as JSON"}`)
	}
	writeWhole(w, r, status, "application/json; charset=utf-8", append(text, '\n'))
}

// askToken answers a caller without the token with how to sign in: a program by a header, a reader by typing the token.
func (s *Site) askToken(w http.ResponseWriter, r *http.Request, why string) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="assay"`)
	if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/metrics" {
		writeJSON(w, r, http.StatusUnauthorized,
			map[string]string{"error": "no token: send Authorization: Bearer TOKEN, as `assay view` printed it"})
		return
	}
	to := r.PostFormValue("to")
	if r.Method == http.MethodGet {
		to = guard.WithoutToken(r.URL)
	}
	var b bytes.Buffer
	if err := s.templates.signIn(&b, why, to); err != nil {
		http.Error(w, "no token: open the address that `assay view` printed", http.StatusUnauthorized)
		return
	}
	writeWhole(w, r, http.StatusUnauthorized, htmlType, b.Bytes())
}

// OpenForm finds the run that a form is about, where the form is one of ours.
func (s *Site) OpenForm(r *http.Request) (*Request, error) {
	q, err := s.Open(r)
	if err == nil {
		err = r.ParseForm()
	}
	if err == nil && !s.Guard.OwnForm(r) {
		err = &Problem{http.StatusForbidden,
			"the form is not one of ours, or of an earlier start of the dashboard: reload the page and try again"}
	}
	if err == nil && q.Home != nil && q.Home.Newer != nil {
		if newer := q.Home.Newer(r.Context()); newer != "" {
			err = &Problem{http.StatusServiceUnavailable, newer}
		}
	}
	return q, err
}

// Ready reports whether the study of the run is there to make questions and sheets from; where it is not, it will be
// soon.
func (s *Site) Ready(q *Request) (bool, error) {
	patience, err := q.Patience()
	if err != nil {
		return false, err
	}
	f := s.studies.Get(q.Context(), RunKey{q.Home, q.Run.No}, "loaded", patience)
	return f.Known, f.Err
}

// BeginScan takes one of the few places for what reads much of a ledger; the function that it returns gives it back.
func (s *Site) BeginScan(ctx context.Context) (func(), error) {
	select {
	case s.scans <- struct{}{}:
		return func() { <-s.scans }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	default:
		return nil, &Problem{http.StatusTooManyRequests, "other searches are going on, or files are being made: try again in a moment"}
	}
}

// Health answers as long as the ledgers do. It reports nothing else.
func (s *Site) Health(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(r.Context(), 5*time.Second)
	defer stop()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	for _, h := range s.Homes() {
		away := ""
		if _, err := h.Pages.LedgerVersion(ctx); err != nil {
			away = "ledger"
		} else if h.Away != nil {
			away = h.Away(ctx)
		}
		if away != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintf(w, "the %s does not answer\n", away)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}
