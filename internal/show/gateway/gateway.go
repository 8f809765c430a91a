// Package gateway is an HTTP server of OpenAI's files, batches, models, chat completions and responses endpoints in
// front of every provider.
//
// A batch is a run without a study, in the same ledger as all others: once a client has its id, it is driven to its end
// by this process or by the next one, whatever happens in between. Results go back in OpenAI's form under the client's
// ids. Every user has a token, sees files and batches of their own alone, and may have a budget.
package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/show/gateway/answers"
	"assay/internal/show/gateway/drive"
	"assay/internal/show/gateway/openai"
	"assay/internal/study/catalog"
)

// Options are the settings of a gateway.
type Options struct {
	Home     *workspace.Home
	Users    []User
	Reread   func() ([]User, error) // reads the users again; nil: they stay
	Budget   *assay.Money           // for all users together; nil: none
	Admin    string                 // the user whose token shows all users in the metrics; empty: none
	Storage  int64                  // bytes of files that each user may keep; 0: any number
	Interval time.Duration          // between looks at a job; 0: as usual
	Stall    time.Duration          // how long a client may pause while it sends or takes bytes; 0: 30 seconds
	Silence  time.Duration          // longest pause of a client's stream; 0: 15 seconds
	Log      *slog.Logger
}

// Server answers for a gateway. It is safe for concurrent use.
type Server struct {
	Options
	all       http.Handler
	catalog   *catalog.Catalog
	providers *drive.Providers
	driver    *drive.Driver
	calls     answers.Calls // live ones
	users     atomic.Pointer[[]User]

	mu     sync.Mutex
	making map[string]*sync.Mutex // by user: a batch is made
}

// New makes a gateway.
func New(o Options) *Server {
	if o.Stall == 0 {
		o.Stall = 30 * time.Second
	}
	if o.Silence == 0 {
		o.Silence = 15 * time.Second // proxies and clients give up on silence
	}
	s := &Server{Options: o, catalog: catalog.Default(), providers: drive.NewProviders(o.Home.World), making: map[string]*sync.Mutex{}}
	s.driver = drive.New(drive.Options{Home: o.Home, Providers: s.providers, Interval: o.Interval, Allowance: s.allowance,
		Sweep: s.sweep, Log: o.Log})
	s.users.Store(&o.Users)
	s.all = s.handler()
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.all.ServeHTTP(w, r) }

// answer returns the document of a call, or an error.
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
		return nil, openai.Wrong(http.StatusNotFound, "unknown_url", "", "Unknown request URL: %s %s.", c.Method,
			assay.Clean(c.URL.Path, 200))
	})
	mux.HandleFunc("GET /metrics", s.metrics)
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.health)
	return s.guard(mux)
}

// health answers as long as the ledger and the artifacts do, and names the one that does not. It shows nothing else.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	ctx, stop := context.WithTimeout(r.Context(), 5*time.Second)
	defer stop()
	if away := s.Home.Away(ctx); away != "" {
		http.Error(w, "the "+away+" does not answer", http.StatusServiceUnavailable)
		return
	}
	http.Error(w, "ok", http.StatusOK)
}

// now returns the time by the ledger's clock.
func (s *Server) now() time.Time { return s.Home.Ledger.Now() }
