// Package gateway is an HTTP server that speaks OpenAI's files, batches, models, chat completions and responses endpoints in
// front of every provider.
//
// A batch is a run without a study, in the same ledger as all others: once a client has its id, it is driven to its end by
// this process or by the next one, whatever happens in between. Results go back in OpenAI's form under the client's ids.
// Every user has a token, sees files and batches of their own alone, and may have a budget.
package gateway

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/batchrun"
	"assay/internal/send/engine"
	"assay/internal/send/workspace"
	"assay/internal/study/catalog"
)

// Options are what a gateway needs from outside.
type Options struct {
	Home     *workspace.Home
	Users    []User
	Budget   *assay.Money  // for all users together; nil: none
	Admin    string        // the user whose token shows all users in the metrics; empty: none
	Storage  int64         // bytes of files that each user may keep; 0: any number
	Interval time.Duration // between looks at a job; 0: as usual
	Stall    time.Duration // how long a client may pause while it sends or takes bytes; 0: 30 seconds
	Silence  time.Duration // that a client of a stream hears at most; 0: 15 seconds
	Log      *slog.Logger
}

// Server answers for a gateway. It is safe for concurrent use.
type Server struct {
	Options
	all     http.Handler
	catalog *catalog.Catalog
	wake    chan struct{} // a batch is new, or is to be looked at
	name    string        // under which the ledger knows its keys

	mu       sync.Mutex
	targets  map[string]target
	making   map[string]*sync.Mutex // by user: a batch is made
	driving  map[int64]bool
	later    map[int64]time.Time // not driven before
	revived  map[int64]time.Time // when stopped lanes were last given another try
	shown    bool                // the ledger knows keys of this gateway
	flights  []*flight           // live calls, oldest first
	finished map[int64]time.Time // runs whose results are written, and when they were closed
}

// target is a provider as it is reached from here.
type target struct {
	batchrun.Target
	access engine.Access
	err    error // why it cannot be
}

// New makes a gateway.
func New(o Options) *Server {
	if o.Stall == 0 {
		o.Stall = 30 * time.Second
	}
	if o.Silence == 0 {
		o.Silence = 15 * time.Second // proxies and clients give up on silence
	}
	s := &Server{Options: o, catalog: catalog.Default(), wake: make(chan struct{}, 1), name: "gateway " + rand.Text(), targets: map[string]target{}, making: map[string]*sync.Mutex{},
		driving: map[int64]bool{}, later: map[int64]time.Time{}, revived: map[int64]time.Time{}, finished: map[int64]time.Time{}}
	s.all = s.handler()
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.all.ServeHTTP(w, r) }

// answer is what a call comes to: a document, or an error.
type answer func(ctx context.Context, c *call) (any, error)

// call is a request of a user.
type call struct {
	*http.Request
	user *User
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	json := func(pattern string, f answer) { mux.HandleFunc(pattern, s.document(f)) }
	json("POST /v1/files", s.createFile)
	json("GET /v1/files", s.listFiles)
	json("GET /v1/files/{id}", s.retrieveFile)
	json("DELETE /v1/files/{id}", s.deleteFile)
	mux.HandleFunc("GET /v1/files/{id}/content", s.fileContent)
	json("POST /v1/batches", s.createBatch)
	json("GET /v1/batches", s.listBatches)
	json("GET /v1/batches/{id}", s.retrieveBatch)
	json("POST /v1/batches/{id}/cancel", s.cancelBatch)
	mux.HandleFunc("POST /v1/chat/completions", s.live("chat"))
	mux.HandleFunc("POST /v1/responses", s.live("responses"))
	json("GET /v1/models", s.listModels)
	json("GET /v1/models/{id...}", s.retrieveModel)
	json("/", func(_ context.Context, c *call) (any, error) {
		return nil, wrong(http.StatusNotFound, "unknown_url", "", "Unknown request URL: %s %s.", c.Method, assay.Clean(c.URL.Path, 200))
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", s.health)
	return s.guard(mux)
}

// health answers as long as the ledger does. It says nothing else.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(r.Context(), 5*time.Second)
	defer stop()
	if _, err := s.Home.Ledger.LedgerVersion(ctx); err != nil {
		http.Error(w, "the ledger does not answer", http.StatusServiceUnavailable)
		return
	}
	http.Error(w, "ok", http.StatusOK)
}

// reader reads the batches of the ledger.
func (s *Server) reader() *batchrun.Reader { return s.Home.Batches() }

// now is the time by the ledger's clock.
func (s *Server) now() time.Time { return s.Home.Ledger.Now() }

// target is how a provider is reached; its error says why it cannot be.
func (s *Server) target(provider string) (target, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.targets[provider]
	if !ok {
		t = s.resolve(provider)
		s.targets[provider] = t
	}
	return t, t.err
}

func (s *Server) resolve(provider string) target {
	w := s.Home.World
	t, err := w.Resolver().Target(batchrun.Wish{Provider: provider})
	if err == nil {
		err = w.Resolver().Lacks(t)
	}
	var access engine.Access
	if err == nil {
		access, err = w.Dial(t)
	}
	return target{Target: t, access: access, err: err}
}

// ready says why a provider cannot be used here; nil: it can.
func (s *Server) ready(provider string) error {
	_, err := s.target(provider)
	return err
}

// runs lists the batches of a user, newest first; of all users where the name is empty.
func (s *Server) runs(ctx context.Context, user string, states ...store.RunState) ([]store.Run, error) {
	all, err := s.Home.Ledger.Runs(ctx, workspace.GatewayStudy, states...)
	if err != nil {
		return nil, err
	}
	var own []store.Run
	for _, run := range all {
		if b, ok := batchrun.Of(run); ok && b.Client != nil && (user == "" || run.By == user) {
			own = append(own, run)
		}
	}
	return own, nil
}
