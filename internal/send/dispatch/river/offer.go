package river

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
)

// advance is the job to move a segment on.
type advance struct {
	Segment int64 `json:"segment"`
	After   int64 `json:"after,omitempty"` // a job for the same whose process seems to be dead
}

// Kind names the job.
func (advance) Kind() string { return "advance" }

// extend is the job to look at a run and make what can go out next.
type extend struct {
	Run   int64 `json:"run"`
	After int64 `json:"after,omitempty"`
}

// Kind names the job.
func (extend) Kind() string { return "extend" }

// job returns the job for a piece of work.
func (w work) job(after int64) queue.JobArgs {
	if w.segment != 0 {
		return advance{Segment: w.segment, After: after}
	}
	return extend{Run: w.run, After: after}
}

// once keeps a second job for the same work out while there is one that is not done.
func once() queue.UniqueOpts {
	return queue.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning,
		rivertype.JobStateScheduled,
	}}
}

// offering is work that is due, with the queue it travels in.
type offering struct {
	work  work
	queue string
	after int64
}

// offer makes sure that there is a job for everything in a list of what is due and held by no worker. A job that sleeps is
// woken. A job that seems to run belongs to a process that is gone, or is just beginning or ending: after a while another
// is put beside it, and whichever comes second finds nothing to do.
func (s *shift) offer(ctx context.Context, due []store.Work) error {
	var all []offering
	for _, w := range due {
		to := work{w.Run, w.Segment}
		name, err := s.route(ctx, to)
		if errors.Is(err, store.ErrNotFound) {
			continue // discarded since
		}
		if err != nil {
			return err
		}
		all = append(all, offering{work: to, queue: name})
	}
	for len(all) > 0 {
		block := all[:min(len(all), offerBlock)]
		again, err := s.insert(ctx, block)
		if err != nil {
			return fmt.Errorf("offer %d jobs: %w", len(block), err)
		}
		all = append(all[len(block):], again...)
	}
	return nil
}

// offerBlock is how many jobs are written at a time.
const offerBlock = 500

// insert writes jobs. It returns those that have to follow a dead one.
func (s *shift) insert(ctx context.Context, block []offering) ([]offering, error) {
	var params []queue.InsertManyParams
	for _, o := range block {
		params = append(params, queue.InsertManyParams{Args: o.work.job(o.after),
			InsertOpts: &queue.InsertOpts{Queue: o.queue, UniqueOpts: once()}})
	}
	results, err := s.client.InsertMany(ctx, params)
	if err != nil {
		return nil, err
	}
	var again []offering
	for i, r := range results {
		if !r.UniqueSkippedAsDuplicate {
			continue
		}
		switch there := r.Job; {
		case there.State == rivertype.JobStateRunning:
			if there.AttemptedAt != nil && time.Since(*there.AttemptedAt).Abs() > s.sweep {
				o := block[i]
				o.after = there.ID
				again = append(again, o)
			}
		case there.State != rivertype.JobStateAvailable || there.ScheduledAt.After(time.Now()):
			if _, err := s.client.JobRetry(ctx, there.ID); err != nil && !errors.Is(err, queue.ErrNotFound) {
				return nil, err
			}
		}
	}
	return again, nil
}

// route returns the queue in which work travels: that of the segment's provider, or of all providers of a run.
func (s *shift) route(ctx context.Context, w work) (string, error) {
	s.mu.Lock()
	name, ok := s.routes[w]
	s.mu.Unlock()
	if ok {
		return name, nil
	}
	if w.segment != 0 {
		g, err := s.Ledger.Reader.Segment(ctx, w.segment)
		if err != nil {
			return "", err
		}
		if name = segmentQueue(g.Provider); g.Mode == store.Live {
			name = liveQueue(g.Provider)
		}
	} else {
		providers, err := s.lanes(ctx, w.run)
		if err != nil {
			return "", err
		}
		judged, err := s.byProgram(ctx, w.run)
		if err != nil {
			return "", err
		}
		name = runQueue(providers, judged)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[w] = name
	return name, nil
}

// forget drops what is known of work that will not come again by itself.
func (s *shift) forget(w work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.routes, w)
}

// segmentQueue returns where the segments of a provider travel.
func segmentQueue(provider string) string { return queueName("segments", provider) }

// liveQueue returns where live segments of a provider travel: one may take hours, and keeps no other work from its place.
func liveQueue(provider string) string { return queueName("live", provider) }

// liveWorkers is how many live segments of a provider are asked at a time. They mostly wait.
const liveWorkers = 128

// runQueue returns where runs travel whose lanes are at some providers. Those in which a program judges travel apart.
func runQueue(providers []string, judged bool) string {
	kind := "runs"
	if judged {
		kind = "judged"
	}
	return queueName(kind, strings.Join(providers, "+"))
}

// queueName makes a name that a queue may have. Providers are named by people: the readable part is for people, and the
// hash distinguishes what looks alike.
func queueName(kind, of string) string {
	sum := sha256.Sum256([]byte(of))
	readable := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(of))
	return kind + "-" + readable[:min(len(readable), 24)] + "x" + hex.EncodeToString(sum[:6])
}

// lanes lists the providers of a run's lanes.
func (s *shift) lanes(ctx context.Context, run int64) ([]string, error) {
	s.mu.Lock()
	known, ok := s.providers[run]
	s.mu.Unlock()
	if ok {
		return known, nil
	}
	lanes, err := s.Ledger.Reader.Lanes(ctx, run)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, l := range lanes {
		names = append(names, l.Provider)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.providers[run] = names
	return names, nil
}

// serve listens to the queues of a run for which this process has the keys. A run that cannot be read is left to others,
// and tried again with the next sweep.
func (s *shift) serve(ctx context.Context, run int64) {
	s.mu.Lock()
	done := s.served[run]
	s.mu.Unlock()
	if done {
		return
	}
	missing, err := s.listen(ctx, run)
	if err != nil {
		if n := s.count(work{run: run}, err); n == 1 && ctx.Err() == nil {
			s.Log.Error("a run cannot be served from here", "run", s.id(run), "error", err)
		}
		return
	}
	if len(missing) > 0 {
		s.Log.Warn("no key here: other workers have to do it", "run", s.id(run), "providers", strings.Join(missing, ", "))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served[run] = true
}

// listen adds the queues of a run. It returns the providers whose keys are missing.
func (s *shift) listen(ctx context.Context, run int64) (missing []string, err error) {
	providers, err := s.lanes(ctx, run)
	if err != nil {
		return nil, err
	}
	e, err := s.engine(ctx, run)
	if err != nil {
		return nil, err
	}
	var hands []store.WorkerKey
	knows := true
	for _, name := range providers {
		a, err := e.Accounts(name)
		switch {
		case errors.Is(err, engine.ErrNoKey):
			knows, missing = false, append(missing, name)
			continue
		case err != nil:
			return nil, err
		case a.Missing != nil:
			missing = append(missing, name)
			continue
		}
		hands = append(hands, store.WorkerKey{Run: run, Provider: name, Account: a.Fingerprint})
		if err := errors.Join(s.add(segmentQueue(name), s.width()), s.add(liveQueue(name), liveWorkers)); err != nil {
			return nil, err
		}
	}
	judged, err := s.byProgram(ctx, run)
	if err != nil {
		return nil, err
	}
	if judged && s.Programs && knows && len(hands) > 0 {
		hands = append(hands, store.WorkerKey{Run: run, Provider: store.ProgramKey})
	}
	if judged && !s.Programs {
		s.Log.Warn("a program judges: a worker with --programs has to do it", "run", s.id(run))
	}
	s.mu.Lock()
	s.hands[run] = hands
	s.mu.Unlock()
	if !knows || len(hands) == 0 || judged && !s.Programs {
		return missing, nil
	}
	return missing, s.add(runQueue(providers, judged), s.width())
}

// byProgram reports whether a program judges in a run.
func (s *shift) byProgram(ctx context.Context, run int64) (bool, error) {
	s.mu.Lock()
	judged, known := s.judged[run]
	s.mu.Unlock()
	if known || s.Judged == nil {
		return judged, nil
	}
	r, err := s.Ledger.Reader.Run(ctx, run)
	if err != nil {
		return false, err
	}
	if judged, err = s.Judged(ctx, r); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.judged[run] = judged
	return judged, nil
}

// add begins to take jobs from a queue.
func (s *shift) add(name string, workers int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queues[name] {
		return nil
	}
	if err := s.client.Queues().Add(name, queue.QueueConfig{MaxWorkers: workers}); err != nil {
		// The client has it on its list all the same, and would not take it a second time.
		return fmt.Errorf("listen to queue %s: %w", name, errors.Join(err, s.client.Queues().Remove(s.ctx, name)))
	}
	s.queues[name] = true
	return nil
}
