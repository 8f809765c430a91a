package crash

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/send/engine"
)

// network is a way to the providers that a test can block.
type network func(r *http.Request, pass func() (*http.Response, error)) (*http.Response, error)

func (n network) through(inner http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		return n(r, func() (*http.Response, error) { return inner.RoundTrip(r) })
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestACreateThatArrivesLateIsNotPaidTwice keeps a create call on its way until the run is over, and then lets it arrive.
func TestACreateThatArrivesLateIsNotPaidTwice(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single")
	late := s.delayed("/batches")
	s.exits(0, []string{"run", "study.yaml", "--yes", "--no-canary", "--lane", "gpt"}, "3 of 3 requests have an answer")
	late()
	s.control("POST", "/sim/clock", `{"advance":"48h"}`)
	s.whole()
	s.exits(0, []string{"resume"})
	if doubles, err := s.rows(t.Context(), "SELECT text FROM events WHERE kind = 'double'"); err != nil || len(doubles) > 0 {
		t.Errorf("a job that did nothing is called a double: %v, %v", doubles, err)
	}
}

// TestCallsThatAreNeverAnsweredDoNotStopARun lets looks at jobs hang, more of them than there are places to work at.
func TestCallsThatAreNeverAnsweredDoNotStopARun(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single")
	s.timing = func(t engine.Timing) engine.Timing {
		t = Hasty(t)
		t.Call, t.Stall = time.Second, 2*time.Second // a call that takes longer is one more that hangs, and the run gets over it
		return t
	}
	var mu sync.Mutex
	hung := 0
	s.via = network(func(r *http.Request, pass func() (*http.Response, error)) (*http.Response, error) {
		mu.Lock()
		hangs := hung < 4 && r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/batches/")
		if hangs {
			hung++
		}
		mu.Unlock()
		if !hangs {
			return pass()
		}
		<-r.Context().Done()
		return nil, r.Context().Err()
	}).through
	s.exits(0, []string{"run", "study.yaml", "--yes", "--no-canary"}, "9 of 9 requests have an answer")
	if hung != 4 {
		t.Errorf("%d calls hung", hung)
	}
	s.whole()
}

// TestStatusSaysWhatHasStoodStill has a provider that answers no look at its jobs.
func TestStatusSaysWhatHasStoodStill(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single", "openai check 503")
	s.exits(0, []string{"run", "study.yaml", "--yes", "--no-canary", "--lane", "gpt", "--detach"})
	for still := []string{}; len(still) == 0; {
		s.here(t.Context(), "resume", "--once")
		var err error
		still, err = s.rows(t.Context(), "SELECT no FROM segments WHERE still_ms IS NOT NULL")
		s.ok(err)
	}
	s.exits(0, []string{"status"}, "looking at the job: ", "(no call has succeeded for ")
	s.exits(0, []string{"status", "--json"}, `"still": [`)
	s.control("DELETE", "/sim/faults", "")
	s.exits(0, []string{"resume"}, "3 of 3 requests have an answer")
	s.whole()
}

// TestWhatWasBilledTwiceIsShown lets a create call arrive after the run is over at a provider where nothing can be called back.
func TestWhatWasBilledTwiceIsShown(t *testing.T) {
	t.Parallel()
	s := newScene(t, "single")
	late := s.delayed("/messages/batches")
	e := s.here(t.Context(), "run", "study.yaml", "--yes", "--no-canary", "--lane", "claude")
	if s.said(0, e, "3 of 3 requests have an answer"); !e.owed {
		t.Error("nothing is owed")
	}
	s.exits(0, []string{"runs"}, "waiting")
	late()
	s.control("POST", "/sim/clock", `{"advance":"48h"}`)
	for audited := []string{}; len(audited) == 0; {
		s.exits(0, []string{"status", "--refresh"})
		var err error
		audited, err = s.rows(t.Context(), "SELECT no FROM segments WHERE audited = lost_creates AND audited > 0")
		s.ok(err)
	}
	s.exits(0, []string{"status"}, "Jobs that were made twice", "3 requests of its 3 were done, and are billed twice")
	s.exits(0, []string{"status", "--json"}, `"doubles": [`)
}

// delayed keeps the first create call under a path on its way. What it returns lets the call arrive.
func (s scene) delayed(path string) (arrive func()) {
	s.Helper()
	var mu sync.Mutex
	var late *http.Request
	var body []byte
	s.via = network(func(r *http.Request, pass func() (*http.Response, error)) (*http.Response, error) {
		mu.Lock()
		first := late == nil && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, path)
		if first {
			late = r
			body, _ = io.ReadAll(r.Body)
		}
		mu.Unlock()
		if !first {
			return pass()
		}
		<-r.Context().Done()
		return nil, r.Context().Err()
	}).through
	return func() {
		s.Helper()
		again, err := http.NewRequestWithContext(s.Context(), late.Method, late.URL.String(), bytes.NewReader(body))
		s.ok(err)
		again.Header = late.Header
		resp, err := s.sim.Transport().RoundTrip(again)
		s.ok(err)
		resp.Body.Close()
	}
}
