package simulator

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options say how a simulator behaves. The zero value is a set of providers that answer at once and never fail.
type Options struct {
	Seed    uint64
	Rate    float64       // requests of a job that complete per second; 0: all at once
	Latency time.Duration // of a live call
	Queue   time.Duration // how long a job waits before its first request runs; half of it is spent validating
	Window  time.Duration // after which a job expires; 0: the provider's own
	Dir     string        // where files are kept, in a folder of their own that Close removes; "": the system's temporary folder
	Clock   Clock         // nil: the system's
	Faults  []Rule
	Limits  Limits

	Rules     Rules              // what models reject; nil: what is known of the model families
	Responder Responder          // who answers; nil: a Writer
	Quality   map[string]float64 // latent quality of models by name, for the Writer; others are derived from the name
	Yield     map[string]float64 // their chance to give in to a push back, likewise
	Judges    *Judges            // how they judge, likewise; nil: DefaultJudges
}

// Limits are what an account may do. Zero is no limit, or the provider's own where it has one.
type Limits struct {
	Requests      int   // live requests a minute, per key
	Tokens        int   // live tokens a minute, per key
	Enqueued      int64 // prompt tokens that unfinished batches of one model may hold, per key
	BatchRequests int   // requests in one batch
	BatchBytes    int64 // bytes of one batch
}

// Server is a simulator. It is safe for concurrent use.
type Server struct {
	opts   Options
	clock  *movable
	mux    *http.ServeMux
	spill  *spill
	faults *faultBook
	live   *tally
	meter  *meterBook
	warm   *warmth
	asked  *roll
	serial atomic.Uint64

	mu       sync.Mutex
	jobs     []*job                  // in the order they were made
	jobByID  map[string]*job         // by vendor, account and id
	files    []*file                 // in the order they were made
	fileByID map[string]*file        // by vendor, account and id
	outputs  map[string]output       // result files, by vendor, account and id
	sessions map[string]*session     // resumable uploads, by their own id
	datasets map[string]*fireDataset // Fireworks: by account and id
	batches  map[string]*xaiBatch    // xAI: by account and id
	batchIDs []string                // their keys, in the order they were made
}

// New starts a simulator. Close it to remove its files.
func New(o Options) (*Server, error) {
	if o.Clock == nil {
		o.Clock = wallClock{}
	}
	if o.Rules == nil {
		o.Rules = families{}
	}
	if o.Responder == nil {
		o.Responder = Writer{Quality: o.Quality, Yield: o.Yield, Judges: o.Judges}
	}
	if o.Judges != nil {
		if err := o.Judges.Check(); err != nil {
			return nil, fmt.Errorf("start the simulator: %w", err)
		}
	}
	sp, err := newSpill(o.Dir)
	if err != nil {
		return nil, err
	}
	live, err := newTally(sp)
	if err != nil {
		return nil, fmt.Errorf("start the simulator: %w", err)
	}
	s := &Server{
		opts: o, clock: &movable{base: o.Clock}, mux: http.NewServeMux(), spill: sp, live: live,
		meter: newMeterBook(o.Limits), warm: newWarmth(), asked: newRoll(),
		jobByID: map[string]*job{}, fileByID: map[string]*file{}, outputs: map[string]output{},
		sessions: map[string]*session{}, datasets: map[string]*fireDataset{}, batches: map[string]*xaiBatch{},
	}
	s.faults = newFaultBook(o.Seed, o.Faults, s.clock.Now())
	for _, v := range vendors() {
		v.routes(routes{s: s, v: v})
	}
	s.controlRoutes()
	return s, nil
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close removes the simulator's files. Calls after it fail.
func (s *Server) Close() error {
	if err := s.live.close(); err != nil {
		return fmt.Errorf("close the simulator: %w", err)
	}
	return s.spill.close()
}

// BaseURLs tells the base URL of every vendor for a server reached at root, such as http://127.0.0.1:8080.
func (s *Server) BaseURLs(root string) map[string]string {
	root = strings.TrimSuffix(root, "/")
	out := map[string]string{}
	for _, v := range vendors() {
		out[v.name] = root + v.base
	}
	return out
}

// newID makes an id that no other call of this simulator gets, and, under a clock that tests move, the same in every run.
func (s *Server) newID(vendor string, now time.Time) uint64 {
	return mix(hashString(s.opts.Seed, vendor) ^ mix(s.serial.Add(1)) ^ mix(uint64(now.UnixNano())))
}
