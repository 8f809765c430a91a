package crashtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/store"
)

// TestAKillOfOneOfTwoWorkersCostsNothing lets two workers share runs in PostgreSQL and kills one of them: the other takes
// up its work, and the end is that of one undisturbed process.
func TestAKillOfOneOfTwoWorkersCostsNothing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	all := slices.DeleteFunc(scenarios(), func(s scenario) bool { return len(s.then) > 0 || s.name == "many" })
	dirs := t.TempDir()
	courses := make([]course, len(all))
	each(len(all), func(i int) {
		dir := filepath.Join(dirs, all[i].name)
		var err error
		if courses[i], err = undisturbed(t.Context(), all[i], dir+"-alone", server.Database(t)); err != nil {
			t.Errorf("%s, undisturbed: %v", all[i].name, err)
			return
		}
		pair, err := twoWorkers(t.Context(), all[i], courses[i], nil, dir+"-pair", server.Database(t))
		if err != nil {
			t.Errorf("%s, two workers, undisturbed: %v", all[i].name, err)
		}
		courses[i].steps = []step{{passed: pair.passed}}
	})
	if t.Failed() {
		return
	}
	var proofs []proof
	for i := range all {
		proofs = append(proofs, spread(candidates(i, all[i], courses[i]), *postgres, len(all), i)...)
	}
	var mu sync.Mutex
	missed := 0
	each(len(proofs), func(i int) {
		p := proofs[i]
		p.scenario.bucket = i%2 == 1
		dir := filepath.Join(dirs, fmt.Sprint(i))
		defer os.RemoveAll(dir)
		e, err := twoWorkers(t.Context(), p.scenario, courses[p.which], &p.kills[0], dir, server.Database(t))
		if err == nil && !e.reached { // the other one was faster: the first moment of the sort comes to everybody
			again := p.kills[0].First()
			e, err = twoWorkers(t.Context(), p.scenario, courses[p.which], &again, dir+"-again", server.Database(t))
		}
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("%s (bucket: %v), one of two workers killed at %s: %v", p.name, p.scenario.bucket, p.kills[0], err)
		}
		if !e.reached {
			missed++
		}
	})
	t.Logf("killed one of two workers in %d runs (%d came to no kill) in %s", len(proofs), missed, time.Since(began).Round(time.Second))
	if missed > len(proofs)/2 {
		t.Errorf("%d of %d workers came to no kill: the proof sees too little", missed, len(proofs))
	}
}

// twoWorkers begins a run, lets two workers drive it, of which the first is killed at a point, and holds the end against
// that of an undisturbed run. It returns how the first worker ended.
func twoWorkers(ctx context.Context, sc scenario, want course, at *Point, dir, db string) (ended, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := open(dir, sc.study, db)
	if err != nil {
		return ended{}, err
	}
	defer s.close()
	if sc.bucket {
		s.shareBucket()
	}
	begun := Point{"ledger open run", 1, After}
	if e, err := s.assay(ctx, &begun, sc.commands()[0]...); err != nil || !e.reached {
		return ended{}, errors.Join(err, fmt.Errorf("the run was not begun: %s", e))
	}
	first, err := s.start(ctx, at, syscall.SIGKILL, "worker", "--home", s.home("first"))
	if err != nil {
		return ended{}, err
	}
	second, err := s.start(ctx, nil, 0, "worker", "--home", s.home("second"))
	if err != nil {
		return ended{}, err
	}
	gone := make(chan ended, 1)
	var lost error
	go func() {
		e, err := first.wait()
		lost = err
		gone <- e
	}()
	if err := s.closed(ctx); err != nil {
		_ = second.Process.Kill()
		o, _ := second.wait()
		return <-gone, fmt.Errorf("the run does not close: %w: %s", err, o)
	}
	_ = first.Process.Signal(syscall.SIGINT) // it may be dead
	_ = second.Process.Signal(syscall.SIGINT)
	e := <-gone
	o, err := second.wait()
	if err != nil || o.code != 0 && o.code != 130 {
		return e, errors.Join(err, fmt.Errorf("the other worker: %s", o))
	}
	got, err := s.state(ctx)
	if err != nil || lost != nil {
		return e, errors.Join(err, lost)
	}
	return e, errors.Join(same(want.state, got), s.sound(ctx), s.paid(ctx, 1, liveCalls(e.passed)+liveCalls(o.passed)), s.artifactsAreWhole(ctx))
}

// closed waits until the run is closed. The worker that closed it may not have lived to say so.
func (s *session) closed(ctx context.Context) error {
	l, err := s.ledger(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		runs, err := l.Runs(ctx, "", store.RunClosed)
		if err != nil || len(runs) > 0 {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
