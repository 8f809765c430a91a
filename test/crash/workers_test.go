package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// TestAKillOfAllWorkersButOneCostsNothing lets workers share runs in PostgreSQL and kills all but one of them: the last takes
// up their work, and the end is that of one undisturbed process. Every second run has its artifacts in a bucket, and the workers
// share no disk.
func TestAKillOfAllWorkersButOneCostsNothing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	all := slices.DeleteFunc(scenarios(), func(s scenario) bool { return len(s.then) > 0 || s.name == "many" })
	if *postgres > 0 {
		all = all[max(0, len(all)-*postgres):] // the studies that do most
	}
	dirs := t.TempDir()
	courses := make([]course, len(all))
	each(len(all), func(i int) {
		dir := filepath.Join(dirs, all[i].name)
		var err error
		if courses[i], err = undisturbed(t.Context(), all[i], dir+"-alone", server.Database(t)); err != nil {
			t.Errorf("%s, undisturbed: %v", all[i].name, err)
			return
		}
		pair, err := all[i].share(t.Context(), courses[i], make([]*Point, 1), dir+"-pair", server.Database(t))
		if err != nil {
			t.Errorf("%s, two workers, undisturbed: %v", all[i].name, err)
			return
		}
		courses[i].steps = []step{{passed: pair[0].passed}}
	})
	if t.Failed() {
		return
	}
	var proofs []proof
	for i := range all {
		proofs = append(proofs, spread(candidates(i, all[i], courses[i]), *postgres, len(all), i)...)
	}
	rng := rand.New(rand.NewPCG(*seed, 7))
	for i := range proofs {
		passed := courses[proofs[i].which].steps[0].passed
		for len(proofs[i].kills) < *workers-1 {
			proofs[i].kills = append(proofs[i].kills, passed[rng.IntN(len(passed))])
		}
	}
	var mu sync.Mutex
	kills, missed := 0, 0
	each(len(proofs), func(i int) {
		p := proofs[i]
		p.scenario.bucket = i%2 == 1
		dir := filepath.Join(dirs, fmt.Sprint(i))
		defer os.RemoveAll(dir)
		n, err := p.killShared(t, courses[p.which], dir)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("%s (bucket: %v), workers killed at %v: %v", p.name, p.scenario.bucket, p.kills, err)
		}
		if kills += n; n == 0 {
			missed++
		}
	})
	t.Logf("killed %d of %d workers each in %d runs, %d kills (%d runs came to none) in %s", *workers-1, *workers, len(proofs), kills,
		missed, time.Since(began).Round(time.Second))
	if missed > len(proofs)/2 {
		t.Errorf("%d of %d runs came to no kill: the proof sees too little", missed, len(proofs))
	}
}

// killShared has workers share a run, each but the last with its kill. It returns how many came to theirs.
func (p proof) killShared(t *testing.T, want course, dir string) (reached int, err error) {
	count := func(all []ended) (n int) {
		for _, e := range all {
			if e.reached {
				n++
			}
		}
		return n
	}
	var at, first []*Point
	for _, k := range p.kills {
		again := k.First()
		at, first = append(at, &k), append(first, &again)
	}
	all, err := p.share(t.Context(), want, at, dir, server.Database(t))
	if n := count(all); err != nil || n > 0 {
		return n, err
	}
	// The others were faster. The first moment of a sort comes to every worker that gets a part of the work.
	for range 4 {
		all, err = p.share(t.Context(), want, first, dir+"-again", server.Database(t))
		if n := count(all); err != nil || n > 0 {
			return n, err
		}
	}
	return 0, nil
}

// share begins a run, lets one worker more drive it than there are kills, and holds the end against that of an undisturbed run.
// It returns how the workers ended.
func (sc scenario) share(ctx context.Context, want course, kills []*Point, dir, db string) ([]ended, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	defer os.RemoveAll(dir)
	s, err := sc.begun(ctx, dir, db)
	if err != nil {
		return nil, err
	}
	defer s.close()
	n := len(kills) + 1
	ends, errs := make([]ended, n), make([]error, n)
	var all []*child
	var wg sync.WaitGroup
	for i, at := range append(slices.Clone(kills), nil) {
		c, err := s.start(ctx, at, syscall.SIGKILL, "worker", "--home", s.home(fmt.Sprint("worker-", i)))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		wg.Go(func() { ends[i], errs[i] = c.wait() })
	}
	how := syscall.SIGINT
	open := s.closed(ctx)
	if open != nil {
		how = syscall.SIGKILL
	}
	for _, c := range all {
		_ = c.Process.Signal(how) // it may be dead
	}
	wg.Wait()
	last := ends[n-1]
	if open != nil {
		return ends, fmt.Errorf("the run does not close: %w: %s", open, last)
	}
	if err := errors.Join(errs...); err != nil || last.code != 0 && last.code != 130 {
		return ends, errors.Join(err, fmt.Errorf("the last worker: %s", last))
	}
	began := 0
	for _, e := range ends {
		began += liveCalls(e.passed)
	}
	got, err := s.state(ctx)
	if err != nil {
		return ends, err
	}
	return ends, errors.Join(same(want.state, got), s.sound(ctx), s.paid(ctx, len(kills), began), s.artifactsAreWhole(ctx))
}

// begun returns a run for workers that no process has driven yet.
func (sc scenario) begun(ctx context.Context, dir, db string) (*session, error) {
	s, err := open(dir, sc.study, db)
	if err != nil {
		return nil, err
	}
	if sc.bucket {
		s.shareBucket()
	}
	e, err := s.assay(ctx, &Point{"ledger open run", 1, After}, sc.commands()[0]...)
	if err == nil && !e.reached {
		err = fmt.Errorf("the run was not begun: %s", e)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// closed waits until the run is closed. The worker that closed it may not have lived to report that.
func (s *session) closed(ctx context.Context) error {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		closed := 0
		err := s.look(ctx, func(l *ledger.Ledger) error {
			runs, err := l.Reader.Runs(ctx, "", store.RunClosed)
			closed = len(runs)
			return err
		})
		if err != nil || closed > 0 {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
