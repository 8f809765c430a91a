package crash

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestALedgerThatLostItsLastWriteFindsTheJobAgain takes the commit of "launched" off the end of the write-ahead
// log, as a disk does that lied about having kept it.
func TestALedgerThatLostItsLastWriteFindsTheJobAgain(t *testing.T) {
	t.Parallel()
	for _, lane := range []string{"gpt", "claude", "flash"} {
		t.Run(lane, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "single")
			s.killedAt(Point{"ledger launched", 1, After}, "--lane", lane)
			s.ok(loseLastCommit(filepath.Join(s.dir, "assay-data", "ledger.db")))
			s.segments("intended")
			s.exits(0, []string{"resume"}, "3 of 3 requests have an answer")
			s.whole()
		})
	}
}

// segments wants all segments of the ledger in a state.
func (s scene) segments(state string) {
	s.Helper()
	states, err := s.rows(s.Context(), "SELECT DISTINCT state FROM segments")
	s.ok(err)
	if got := strings.Join(states, " "); got != state {
		s.Fatalf("segments are %s, want %s", got, state)
	}
}

// loseLastCommit cuts the last transaction off a SQLite ledger's write-ahead log.
func loseLastCommit(ledger string) error {
	const header, frame = 32, 24
	wal, err := os.ReadFile(ledger + "-wal")
	if err != nil {
		return err
	}
	if len(wal) < header {
		return errors.New("the log is empty")
	}
	page := int(binary.BigEndian.Uint32(wal[8:]))
	var commits []int // where their frames end
	for at := header; at+frame+page <= len(wal); at += frame + page {
		sameSalt := string(wal[at+8:at+16]) == string(wal[16:24]) // a frame of an earlier round of the log has another
		if sameSalt && binary.BigEndian.Uint32(wal[at+4:]) != 0 {
			commits = append(commits, at+frame+page)
		}
	}
	if len(commits) < 2 {
		return fmt.Errorf("%d commits are in the log: nothing can be lost", len(commits))
	}
	return errors.Join(os.Truncate(ledger+"-wal", int64(commits[len(commits)-2])), os.Remove(ledger+"-shm"))
}

// TestAFullDiskStopsTheRunAndLosesNothing fills the disk at moments that matter, makes room again, and goes on.
func TestAFullDiskStopsTheRunAndLosesNothing(t *testing.T) {
	t.Parallel()
	for _, at := range []Point{
		{"ledger stage", 1, Before},
		{"ledger intend", 1, Before},
		{"POST /openai/v1/batches", 1, Before},
		{"POST /openai/v1/batches", 1, Accepted}, // made, and no process can write it down
		{"ledger launched", 1, After},
		{"GET /openai/v1/files/*/content", 1, Accepted},
		{"ledger settle", 1, Before},
	} {
		t.Run(at.String(), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, "single")
			c, err := s.start(t.Context(), &at, syscall.SIGXFSZ, "run", "study.yaml", "--yes", "--no-canary", "--lane", "gpt")
			s.ok(err)
			e, err := c.wait()
			s.ok(err)
			if !e.reached {
				t.Fatalf("it came to no %s: %s", at, e)
			}
			s.said(1, e, "nothing is lost", "assay resume")
			s.exits(0, []string{"resume"}, "3 of 3 requests have an answer")
			s.whole()
		})
	}
}

// TestAClockThatJumpsDoublesNothing moves the clock of the program, and after a day of sleep also that of the providers.
func TestAClockThatJumpsDoublesNothing(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, at := range []Point{{"ledger intend", 1, After}, {"ledger launched", 2, After}, {"ledger ended", 1, After}} {
		for _, c := range []struct {
			name          string
			ahead, others time.Duration
		}{{"a day forward", day, 0}, {"a day back", -day, 0}, {"a day of sleep", day, day}} {
			t.Run(c.name+" after "+at.String(), func(t *testing.T) {
				t.Parallel()
				s := newScene(t, "turns")
				s.killedAt(at)
				if c.others > 0 {
					s.control("POST", "/sim/clock", fmt.Sprintf(`{"advance":%q}`, c.others))
				}
				s.ahead = c.ahead
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				e := s.here(ctx, "resume")
				s.said(0, e)
				s.whole()
			})
		}
	}
}

// TestTwoWorkersAtTheLastDollarSpendItOnce lets two workers on one ledger take from a budget that does not reach for all.
func TestTwoWorkersAtTheLastDollarSpendItOnce(t *testing.T) {
	t.Parallel()
	s, err := open(t.TempDir(), "budget", server.Database(t))
	sc := scene{t, s}
	sc.ok(err)
	t.Cleanup(s.close)
	begun := Point{"ledger open run", 1, After}
	e, err := s.assay(t.Context(), &begun, "run", "study.yaml", "--yes", "--no-canary")
	sc.ok(err)
	if !e.reached {
		t.Fatal(e)
	}
	var ends [2]ended
	var errs [2]error
	var wg sync.WaitGroup
	for i := range ends {
		c, err := s.start(t.Context(), nil, 0, "resume")
		sc.ok(err)
		wg.Go(func() { ends[i], errs[i] = c.wait() })
	}
	wg.Wait()
	for i, e := range ends {
		sc.ok(errs[i])
		sc.said(4, e)
	}
	l, err := s.ledger(t.Context())
	sc.ok(err)
	defer l.Close()
	run, err := l.Reader.FindRun(t.Context(), "latest", "")
	sc.ok(err)
	if run.Budget == nil || run.Spent+run.Reserved > *run.Budget || run.Spent == 0 {
		t.Errorf("spent %s and reserved %s of %v", run.Spent, run.Reserved, run.Budget)
	}
	sc.ok(s.sound(t.Context()))
	sc.ok(s.paidOnce(t.Context(), 0))
}
