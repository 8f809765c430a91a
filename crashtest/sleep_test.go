package crashtest

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
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

// TestAProcessThatSleptThroughItsLeaseDoesNoHarm stops a process at moments that matter, lets another one take its work
// over and finish it, and wakes the first: it finds that the work is not its own any more.
func TestAProcessThatSleptThroughItsLeaseDoesNoHarm(t *testing.T) {
	t.Parallel()
	type nap struct {
		lane string // one alone: a process that sleeps inside a transaction of SQLite locks the ledger for all
		at   Point
	}
	naps := []nap{
		{"gpt", Point{"ledger stage", 1, Before}},
		{"gpt", Point{"ledger intend", 1, Before}},
		{"gpt", Point{"ledger intend", 1, After}},
		{"claude", Point{"ledger intend", 1, After}},
		{"gpt", Point{"POST /openai/v1/batches", 1, Before}},
		{"claude", Point{"POST /anthropic/v1/messages/batches", 1, Before}},
		{"flash", Point{"POST /gemini/v1beta/models/*:batchGenerateContent", 1, Before}},
		{"gpt", Point{"POST /openai/v1/batches", 1, Accepted}},
		{"claude", Point{"POST /anthropic/v1/messages/batches", 1, Accepted}},
		{"flash", Point{"ledger launched", 1, Before}},
		{"gpt", Point{"ledger ended", 1, After}},
		{"gpt", Point{"ledger settle", 1, Before}},
		{"claude", Point{"ledger settle", 1, After}},
		{"flash", Point{"ledger finish", 1, Before}},
		{"gpt", Point{"ledger close run", 1, Before}},
	}
	each(len(naps), func(i int) {
		n := naps[i]
		if err := sleepThrough(t.Context(), n.lane, n.at, t.TempDir()); err != nil {
			t.Errorf("%s, asleep at %s: %v", n.lane, n.at, err)
		}
	})
}

func sleepThrough(ctx context.Context, lane string, at Point, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := open(dir, "single", "")
	if err != nil {
		return err
	}
	defer s.close()
	sleeper, err := s.stopAt(ctx, at, "run", "study.yaml", "--yes", "--no-canary", "--lane", lane)
	if err != nil {
		return err
	}
	e, err := s.assay(ctx, nil, "resume")
	if err == nil && e.code != 0 {
		err = fmt.Errorf("the other one: %s", e)
	}
	woken, werr := sleeper.wake()
	if err := errors.Join(err, werr); err != nil {
		return err
	}
	if woken.code != 0 {
		return fmt.Errorf("woken: %s", woken)
	}
	return errors.Join(s.sound(ctx), s.paidOnce(ctx, 0))
}
