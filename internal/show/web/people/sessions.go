package people

import (
	"context"
	"net/http"
	"sync"
	"time"

	"assay/internal/assay"
	"assay/internal/find/analysis"
	"assay/internal/find/results/labels"
	"assay/internal/keep/store"
	"assay/internal/show/web/site"
)

// session is a person who labels at a stage.
type session struct {
	home   *site.Home
	run    store.Run
	panel  *labels.Panel
	key    sessionKey
	stage  string
	name   string // as the person wrote it
	person string // the judge that the person is
	choose string
}

type sessionKey struct {
	home                  *site.Home
	run                   int64
	stage, person, choose string
}

// sessions holds the queues of all sessions. Choosing tasks walks over the whole stage, so it is done for many at
// a time, in the background.
type sessions struct {
	now func() time.Time
	mu  sync.Mutex
	all map[sessionKey]*queue
}

// queue holds the tasks of one session.
type queue struct {
	tasks   []analysis.Task
	aside   map[assay.Key]bool // put aside, or nothing to see
	done    []analysis.Task    // labelled since the dashboard began, the last one last
	asked   bool               // tasks were chosen at least once
	empty   bool               // and nothing was left
	err     error
	planned int       // all that may be asked at this stage; 0: not counted yet
	told    string    // what the judge is told, as it was shown last
	toldAt  assay.Key // with which task it was shown first
	working chan struct{}
	used    time.Time
}

const (
	queueLength = 40
	maxSessions = 200
	maxAside    = 10_000
	maxUndo     = 100
)

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, all: map[sessionKey]*queue{}}
}

// queue returns the session's queue; the lock is held.
func (s *sessions) queue(at *session) *queue {
	p, ok := s.all[at.key]
	if !ok {
		if len(s.all) >= maxSessions {
			s.forget()
		}
		p = &queue{aside: map[assay.Key]bool{}}
		s.all[at.key] = p
	}
	p.used = s.now()
	return p
}

func (s *sessions) forget() {
	var oldest sessionKey
	var used time.Time
	for k, p := range s.all {
		if p.working == nil && (used.IsZero() || p.used.Before(used)) {
			oldest, used = k, p.used
		}
	}
	delete(s.all, oldest)
}

// next returns the task that comes next with its sheet; a nil sheet where nothing is left, or where it is being chosen.
func (s *sessions) next(ctx context.Context, at *session, patience time.Duration) (analysis.Task, *labels.Sheet, bool, error) {
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

// head returns the first task of the queue. An empty queue is filled; the caller waits for it at most so long.
func (s *sessions) head(ctx context.Context, at *session, patience time.Duration) (task *analysis.Task, waiting bool, err error) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		s.mu.Lock()
		p := s.queue(at)
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
func (s *sessions) choose(ctx context.Context, at *session, p *queue) {
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute)
	defer stop()
	s.mu.Lock()
	aside := map[assay.Key]bool{}
	for k := range p.aside {
		aside[k] = true
	}
	s.mu.Unlock()
	q := analysis.Queue{Person: at.person, Seed: 1, N: queueLength, Balanced: at.choose == chooseBalanced,
		Skip: func(k assay.Key) bool { return aside[k] }}
	var tasks []analysis.Task
	var err error
	if at.choose == chooseUncertain {
		q.Clear, err = labels.Clear(ctx, at.home.Reader, at.run, at.stage)
	}
	next := at.panel.People.Next
	if at.choose == chooseDiffering {
		next = at.panel.People.Differing
	}
	if err == nil {
		tasks, err = next(ctx, q)
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
func (s *sessions) drop(at *session, id assay.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.queue(at)
	p.take(id)
	if len(p.aside) < maxAside {
		p.aside[id] = true
	}
}

// take removes a task from the queue and returns it.
func (p *queue) take(id assay.Key) (analysis.Task, bool) {
	for i, t := range p.tasks {
		if t.ID == id {
			p.tasks = append(p.tasks[:i:i], p.tasks[i+1:]...)
			return t, true
		}
	}
	return analysis.Task{}, false
}

// errNotShown is the error of a form about another task than the next: it was sent twice, or is old.
var errNotShown = site.Refused(http.StatusConflict, "that one is not waiting any more: go back and judge the one that is shown")

func (s *sessions) skip(at *session, task string) error {
	id, err := assay.ParseKey(task)
	if err != nil {
		return site.Bad("%s", err)
	}
	s.drop(at, id)
	return nil
}

// keep stores the label of a task, by the key of a choice, which waits in the session's queue.
func (s *sessions) keep(ctx context.Context, at *session, task, choice string) error {
	id, err := assay.ParseKey(task)
	if err != nil {
		return site.Bad("%s", err)
	}
	s.mu.Lock()
	p := s.queue(at)
	t, ok := p.take(id)
	s.mu.Unlock()
	if !ok {
		return errNotShown
	}
	if err := at.panel.Say(ctx, t, at.person, choice); err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		p.tasks = append([]analysis.Task{t}, p.tasks...)
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
func (s *sessions) undo(ctx context.Context, at *session) error {
	s.mu.Lock()
	p := s.queue(at)
	if len(p.done) == 0 {
		s.mu.Unlock()
		return site.Bad("there is nothing to take back")
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

// unread reports whether what the judge is told was not shown with a task before this one.
func (s *sessions) unread(at *session, task assay.Key, told string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.queue(at)
	if p.told != told {
		p.told, p.toldAt = told, task
	}
	return p.toldAt == task
}

// planned returns the number of tasks at a session's stage; 0: not counted yet.
func (s *sessions) planned(at *session) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue(at).planned
}

// given returns how many labels a session gave since the dashboard began, and whether one can be taken back.
func (s *sessions) given(at *session) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.queue(at).done)
	return n, n > 0
}
