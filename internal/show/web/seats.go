package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/labels"
	"assay/internal/keep/store"
)

// seat is a person at a stage.
type seat struct {
	home   *Home
	run    store.Run
	panel  *labels.Panel
	key    seatKey
	stage  string
	name   string // as the person wrote it
	person string // the judge that the person is
	choose string
}

type seatKey struct {
	home                  *Home
	run                   int64
	stage, person, choose string
}

// seats holds what everybody who judges is asked next. Choosing walks over all that a stage is about, so it is done for
// many tasks at a time, in the background.
type seats struct {
	now func() time.Time
	mu  sync.Mutex
	all map[seatKey]*place
}

// place is the queue of one seat.
type place struct {
	tasks   []analysis.Task
	aside   map[assay.Key]bool // put aside, or nothing to see
	done    []analysis.Task    // labelled since the dashboard began, the last one last
	asked   bool               // tasks were chosen at least once
	empty   bool               // and nothing was left
	err     error
	planned int // all that may be asked at this stage; 0: not counted yet
	working chan struct{}
	used    time.Time
}

const (
	queueLength = 40
	maxSeats    = 200
	maxAside    = 10_000
	maxUndo     = 100
)

func newSeats(now func() time.Time) *seats { return &seats{now: now, all: map[seatKey]*place{}} }

// place returns the seat's queue; the lock is held.
func (s *seats) place(at *seat) *place {
	p, ok := s.all[at.key]
	if !ok {
		if len(s.all) >= maxSeats {
			s.forget()
		}
		p = &place{aside: map[assay.Key]bool{}}
		s.all[at.key] = p
	}
	p.used = s.now()
	return p
}

func (s *seats) forget() {
	var oldest seatKey
	var used time.Time
	for k, p := range s.all {
		if p.working == nil && (used.IsZero() || p.used.Before(used)) {
			oldest, used = k, p.used
		}
	}
	delete(s.all, oldest)
}

// next returns the task that comes next with its sheet; a nil sheet where nothing is left, or where it is being chosen.
func (s *seats) next(ctx context.Context, at *seat, patience time.Duration) (analysis.Task, *labels.Sheet, bool, error) {
	for {
		task, waiting, err := s.head(ctx, at, patience)
		if err != nil || waiting || task == nil {
			return analysis.Task{}, nil, waiting, err
		}
		sheet, ok, err := at.panel.Sheet(ctx, *task)
		if err != nil {
			return *task, nil, false, err
		}
		if ok {
			return *task, &sheet, false, nil
		}
		s.drop(at, task.ID)
	}
}

// head returns the first task of the queue. An empty queue is filled; who asks waits for it as long as they have
// patience.
func (s *seats) head(ctx context.Context, at *seat, patience time.Duration) (task *analysis.Task, waiting bool, err error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		p := s.place(at)
		switch {
		case len(p.tasks) > 0:
			t := p.tasks[0]
			s.mu.Unlock()
			return &t, false, nil
		case p.err != nil:
			err, p.err, p.asked = p.err, nil, false
			s.mu.Unlock()
			return nil, false, err
		case p.asked && p.empty:
			p.asked = false // look again at the next request: there may be new answers
			s.mu.Unlock()
			return nil, false, nil
		case p.working == nil:
			p.working = make(chan struct{})
			go s.choose(context.WithoutCancel(ctx), at, p)
		}
		working := p.working
		s.mu.Unlock()
		select {
		case <-working:
		case <-deadline.C:
			return nil, true, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// choose fills a queue.
func (s *seats) choose(ctx context.Context, at *seat, p *place) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	s.mu.Lock()
	aside := map[assay.Key]bool{}
	for k := range p.aside {
		aside[k] = true
	}
	s.mu.Unlock()
	q := analysis.Queue{Person: at.person, Seed: 1, N: queueLength, Skip: func(k assay.Key) bool { return aside[k] }}
	var tasks []analysis.Task
	var err error
	if at.choose == chooseUncertain {
		q.Clear, err = labels.Clear(ctx, at.home.Reader, at.run, at.stage)
	}
	if err == nil {
		tasks, err = at.panel.People.Next(ctx, q)
	}
	s.mu.Lock()
	planned := p.planned
	s.mu.Unlock()
	if err == nil && planned == 0 {
		planned, err = at.panel.Count(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.planned = planned
	p.tasks, p.err, p.asked, p.empty = tasks, err, true, len(tasks) == 0
	close(p.working)
	p.working = nil
}

// drop takes a task out of a queue for good.
func (s *seats) drop(at *seat, id assay.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.place(at)
	p.take(id)
	if len(p.aside) < maxAside {
		p.aside[id] = true
	}
}

// take removes a task from the queue and returns it.
func (p *place) take(id assay.Key) (analysis.Task, bool) {
	for i, t := range p.tasks {
		if t.ID == id {
			p.tasks = append(p.tasks[:i:i], p.tasks[i+1:]...)
			return t, true
		}
	}
	return analysis.Task{}, false
}

// errNotShown is what a form says that is about another task than the next: it was sent twice, or is old.
var errNotShown = &problem{http.StatusConflict, "that one is not waiting any more: go back and judge the one that is shown"}

func (s *seats) skip(at *seat, task string) error {
	id, err := assay.ParseKey(task)
	if err != nil {
		return bad("%s", err)
	}
	s.drop(at, id)
	return nil
}

// errReplaced is what a form says whose answer was replaced while it was read.
var errReplaced = &problem{http.StatusConflict, "the study was changed while this was shown, and the answer is another by now: the label was not kept; go back and judge what is shown then"}

// heard is what a form says: the task, the key of a choice, and what was shown.
type heard struct{ task, key, seen string }

// say keeps what was said about a task that waits in the seat's queue.
func (s *seats) say(ctx context.Context, at *seat, said heard) error {
	id, err := assay.ParseKey(said.task)
	if err != nil {
		return bad("%s", err)
	}
	s.mu.Lock()
	p := s.place(at)
	t, ok := p.take(id)
	s.mu.Unlock()
	if !ok {
		return errNotShown
	}
	if err := at.panel.Say(ctx, t, at.person, said.key, said.seen); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.tasks = append([]analysis.Task{t}, p.tasks...)
		if errors.Is(err, store.ErrReplaced) {
			return errReplaced
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.done = append(p.done, t); len(p.done) > maxUndo {
		p.done = p.done[1:]
	}
	return nil
}

// undo takes the last label back, and asks about it again.
func (s *seats) undo(ctx context.Context, at *seat) error {
	s.mu.Lock()
	p := s.place(at)
	if len(p.done) == 0 {
		s.mu.Unlock()
		return bad("there is nothing to take back")
	}
	t := p.done[len(p.done)-1]
	p.done = p.done[:len(p.done)-1]
	s.mu.Unlock()
	if err := at.panel.Withdraw(ctx, t, at.person); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p.tasks = append([]analysis.Task{t}, p.tasks...)
	return nil
}

// planned returns how much may be asked at a seat's stage; 0: not counted yet.
func (s *seats) planned(at *seat) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.place(at).planned
}

// given returns how many labels were given at a seat since the dashboard began, and whether one can be taken back.
func (s *seats) given(at *seat) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.place(at).done)
	return n, n > 0
}
