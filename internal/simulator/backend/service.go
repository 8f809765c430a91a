// Package backend holds the parts that simulated providers share behind their wires: calls, files, jobs, results and limits.
//
// A Vendor registers its calls with Routes. A Call finds and keeps files and jobs of its account; a Job is a function
// of the clock, and its result lines are made when a call asks for them. How requests come in and results go out is the
// vendor's: it gives a Job a Format, and requests a Dialect.
package backend

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"assay/internal/simulator/bodies"
	"assay/internal/simulator/dice"
	"assay/internal/simulator/fault"
	"assay/internal/simulator/minds"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// Settings set how a service behaves.
type Settings struct {
	Seed    uint64
	Rate    float64       // requests of a job that complete per second; 0: all at once
	Latency time.Duration // of a live call
	Queue   time.Duration // how long a job waits before its first request runs; half of it is spent validating
	Window  time.Duration // after which a job expires; 0: the provider's own
	Dir     string        // where files are kept, in a folder of their own that Close removes; "": the system's temporary folder
	Limits  Limits

	Now       func() time.Time
	Faults    *fault.Book
	Rules     rules.Rules
	Responder minds.Responder
	Charged   func(bodies.Charge) // is called with every live answer that is billed; nil: nothing is
}

// Limits are those of an account. Zero is no limit, or the provider's own where it has one.
type Limits struct {
	Requests      int   // live requests a minute, per key
	Tokens        int   // live tokens a minute, per key
	Enqueued      int64 // prompt tokens that unfinished batches of one model may hold, per key
	BatchRequests int   // requests in one batch
	BatchLeast    int   // fewest requests in one batch
	BatchBytes    int64 // bytes of one batch
}

// Service is the state of a simulator that all vendors share. It is safe for concurrent use.
type Service struct {
	opts    Settings
	vendors []*Vendor
	spill   *spill.Folder
	live    *spill.Tally
	meter   *meterBook
	warm    *warmth
	primed  primed
	asked   *modelNames
	serial  atomic.Uint64

	mu       sync.Mutex
	jobs     []*Job              // in the order they were made
	jobByID  map[string]*Job     // by vendor, account and id
	files    []*File             // in the order they were made
	fileByID map[string]*File    // by vendor, account and id
	outputs  map[string]Output   // result files, by vendor, account and id
	sessions map[string]*Session // resumable uploads, by their own id
}

// New starts a service of these vendors. Close it to remove its files.
func New(o Settings, vendors []*Vendor) (*Service, error) {
	sp, err := spill.NewFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	live, err := spill.NewTally(sp)
	if err != nil {
		return nil, err
	}
	for i, v := range vendors {
		v.number = uint32(i + 1)
	}
	return &Service{
		opts: o, vendors: vendors, spill: sp, live: live, meter: newMeterBook(o.Limits), warm: newWarmth(), asked: newModelNames(),
		jobByID: map[string]*Job{}, fileByID: map[string]*File{}, outputs: map[string]Output{}, sessions: map[string]*Session{},
	}, nil
}

// Register adds the calls of every vendor to a mux. Those of one vendor are made when the first call for it comes: most simulators are
// asked for one or two of them.
func (s *Service) Register(mux *http.ServeMux) {
	for _, v := range s.vendors {
		own := sync.OnceValue(func() *http.ServeMux {
			m := http.NewServeMux()
			v.Routes(Routes{s: s, v: v, mux: m})
			return m
		})
		mux.HandleFunc(v.Prefix+"/", func(w http.ResponseWriter, r *http.Request) { own().ServeHTTP(w, r) })
	}
}

// Close removes the files. Calls after it fail.
func (s *Service) Close() error { return errors.Join(s.live.Close(), s.spill.Close()) }

// newID makes an id that no other call of this simulator gets, and, under a clock that tests move, the same in every run.
func (s *Service) newID(vendor string, now time.Time) uint64 {
	return dice.Mix(dice.Hash(s.opts.Seed, vendor) ^ dice.Mix(s.serial.Add(1)) ^ dice.Mix(uint64(now.UnixNano())))
}

// Jobs lists every job, deleted ones too, in the order they were made.
func (s *Service) Jobs() []*Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.jobs)
}

// Models lists the names of models that were asked, in no order.
func (s *Service) Models() []string { return s.asked.names() }

// EachLive calls f with every live question: its vendor, the digest of its body, and how often it was answered.
func (s *Service) EachLive(f func(vendor string, digest [16]byte, count int) error) error {
	return s.live.Each(func(a spill.Counted, n uint32) error { return f(s.vendors[a.Vendor-1].Name, a.Digest, int(n)) })
}

// primed holds the prompt caches of batches, which share nothing with those of live calls: prefixes that jobs have written.
type primed struct {
	mu sync.Mutex
	by map[uint64]prime
}

// prime is a prefix in the cache: until a moment, and from the end of a job on for as long as it is kept.
type prime struct {
	until time.Time
	job   *Job
}

// primeTime is how long batches keep a prefix that nobody reads.
const primeTime = time.Hour

// known returns the prefixes of a new job that jobs before it have written; it keeps its own from its end on.
func (p *primed) known(j *Job, now time.Time) map[uint64]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[uint64]bool{}
	for h := range j.prefixes {
		of := dice.Hash(h, j.Vendor.Name+" "+j.Account)
		had, ok := p.by[of]
		warm := ok && now.Before(had.until)
		if ok && had.job != nil {
			if at := had.job.At(now); at.Over() && at.Done > 0 && now.Before(at.Ended.Add(primeTime)) {
				warm = true
			}
		}
		next := prime{job: j}
		if warm {
			out[h], next.until = true, now.Add(primeTime)
		}
		if p.by == nil {
			p.by = map[uint64]prime{}
		}
		if ok || len(p.by) < 4096 {
			p.by[of] = next
		}
	}
	return out
}
