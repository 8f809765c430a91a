// Package web is the dashboard: pages and a JSON API over a ledger, for one person or a team at one machine.
//
// Pages are rendered on the server from values that the API hands out as JSON, so that the two cannot differ. A page
// reads what it needs, lets the database go, and writes then: a slow reader holds nothing. Text from models and
// providers is text, never markup. Nothing is served without the token; docs/view.md has the rest of the rules.
package web

import (
	"context"
	"net"
	"net/http"
	"time"

	"assay/internal/show/serve"
	"assay/internal/show/web/answers"
	"assay/internal/show/web/found"
	"assay/internal/show/web/people"
	"assay/internal/show/web/progress"
	"assay/internal/show/web/site"
)

// Server answers for a dashboard. It is safe for concurrent use.
type Server struct {
	handler http.Handler // everything, behind the guard
}

// New makes a dashboard.
func New(o site.Options) (*Server, error) {
	s, err := site.New(o)
	if err != nil {
		return nil, err
	}
	return &Server{handlerOf(s)}, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// maxBody is how long a form may be.
const maxBody = 64 << 10

// Serve answers on a listener until the context ends; then it lets those finish who are being answered.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	ending, end := context.WithCancel(ctx)
	defer end()
	return serve.Until(ctx, on, &http.Server{
		Handler:           http.MaxBytesHandler(s, maxBody),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: site.WriteTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10,
		BaseContext:    func(net.Listener) context.Context { return ending },
	}, 5*time.Second)
}

// handlerOf returns everything that a dashboard serves, behind its guard. A page has the same path under /api/, where it
// gives what it shows as JSON.
func handlerOf(s *site.Site) http.Handler {
	runs, found, people := progress.New(s), found.New(s), people.New(s)
	answers := answers.New(s, found.Beside)
	news := &newsFeed{Site: s, found: found, watchers: make(chan struct{}, maxWatchers)}
	inside := http.NewServeMux()
	for path, read := range map[string]site.ReadPage{
		"/runs":                          runs.Runs,
		"/users":                         runs.Users,
		"/runs/{run}/progress":           runs.Run,
		"/runs/{run}/segments":           runs.Segments,
		"/runs/{run}/segments/{segment}": runs.Segment,
		"/runs/{run}/events":             runs.Events,
		"/runs/{run}/answers":            answers.List,
		"/runs/{run}/answers/{key}":      answers.Answer,
		"/runs/{run}/item":               answers.Item,
		"/runs/{run}/diff":               answers.Diff,
		"/runs/{run}/verdicts":           answers.Verdicts,
		"/compare":                       found.Compare,
		"/runs/{run}/summary":            found.Summary,
		"/runs/{run}/grid":               found.Grid,
		"/runs/{run}/trend":              found.Trend,
		"/runs/{run}/findings":           found.Findings,
		"/runs/{run}/people":             people.Stages,
		"/runs/{run}/people/{stage}":     people.Arena,
	} {
		inside.HandleFunc("GET "+path, s.HTML(read))
		inside.HandleFunc("GET /api"+path, s.JSON(read))
	}
	inside.HandleFunc("GET /runs/{run}", s.HTML(found.Summary)) // people come for the answer,
	inside.HandleFunc("GET /api/runs/{run}", s.JSON(runs.Run))  // programs for the run in numbers
	for pattern, answer := range map[string]http.HandlerFunc{
		"GET /{$}": func(w http.ResponseWriter,
			r *http.Request) {
			http.Redirect(w, r, "/runs", http.StatusSeeOther)
		},
		"GET /runs/{run}/search":               answers.Search,
		"GET /api/runs/{run}/search":           answers.SearchJSON,
		"GET /runs/{run}/answers/{key}/raw":    answers.RawAnswer,
		"GET /runs/{run}/artifacts/{artifact}": answers.RawArtifact,
		"GET /runs/{run}/media":                answers.Media,
		"GET /runs/{run}/files/{file}":         found.RunFile,
		"GET /runs/{run}/figures/{file}":       found.FigureFile,
		"GET /compare/figures/{file}":          found.FigureFile,
		"GET /news":                            news.ofLedger,
		"GET /runs/{run}/news":                 news.ofRun,
		"GET /runs/{run}/settle":               s.HTML(found.Settle),
		"POST /runs/{run}/settle":              found.Buy,
		"POST /runs/{run}/orders":              runs.Order,
		"POST /runs/{run}/people/{stage}":      people.Label,
		"POST /runs/{run}/marks":               people.Mark,
		"GET /metrics":                         runs.Metrics,
		"GET /static/{name}":                   s.Static,
		"/":                                    func(w http.ResponseWriter, r *http.Request) { s.Fail(w, r, site.ErrNoPage) },
	} {
		inside.HandleFunc(pattern, answer)
	}
	outside := http.NewServeMux()
	outside.HandleFunc("GET /healthz", s.Health)
	outside.HandleFunc("GET /readyz", s.Health)
	outside.Handle("/", s.Guard.Admit(runs.Requests.Count(inside)))
	return s.Guard.Protect(outside)
}
