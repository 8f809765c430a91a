package simulator

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"assay/internal/simulator/backend"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/wire"
)

// Options set how a simulator behaves. The zero value is a set of providers that answer at once and never fail.
type Options struct {
	Seed    uint64
	Rate    float64       // requests of a job that complete per second; 0: all at once
	Latency time.Duration // of a live call
	Queue   time.Duration // how long a job waits before its first request runs; half of it is spent validating
	Window  time.Duration // after which a job expires; 0: the provider's own
	Dir     string        // where files are kept, in a folder of their own that Close removes; "": the system's temporary folder
	Clock   Clock         // nil: the system's
	Faults  []fault.Rule
	Limits  Limits

	Rules     rules.Rules        // what models reject; nil: what is known of the model families
	Responder minds.Responder    // who answers; nil: a Writer
	Quality   map[string]float64 // latent quality of models by name, for the Writer; others are derived from the name
	Yield     map[string]float64 // their chance to give in to a push back, likewise
	Judges    *minds.Judges      // how they judge, likewise; nil: DefaultJudges

	Charged func(Charge) // is called with every live answer that is billed; nil: nothing is
}

// Limits are those of an account. Zero is no limit, or the provider's own where it has one.
type Limits = backend.Limits

// Server is a simulator. It is safe for concurrent use.
type Server struct {
	responder minds.Responder
	clock     *movable
	faults    *fault.Book
	vendors   []*backend.Vendor
	service   *backend.Service
	mux       *http.ServeMux
	live      *invoice // what was asked live
}

// New starts a simulator. Close it to remove its files.
func New(o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = wallClock{}
	}
	if o.Rules == nil {
		o.Rules = rules.Families{}
	}
	if o.Responder == nil {
		o.Responder = minds.Writer{Quality: o.Quality, Yield: o.Yield, Judges: o.Judges}
	}
	if o.Judges != nil {
		if err := o.Judges.Check(); err != nil {
			return nil, fmt.Errorf("start the simulator: %w", err)
		}
	}
	clock := &movable{base: o.Clock}
	s := &Server{responder: o.Responder, clock: clock, faults: fault.NewBook(o.Seed, o.Faults, clock.Now()), vendors: wire.Vendors(),
		mux: http.NewServeMux(), live: newInvoice()}
	var err error
	s.service, err = backend.New(backend.Settings{
		Seed: o.Seed, Rate: o.Rate, Latency: o.Latency, Queue: o.Queue, Window: o.Window, Dir: o.Dir, Limits: o.Limits,
		Now: clock.Now, Faults: s.faults, Rules: o.Rules, Responder: o.Responder,
		Charged: s.charge(o.Charged),
	}, s.vendors)
	if err != nil {
		return nil, fmt.Errorf("start the simulator: %w", err)
	}
	s.service.Register(s.mux)
	s.controlRoutes()
	return s, nil
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close removes the simulator's files. Calls after it fail.
func (s *Server) Close() error {
	if err := s.service.Close(); err != nil {
		return fmt.Errorf("close the simulator: %w", err)
	}
	return nil
}

// BaseURLs returns the base URLs of all vendors, by name, for a server reached at root, such as http://127.0.0.1:8080.
func (s *Server) BaseURLs(root string) map[string]string {
	root = strings.TrimSuffix(root, "/")
	out := map[string]string{}
	for _, v := range s.vendors {
		out[v.Name] = root + v.Base
	}
	return out
}

// ParseRule reads a fault rule, such as "openai create drop-reply once". See package fault for the form of rules.
func ParseRule(text string) (fault.Rule, error) {
	var names []string
	for _, v := range wire.Vendors() {
		names = append(names, v.Name)
	}
	return fault.Parse(text, names)
}
