package crash

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"assay/internal/keep/store/storetest/pgtest"
)

// TestACommitWhoseReplyIsLostIsNotDoneTwice breaks the connection to PostgreSQL when a commit is done and before that is reported:
// the process cannot know, and everything is answered and billed once all the same.
func TestACommitWhoseReplyIsLostIsNotDoneTwice(t *testing.T) {
	t.Parallel()
	studies := []string{"single", "live"}
	totals := make([]int, len(studies))
	each(len(studies), func(i int) {
		var err error
		if totals[i], err = loseCommit(t, studies[i], 0); err != nil {
			t.Errorf("%s, undisturbed: %v", studies[i], err)
		}
	})
	type lost struct {
		study string
		n     int
	}
	all := []lost{{"single", 6}} // a part of the snapshot
	for i, study := range studies {
		some := totals[i]
		if *commits > 0 {
			some = min(*commits/len(studies), some)
		}
		for k := range some {
			all = append(all, lost{study, 1 + (2*k+1)*totals[i]/(2*some)})
		}
	}
	each(len(all), func(i int) {
		if _, err := loseCommit(t, all[i].study, all[i].n); err != nil {
			t.Errorf("%s, the reply to commit %d is lost: %v", all[i].study, all[i].n, err)
		}
	})
	t.Logf("%d replies lost, of %v commits", len(all), totals)
}

// loseCommit runs a study and loses the reply to one of its commits; 0: to none. It returns how many there were.
func loseCommit(t *testing.T, study string, n int) (int, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	db := server.Database(t)
	g, through := newGate(t, db)
	s, err := open(t.TempDir(), study, db)
	if err != nil {
		return 0, err
	}
	defer s.close()
	s.env["ASSAY_DB"] = through
	g.lose = n
	args := []string{"run", "study.yaml", "--yes", "--no-canary"}
	e := s.here(ctx, args...)
	for range 3 { // where it did not wait for the database, the next command goes on
		if e.code == 0 {
			break
		}
		if args, err = s.again(ctx, args); err != nil {
			return 0, err
		}
		e = s.here(ctx, args...)
	}
	if e.code != 0 {
		return 0, errors.New(e.String())
	}
	doubts, err := s.doubts(ctx)
	if err != nil || doubts > 0 {
		return 0, errors.Join(err, fmt.Errorf("%d live calls are in doubt", doubts))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.commits, errors.Join(s.sound(ctx), s.paidOnce(ctx, 0))
}

// TestAPostgreSQLThatIsKilledLosesNothing kills the server with all its processes while a run sends, waits and asks, and starts
// it again: what was not durable there is done again, and nothing is paid twice.
func TestAPostgreSQLThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	own, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(own.Stop)
	type kill struct {
		study string
		args  []string
		after []string // queries that have an answer when it is time
		stuck bool     // the first job ends only when the simulator's clock goes on
	}
	all := []kill{
		{"turns", []string{"worker"},
			[]string{"SELECT 1 FROM segments WHERE state = 'launched'", "SELECT 1 FROM segments WHERE state = 'settled'"}, true},
		{"flood", []string{"run", "study.yaml", "--yes"}, []string{"SELECT 1 FROM outcomes"}, false},
	}
	if *commits == 0 {
		// A state that passes may be missed; the one that every segment comes to and stays in is not.
		for state, lasts := range map[string]string{"staged": "launched", "uploaded": "launched", "intended": "launched",
			"launched": "launched", "ended": "settled", "fetched": "settled", "settled": "settled"} {
			all = append(all, kill{"turns", []string{"run", "study.yaml", "--yes", "--no-canary"},
				[]string{"SELECT 1 FROM segments WHERE state = '" + state + "' OR state = '" + lasts + "'"}, lasts == "launched"})
		}
	}
	for _, k := range all {
		t.Run(strings.Join(append([]string{k.study}, k.args...), " "), func(t *testing.T) {
			var rules []string
			if k.stuck {
				rules = []string{"openai create stuck=1h once"}
			}
			s, err := open(t.TempDir(), k.study, own.Database(t), rules...)
			sc := scene{t, s}
			sc.ok(err)
			t.Cleanup(s.close)
			worker := k.args[0] == "worker"
			if worker {
				sc.killedAt(Point{"ledger open run", 1, After})
			}
			c, err := s.start(t.Context(), nil, 0, k.args...)
			sc.ok(err)
			defer func() { _ = c.Process.Kill() }() // it may have ended
			for _, query := range k.after {
				sc.until(query)
				own.Kill()
				_ = s.lookAway() // its connections are broken
				sc.ok(own.Restart())
				if k.stuck { // it has to be there when the clock moves
					sc.until("SELECT 1 FROM segments WHERE provider = 'openai' AND state IN ('launched', 'ended', 'fetched', 'settled')")
					sc.control("POST", "/sim/clock", `{"advance":"2h"}`)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			stop := context.AfterFunc(ctx, func() { _ = c.Process.Signal(syscall.SIGQUIT) }) // it prints its stacks
			defer stop()
			_, err = s.finished(ctx, c, worker)
			sc.ok(err)
			sc.whole()
		})
	}
}
