package river

import (
	"context"
	"errors"
	"fmt"
	"time"

	queue "github.com/riverqueue/river"

	"assay/internal/keep/store"
	"assay/internal/send/engine"
	"assay/internal/send/engine/live"
	"assay/internal/send/engine/runs"
)

type advancer struct {
	queue.WorkerDefaults[advance]
	*shift
}

// Work moves a segment as far as it can go now.
func (a *advancer) Work(ctx context.Context, job *queue.Job[advance]) error {
	g, err := a.Ledger.Reader.Segment(ctx, job.Args.Segment)
	if errors.Is(err, store.ErrNotFound) {
		return nil // discarded: nothing of it had left
	}
	if err != nil {
		return a.unread(ctx, err)
	}
	return a.do(ctx, work{g.Run, g.No}, g.Due, func(e *runs.Engine) error {
		ctx, done := a.untilStop(ctx, g.Mode)
		defer done()
		return e.Advance(ctx, g.No)
	})
}

// untilStop returns a context that ends at once when the process is to stop, for work that may take long. Batches are left to
// finish their step: a create call that is cut off has to be looked for afterwards.
func (s *shift) untilStop(ctx context.Context, mode store.SegmentMode) (context.Context, func()) {
	if mode == store.Batch {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	off := context.AfterFunc(s.ctx, cancel)
	return ctx, func() { off(); cancel() }
}

type extender struct {
	queue.WorkerDefaults[extend]
	*shift
}

// Work extends a run, and offers what it made.
func (x *extender) Work(ctx context.Context, job *queue.Job[extend]) error {
	r, err := x.Ledger.Reader.Run(ctx, job.Args.Run)
	if err != nil {
		return x.unread(ctx, err)
	}
	return x.do(ctx, work{run: r.No}, r.Due, func(e *runs.Engine) error {
		st, err := e.Extend(ctx, r.No)
		if err == nil && st.Closed && x.Closed != nil {
			r.State, r.Result = store.RunClosed, st.Result
			x.Closed(ctx, r)
		}
		return err
	})
}

// early is how much before its time a job may come: clocks differ.
const early = time.Second

// do does one piece of work that is due, and snoozes its job until it is to come back. A job that finds nothing to do
// ends: another worker has moved the work on, and has a job for what comes next, or the sweep makes one.
func (s *shift) do(ctx context.Context, w work, due time.Time, step func(e *runs.Engine) error) error {
	switch wait := due.Sub(s.Clock.Now()); {
	case due.IsZero() || wait > early:
		return nil
	case wait > 0:
		return queue.JobSnooze(wait)
	}
	if !s.begin(w) {
		return nil
	}
	defer s.end(w)
	e, err := s.engine(ctx, w.run)
	if err == nil {
		err = step(e)
	}
	var held *store.HeldError
	var lost *live.LostAnswersError
	switch {
	case err == nil, errors.Is(err, engine.ErrOtherKey):
		s.forgive(w)
		return s.done(ctx, w)
	case ctx.Err() != nil || s.ctx.Err() != nil:
		return queue.JobSnooze(0) // for the worker that goes on
	case errors.Is(err, engine.ErrNoKey):
		return queue.JobSnooze(s.Timing.Lease) // for the worker that has it
	case (errors.As(err, &held) || errors.Is(err, store.ErrLeaseLost)) && !errors.As(err, &lost):
		return queue.JobSnooze(s.sweep)
	}
	return s.stumble(ctx, w, e, err)
}

// begin enters work that this process is about to do; false: it is at it. A process may take its own lease again, so the
// lease does not keep two jobs of one process apart.
func (s *shift) begin(w work) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[w] {
		return false
	}
	s.busy[w] = true
	return true
}

func (s *shift) end(w work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, w)
}

// done offers what a step made possible, and puts its job to sleep until its work is due again.
func (s *shift) done(ctx context.Context, w work) error {
	due, run, err := s.after(ctx, w)
	if err != nil {
		return s.unread(ctx, err)
	}
	var offers []store.Work
	switch {
	case w.segment == 0:
		offers, err = s.Ledger.Leases.Due(ctx, w.run, offerBlock)
	case !run.Due.IsZero() && !run.Due.After(s.Clock.Now()):
		offers = []store.Work{{Run: w.run}}
	}
	if err == nil {
		err = s.offer(ctx, offers)
	}
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("what comes next waits for the sweep", "error", err)
	}
	if due.IsZero() {
		s.forget(w)
		return nil
	}
	return queue.JobSnooze(max(due.Sub(s.Clock.Now()), 0))
}

// after reads when work is due next, and its run.
func (s *shift) after(ctx context.Context, w work) (time.Time, store.Run, error) {
	run, err := s.Ledger.Reader.Run(ctx, w.run)
	if err != nil || w.segment == 0 {
		return run.Due, run, err
	}
	g, err := s.Ledger.Reader.Segment(ctx, w.segment)
	return g.Due, run, err
}

// unread puts a job back whose work could not be read: the database is away.
func (s *shift) unread(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		s.Log.Error("the ledger cannot be read; it is tried again", "error", err)
	}
	return queue.JobSnooze(s.sweep)
}

// engine returns the engine of a run, made once.
func (s *shift) engine(ctx context.Context, run int64) (*runs.Engine, error) {
	s.mu.Lock()
	e, ok := s.engines[run]
	s.mu.Unlock()
	if ok {
		return e, nil
	}
	r, err := s.Ledger.Reader.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if e, err = s.Engine(ctx, r); err != nil {
		return nil, fmt.Errorf("an engine for run %s: %w", r.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids[run] = r.ID
	if first, ok := s.engines[run]; ok { // one holder for all work of a process
		return first, nil
	}
	s.engines[run] = e
	return e, nil
}

// stumble is how often work went wrong in a row.
type stumble struct {
	times int64
	text  string
}

// count enters a failure and returns how often this very one has come in a row.
func (s *shift) count(w work, err error) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.stumbles[w]
	if was.text != err.Error() {
		was = stumble{text: err.Error()}
	}
	was.times++
	s.stumbles[w] = was
	return was.times
}

func (s *shift) forgive(w work) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.stumbles, w)
}

// stumble decides about an error that the engine could not decide about. It goes into the run's history, once for each
// text, and the ledger records the wait, so that no other worker runs into the same at once.
func (s *shift) stumble(ctx context.Context, w work, e *runs.Engine, cause error) error {
	times := s.count(w, cause)
	wait := min(s.Timing.BackoffMin<<min(times, 20), s.Timing.BackoffMax)
	s.Log.Error("a step did not work; it is tried again", "run", s.id(w.run), "segment", w.segment, "times", times,
		"wait", wait, "error", cause)
	var err error
	if times == 1 {
		err = s.Ledger.Work.Note(ctx, w.run, w.segment, "worker", cause.Error())
	}
	if err := errors.Join(err, s.delay(ctx, w, e, s.Clock.Now().Add(wait), cause)); err != nil && ctx.Err() == nil {
		s.Log.Error("the wait could not be recorded", "error", err)
	}
	return queue.JobSnooze(wait)
}

// delay makes work due later.
func (s *shift) delay(ctx context.Context, w work, e *runs.Engine, at time.Time, cause error) error {
	if w.segment == 0 {
		return s.Ledger.Leases.RunDue(ctx, w.run, at)
	}
	if e == nil {
		return nil // no engine, no holder: the job itself waits
	}
	l, err := s.Ledger.Leases.HoldSegment(ctx, w.segment, e.Holder, s.Timing.Lease)
	if err != nil {
		return err
	}
	return errors.Join(s.Ledger.Work.RetryLater(ctx, l, store.Later{Due: at, Reason: cause.Error()}), s.Ledger.Leases.Release(ctx, l))
}
