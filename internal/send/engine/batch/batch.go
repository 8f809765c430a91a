// Package batch moves segments that travel as jobs: upload, intend, launch, poll, fetch, settle, and what is owed after.
package batch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/hold"
	"assay/internal/send/engine/reconcile"
	"assay/internal/send/inlay"
	"assay/internal/send/provider"
)

// Jobs moves segments that travel as jobs. It is safe for concurrent use.
type Jobs struct {
	from     *engine.Config
	leases   *hold.Leases
	auditor  *reconcile.Auditor
	settling chan struct{} // places of those that settle
	began    time.Time

	mu     sync.Mutex
	open   map[int64]time.Time // segments whose jobs are polled from here, and when next
	pruned time.Time           // when those that others poll were last forgotten
	absent map[int64]absence   // of segments whose job was looked for from here, and not seen
}

// absence is the first read of a process that did not see the job of a create call, by the process's own clock.
type absence struct {
	create int64
	first  time.Time
}

// absentFor returns how long this process knows that the job of the segment's last create call is not to be seen, by its own clock.
func (s *Jobs) absentFor(g store.Segment, here time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, ok := s.absent[g.No]; ok && a.create == g.Intends && g.Absents > 0 {
		return here.Sub(a.first)
	}
	s.absent[g.No] = absence{g.Intends, here}
	return 0
}

// settlingAtOnce is how many segments are read at a time: the keys of each are in memory, up to a hundred thousand of them.
const settlingAtOnce = 2

// NewJobs returns what moves the jobs of a process. The auditor does what was left to settled segments.
func NewJobs(from *engine.Config, leases *hold.Leases, auditor *reconcile.Auditor) *Jobs {
	return &Jobs{from: from, leases: leases, auditor: auditor,
		settling: make(chan struct{}, settlingAtOnce), began: from.Clock.Now(), open: map[int64]time.Time{}, absent: map[int64]absence{}}
}

// work is a segment under our lease that travels as a job.
type work struct {
	*hold.Work
	jobs *Jobs
	ids  map[assay.Sum]string // of files that its lines name; nil: not looked for
}

// Step does the one thing that the state of a segment asks for. It moves the segment, or sets when to look again.
func (s *Jobs) Step(ctx context.Context, held *hold.Work) error {
	w := &work{Work: held, jobs: s}
	err := step(ctx, w)
	if lost := (*assay.LostFileError)(nil); errors.As(err, &lost) {
		return w.StopLane(ctx, hold.LaneHeld(lost.Error()))
	}
	return err
}

func step(ctx context.Context, w *work) error {
	switch w.Seg.State {
	case store.Staged:
		return w.prepare(ctx)
	case store.Uploaded:
		return w.launch(ctx)
	case store.Intended:
		return w.find(ctx)
	case store.Launched:
		return w.check(ctx)
	case store.Ended:
		return w.fetch(ctx)
	case store.Fetched:
		return w.settle(ctx)
	case store.Settled:
		return w.lookLate(ctx)
	}
	return w.Ledger.Work.Wake(ctx, w.Lease, time.Time{}, string(w.Seg.Reason)) // nothing to do by itself
}

// at does something with a segment under its lease.
func (s *Jobs) at(ctx context.Context, segment int64, do func(ctx context.Context, w *work) error) error {
	return s.leases.Work(ctx, segment, func(ctx context.Context, w *hold.Work) error { return do(ctx, &work{Work: w, jobs: s}) })
}

// input returns the segment as Prepare and Launch need it.
func (w *work) input(ctx context.Context) (provider.BatchInput, error) {
	body := provider.Source{Size: w.Seg.InputBytes, SHA256: w.Seg.InputSHA256, Open: func() (io.ReadCloser, error) {
		return w.Files.Open(ctx, w.Run.ID, w.Seg.Input)
	}}
	if strings.HasSuffix(w.Seg.Input, inlay.Suffix) {
		var err error
		if body, err = inlaid(ctx, w, body); err != nil {
			return provider.BatchInput{}, err
		}
	}
	return provider.BatchInput{Stamp: w.Stamp(), Model: w.Seg.Model, Wire: w.Route.Wire, Count: int(w.Seg.Requests), Body: body,
		Note: w.Run.Note, By: w.Run.By}, nil
}

// inlaid returns a segment with the files that its requests show. They are read once to know how large it is.
func inlaid(ctx context.Context, w *work, kept provider.Source) (provider.Source, error) {
	out := provider.Source{Open: func() (io.ReadCloser, error) {
		f, err := kept.Open()
		if err != nil {
			return nil, err
		}
		show := func(sum assay.Sum) (io.ReadCloser, error) { return w.Planner.OpenShown(ctx, w.Run, sum) }
		lines := inlay.NewReader(f, w.Seg.Nonce, show, func(of inlay.Named) (string, error) {
			if id := w.ids[of.Sum]; id != "" {
				return id, nil
			}
			return "", fmt.Errorf("a file that a request shows is not at %s", w.Seg.Provider)
		})
		return struct {
			io.Reader
			io.Closer
		}{lines, both{lines, f}}, nil
	}}
	f, err := out.Open()
	if err != nil {
		return out, err
	}
	sum := sha256.New()
	out.Size, err = io.Copy(sum, f)
	out.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if err = errors.Join(err, f.Close()); err != nil {
		return out, fmt.Errorf("read segment s%d: %w", w.Seg.No, err)
	}
	return out, nil
}

// namedFiles lists the files that the lines of a segment name by ids.
func namedFiles(ctx context.Context, w *work) ([]inlay.Named, error) {
	if !strings.HasSuffix(w.Seg.Input, inlay.Suffix) || !hold.Keeps(w.Work) {
		return nil, nil
	}
	f, err := w.Files.Open(ctx, w.Run.ID, w.Seg.Input)
	if err != nil {
		return nil, err
	}
	all, err := inlay.Uploaded(f, w.Seg.Nonce)
	return all, errors.Join(err, f.Close())
}

// both closes two things.
type both [2]io.Closer

func (b both) Close() error { return errors.Join(b[0].Close(), b[1].Close()) }

// pollNext returns how long to wait before the next poll of the segment's job, given how many jobs are polled from here.
func (w *work) pollNext(age time.Duration) time.Duration {
	now := w.Clock.Now()
	j := w.jobs
	j.mu.Lock()
	j.open[w.Seg.No] = now
	j.prune(now)
	every := time.Duration(len(j.open)) * w.Timing.PollEach
	j.mu.Unlock()
	wait := max(w.Poll(age), every+w.Jitter(every/5))
	j.mu.Lock()
	j.open[w.Seg.No] = now.Add(wait)
	j.mu.Unlock()
	return wait
}

// prune forgets jobs that another process has polled when it was time: they are others' to count.
func (s *Jobs) prune(now time.Time) {
	if now.Sub(s.pruned) < s.from.Timing.PollMax {
		return
	}
	s.pruned = now
	for no, next := range s.open {
		if now.Sub(next) > s.from.Timing.PollMax {
			delete(s.open, no)
		}
	}
}

// Forget forgets a job that is not polled any more: it has ended, or waits for a person. Since when a job is looked for is
// kept for as long as it is looked for.
func (s *Jobs) Forget(g store.Segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, g.No)
	if g.State != store.Intended {
		delete(s.absent, g.No)
	}
}
