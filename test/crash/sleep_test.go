package crash

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
)

// stopAt starts a command and returns when it has stopped itself at a point.
func (s *session) stopAt(ctx context.Context, at Point, args ...string) (*child, error) {
	c, err := s.start(ctx, &at, syscall.SIGSTOP, args...)
	if err != nil {
		return nil, err
	}
	var st syscall.WaitStatus
	for {
		_, err := syscall.Wait4(c.Process.Pid, &st, syscall.WUNTRACED, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err == nil && !st.Stopped() {
			err = fmt.Errorf("it ended before %s: %s%s", at, c.out.String(), c.err.String())
		}
		return c, err
	}
}

// wake lets a stopped process go on, to its end.
func (c *child) wake() (ended, error) {
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		return ended{}, err
	}
	return c.wait()
}

// nap is a process that is stopped while it has work, until another process has done the work.
type nap struct {
	study, lane string // one lane alone: a process that sleeps inside a transaction of SQLite locks the ledger for all
	at          Point
	db          string
	workers     bool // workers that share a database and a bucket, and no disk
}

// String names the nap in errors.
func (n nap) String() string {
	return fmt.Sprintf("%s %s, asleep at %s (database %q, workers %v)", n.study, n.lane, n.at, n.db, n.workers)
}

// TestAProcessThatSleptThroughItsLeaseDoesNoHarm stops a process at moments that matter, lets another one take its work
// over and finish it, and wakes the first: it finds that the work is not its own any more.
func TestAProcessThatSleptThroughItsLeaseDoesNoHarm(t *testing.T) {
	t.Parallel()
	all := half(batchNaps(), *naps)
	each(len(all), func(i int) {
		if err := all[i].sleepThrough(t.Context(), t.TempDir()); err != nil {
			t.Errorf("%s: %v", all[i], err)
		}
	})
}

func batchNaps() []nap {
	return []nap{
		{study: "single", lane: "gpt", at: Point{"ledger stage", 1, Before}},
		{study: "single", lane: "gpt", at: Point{"ledger intend", 1, Before}},
		{study: "single", lane: "gpt", at: Point{"ledger intend", 1, After}},
		{study: "single", lane: "claude", at: Point{"ledger intend", 1, After}},
		{study: "single", lane: "gpt", at: Point{"POST /openai/v1/batches", 1, Before}},
		{study: "single", lane: "claude", at: Point{"POST /anthropic/v1/messages/batches", 1, Before}},
		{study: "single", lane: "gpt", at: Point{"POST /openai/v1/batches", 1, Accepted}},
		{study: "single", lane: "flash", at: Point{"POST /gemini/v1beta/models/*:batchGenerateContent", 1, Before}},
		{study: "single", lane: "claude", at: Point{"POST /anthropic/v1/messages/batches", 1, Accepted}},
		{study: "single", lane: "flash", at: Point{"ledger launched", 1, Before}},
		{study: "single", lane: "gpt", at: Point{"ledger ended", 1, After}},
		{study: "single", lane: "gpt", at: Point{"ledger settle", 1, Before}},
		{study: "single", lane: "claude", at: Point{"ledger settle", 1, After}},
		{study: "single", lane: "flash", at: Point{"ledger finish", 1, Before}},
		{study: "single", lane: "gpt", at: Point{"ledger close run", 1, Before}},
	}
}

// liveNaps begin with one that may be inside a transaction: a process that sleeps there locks a ledger in SQLite for others.
func liveNaps() []nap {
	return []nap{
		{study: "flood", lane: "claude", at: Point{"POST /anthropic/v1/messages", 31, Accepted}}, // three at a time
		{study: "flood", lane: "claude", at: Point{"ledger settle", 1, Before}},
		{study: "flood", lane: "claude", at: Point{"ledger settle", 1, After}},
		{study: "flood", lane: "claude", at: Point{"ledger finish", 1, Before}},
	}
}

// TestAWorkerThatSleptThroughItsLeaseDoesNoHarm does the same to workers that share a PostgreSQL and a bucket.
func TestAWorkerThatSleptThroughItsLeaseDoesNoHarm(t *testing.T) {
	t.Parallel()
	all := slices.Concat(liveNaps()[:1], batchNaps()[9:10], batchNaps()[2:3], liveNaps()[1:], batchNaps()[:2], batchNaps()[3:9],
		batchNaps()[10:])
	if *naps > 0 {
		all = all[:*naps]
	}
	each(len(all), func(i int) {
		n := all[i]
		n.db, n.workers = server.Database(t), true
		if err := n.sleepThrough(t.Context(), t.TempDir()); err != nil {
			t.Errorf("%s: %v", n, err)
		}
	})
	t.Logf("%d workers slept", len(all))
}

// TestALiveProcessThatSleptThroughItsLeaseSendsNothing stops a process in the middle of live requests, lets another one take
// them over and finish, and wakes the first: it sends nothing more, and harms no answer.
func TestALiveProcessThatSleptThroughItsLeaseSendsNothing(t *testing.T) {
	t.Parallel()
	all := liveNaps()
	for i := range all {
		all[i].db = server.Database(t)
	}
	if others := liveNaps()[1:]; *naps == 0 {
		all = append(all, others...)
	} else { // the two databases by turns
		all[1], all[3] = others[0], others[2]
	}
	each(len(all), func(i int) {
		if err := all[i].sleepThrough(t.Context(), t.TempDir()); err != nil {
			t.Errorf("%s: %v", all[i], err)
		}
	})
}

func (n nap) sleepThrough(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	args := []string{"--no-canary", "--lane", n.lane}
	var s *session
	var err error
	first, second := append([]string{"run", "study.yaml", "--yes"}, args...), []string{"resume"}
	if n.workers {
		if s, err = (scenario{study: n.study, args: args, bucket: true}).begun(ctx, dir, n.db); err != nil {
			return err
		}
		first, second = []string{"worker", "--home", s.home("first")}, []string{"worker", "--home", s.home("second")}
	} else if s, err = open(dir, n.study, n.db); err != nil {
		return err
	}
	defer s.close()
	sleeper, err := s.stopAt(ctx, n.at, first...)
	if err != nil {
		return err
	}
	before, err := sleeper.passedBy()
	if err != nil {
		return err
	}
	other, err := s.start(ctx, nil, 0, second...)
	if err != nil {
		return err
	}
	e, err := s.finished(ctx, other, n.workers)
	if err == nil {
		err = sleeper.Process.Signal(syscall.SIGCONT)
	}
	if err == nil && n.workers {
		err = sleeper.goesOn(ctx, len(before)+6)
	}
	if err != nil {
		_ = sleeper.Process.Kill()
		_, _ = sleeper.wait()
		return fmt.Errorf("the other one: %w", err)
	}
	woken, err := s.finished(ctx, sleeper, n.workers)
	if err != nil {
		return fmt.Errorf("woken: %w", err)
	}
	// A request may have been on its way from the look at the lease to the network when the process fell asleep.
	if calls := liveCalls(woken.passed) - liveCalls(before); calls > 2 {
		return fmt.Errorf("%d live calls were begun after it woke up", calls)
	}
	return errors.Join(s.sound(ctx), s.paid(ctx, 1, liveCalls(woken.passed)+liveCalls(e.passed)), s.readable(ctx), s.artifactsAreWhole(ctx))
}

// finished waits until a process has done its part: a worker goes on until it is stopped when the run is closed.
func (s *session) finished(ctx context.Context, c *child, worker bool) (ended, error) {
	var open error
	if worker {
		open = s.closed(ctx)
		_ = c.Process.Signal(syscall.SIGINT) // it may have ended
	}
	e, err := c.wait()
	if err == nil && open == nil && e.code != 0 && (!worker || e.code != 130) {
		err = errors.New(e.String())
	}
	return e, errors.Join(err, open)
}

// goesOn waits until a process has passed so many moments.
func (c *child) goesOn(ctx context.Context, moments int) error {
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		passed, err := c.passedBy()
		if err != nil || len(passed) >= moments {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("it passed %d moments, want %d", len(passed), moments)
		}
	}
}
