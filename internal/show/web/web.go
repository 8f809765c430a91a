// Package web is the dashboard: pages and a JSON API over a ledger, for one person or a team at one machine.
//
// Pages are rendered on the server from values that the API hands out as JSON, so that the two cannot differ. A page
// reads what it needs, lets the database go, and writes then: a slow reader holds nothing. Text from models and
// providers is text, never markup. Nothing is served without the token; docs/view.md has the rest of the rules.
package web

import (
	"context"
	"net/http"
	"time"

	"assay/internal/find/results"
	"assay/internal/find/results/findings"
	"assay/internal/find/results/grid"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/keep/store/clients"
	"assay/internal/keep/store/runs"
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
}

// Server answers for a dashboard. It is safe for concurrent use.
type Server struct {
	options  Options
	all      http.Handler // everything, behind the guard
	guard    *guard
	pages    *templates
	findings *memo[findingsKey, *runFindings]
	matrices *memo[matrixKey, *grid.Matrix]
	diffs    *memo[compareKey, *findings.Diff]
	causes   *memo[causesKey, []store.Cause]
	loaded   *memo[causesKey, struct{}]
	sessions *labelSessions
	watchers chan struct{} // places for those who wait for news
	scans    chan struct{} // places for searches
	counted  requestCounts
}

// The most that look at once for as long as they like.
const (
	maxWatchers = 64
	maxScans    = 4
)

// New makes a dashboard.
func New(o Options) (*Server, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	pages, err := newTemplates(o.Now)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o, guard: newGuard(o.Token, o.Hosts), pages: pages,
		watchers: make(chan struct{}, maxWatchers), scans: make(chan struct{}, maxScans),
	}
	s.findings = newMemo[findingsKey](o.Now, s.computeFindings)
	s.matrices = newMemo[matrixKey](o.Now, s.computeMatrix)
	s.diffs = newMemo[compareKey](o.Now, s.computeDiff)
	s.causes = newMemo[causesKey](o.Now, s.computeCauses)
	s.loaded = newMemo[causesKey](o.Now, func(ctx context.Context, k causesKey) (struct{}, error) { return struct{}{}, s.load(ctx, k) })
	s.sessions = newLabelSessions(o.Now)
	s.all = s.handler()
	return s, nil
}

// page is a page of the dashboard, and of its API.
type page struct {
	path string
	read func(s *Server, r *request) (*view, error)
}

// pagesOf lists every page. Under /api/ the same path gives what the page shows as JSON.
func pagesOf() []page {
	return []page{
		{"/runs", (*Server).runsPage},
		{"/compare", (*Server).comparePage},
		{"/users", (*Server).usersPage},
		{"/runs/{run}/summary", (*Server).summaryPage},
		{"/runs/{run}/progress", (*Server).runPage},
		{"/runs/{run}/segments", (*Server).segmentsPage},
		{"/runs/{run}/segments/{segment}", (*Server).segmentPage},
		{"/runs/{run}/events", (*Server).eventsPage},
		{"/runs/{run}/grid", (*Server).gridPage},
		{"/runs/{run}/answers", (*Server).answersPage},
		{"/runs/{run}/answers/{key}", (*Server).answerPage},
		{"/runs/{run}/item", (*Server).itemPage},
		{"/runs/{run}/diff", (*Server).diffPage},
		{"/runs/{run}/verdicts", (*Server).verdictsPage},
		{"/runs/{run}/findings", (*Server).findingsPage},
		{"/runs/{run}/people", (*Server).peoplePage},
		{"/runs/{run}/people/{stage}", (*Server).arenaPage},
	}
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.all.ServeHTTP(w, r) }

// handler is everything the dashboard serves, behind its guard.
func (s *Server) handler() http.Handler {
	inside := http.NewServeMux()
	inside.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/runs", http.StatusSeeOther) })
	for _, p := range pagesOf() {
		inside.HandleFunc("GET "+p.path, s.html(p))
		inside.HandleFunc("GET /api"+p.path, s.json(p))
	}
	inside.HandleFunc("GET /runs/{run}", s.html(page{read: (*Server).summaryPage})) // people come for the answer,
	inside.HandleFunc("GET /api/runs/{run}", s.json(page{read: (*Server).runPage})) // programs for the run in numbers
	inside.HandleFunc("GET /runs/{run}/search", s.searchPage)
	inside.HandleFunc("GET /api/runs/{run}/search", s.searchJSON)
	inside.HandleFunc("GET /runs/{run}/answers/{key}/raw", s.rawAnswer)
	inside.HandleFunc("GET /runs/{run}/artifacts/{artifact}", s.rawArtifact)
	inside.HandleFunc("GET /runs/{run}/files/{file}", s.runFile)
	inside.HandleFunc("GET /runs/{run}/figures/{file}", s.figureFile)
	inside.HandleFunc("GET /compare/figures/{file}", s.figureFile)
	inside.HandleFunc("GET /news", s.ledgerNews)
	inside.HandleFunc("GET /runs/{run}/news", s.runNews)
	inside.HandleFunc("POST /runs/{run}/orders", s.order)
	inside.HandleFunc("POST /runs/{run}/people/{stage}", s.judgeForm)
	inside.HandleFunc("GET /metrics", s.metrics)
	inside.HandleFunc("GET /static/{name}", s.static)
	inside.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, errNoPage) })
	outside := http.NewServeMux()
	outside.HandleFunc("GET /healthz", s.health)
	outside.Handle("/", s.guard.admit(s.count(inside), s))
	return s.guard.protect(outside)
}
