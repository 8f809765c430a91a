package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/internal/keep/ledger"
	"assay/internal/keep/store"
)

// scenario is a study that is killed everywhere.
type scenario struct {
	name  string
	study string
	args  []string   // of run
	first int        // exit code of the first command
	then  [][]string // commands that follow when the first has come to its end

	bucket bool // workers share a bucket and no disk
}

func scenarios() []scenario {
	quiet := []string{"--no-canary"}
	return []scenario{
		{name: "single", study: "single", args: quiet},
		{name: "turns", study: "turns", args: quiet},
		{name: "canary", study: "single"},
		{name: "judged", study: "judged", args: quiet},
		{name: "rounds", study: "rounds", args: quiet},
		{name: "live", study: "live"},
		{name: "budget", study: "budget", args: quiet, first: 4, then: [][]string{{"resume", "--budget", "1"}}},
		{name: "many", study: "many", args: quiet},
	}
}

// TestAKillAnywhereCostsNothing kills the program at moments of its calls to the ledger and to the providers, starts it
// again, and wants the end of an undisturbed run.
func TestAKillAnywhereCostsNothing(t *testing.T) {
	t.Parallel()
	began := time.Now()
	all := scenarios()
	dirs := t.TempDir()
	courses := make([]course, len(all))
	each(len(all), func(i int) {
		var err error
		if courses[i], err = undisturbed(t.Context(), all[i], filepath.Join(dirs, all[i].name), ""); err != nil {
			t.Errorf("%s, undisturbed: %v", all[i].name, err)
		}
	})
	if t.Failed() {
		return
	}
	var proofs []proof
	total := 0
	for i := range all {
		of := candidates(i, all[i], courses[i])
		total += len(of)
		proofs = append(proofs, spread(of, *points, len(all), i)...)
	}
	proofs = append(proofs, randomProofs(all, courses)...)
	var mu sync.Mutex
	missed, done := 0, 0
	each(len(proofs), func(i int) {
		p := proofs[i]
		dir := filepath.Join(dirs, fmt.Sprint(i))
		defer os.RemoveAll(dir) // a long proof would fill the disk
		reached, err := prove(t.Context(), p, courses[p.which], dir)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("%s, step %d, killed at %v: %v", p.name, p.step, p.kills, err)
		}
		if reached == 0 {
			missed++ // calls that hang on who is faster come a different number of times
		}
		if done++; done%100 == 0 {
			t.Logf("%d of %d runs in %s", done, len(proofs), time.Since(began).Round(time.Second))
		}
	})
	t.Logf("%d moments in %d studies; killed %d runs (%d came to no kill) in %s", total, len(all), len(proofs), missed,
		time.Since(began).Round(time.Second))
	if missed > len(proofs)/4 {
		t.Errorf("%d of %d runs came to no kill: the proof sees too little", missed, len(proofs))
	}
}

// proof is one run with its kills.
type proof struct {
	scenario
	which int // scenario
	step  int // the command that is killed
	kills []Point
}

// candidates returns all proofs with one kill.
func candidates(which int, sc scenario, c course) []proof {
	var all []proof
	for i, step := range c.steps {
		for _, p := range step.passed {
			all = append(all, proof{sc, which, i, []Point{p}})
		}
	}
	return all
}

// each does n pieces of work, some of them abreast.
func each(n int, do func(i int)) {
	places := make(chan struct{}, *abreast)
	var wg sync.WaitGroup
	for i := range n {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			do(i)
		})
	}
	wg.Wait()
}

// spread chooses the proofs of one of so many scenarios: sorts of moments far apart, and not always the first of a sort.
// With 0 it chooses all.
func spread(candidates []proof, most, of, which int) []proof {
	if most == 0 {
		return candidates
	}
	byClass := map[string][]proof{}
	var classes []string
	for _, p := range candidates {
		class := p.kills[0].Class()
		if byClass[class] == nil {
			classes = append(classes, class)
		}
		byClass[class] = append(byClass[class], p)
	}
	n := most / of
	if which < most%of {
		n++
	}
	var some []proof
	for k := range n {
		at := (k*of + which) * len(classes) / (n * of)
		all := byClass[classes[at]]
		some = append(some, all[(k+which)%len(all)])
	}
	return some
}

// half returns every other one: of four the first and the last, where the moment before a call is beside the one after it. With 0 of
// what a flag counts it is all.
func half[T any](all []T, flag int) (some []T) {
	for i, one := range all {
		if flag == 0 || i%4 == 0 || i%4 == 3 {
			some = append(some, one)
		}
	}
	return some
}

// randomProofs are runs that are killed again and again, also while they recover.
func randomProofs(all []scenario, courses []course) []proof {
	rng := rand.New(rand.NewPCG(*seed, 0))
	var some []proof
	for range *random {
		i := rng.IntN(len(all))
		p := proof{scenario: all[i], which: i, step: rng.IntN(len(courses[i].steps))}
		passed := courses[i].steps[p.step].passed
		for range 1 + rng.IntN(3) {
			p.kills = append(p.kills, passed[rng.IntN(len(passed))])
		}
		some = append(some, p)
	}
	return some
}

// course is an undisturbed run.
type course struct {
	state state
	steps []step
}

// step is one command of a course.
type step struct {
	args   []string
	code   int
	passed []Point
}

func (sc scenario) commands() [][]string {
	return append([][]string{append([]string{"run", "study.yaml", "--yes"}, sc.args...)}, sc.then...)
}

func undisturbed(ctx context.Context, sc scenario, dir, db string) (course, error) {
	s, err := open(dir, sc.study, db)
	if err != nil {
		return course{}, err
	}
	defer s.close()
	var c course
	for _, args := range sc.commands() {
		e, err := s.assay(ctx, nil, args...)
		if err != nil {
			return c, err
		}
		if e.code != 0 && e.code != sc.first {
			return c, errors.New(e.String())
		}
		c.steps = append(c.steps, step{args, e.code, e.passed})
	}
	if c.state, err = s.state(ctx); err != nil {
		return c, err
	}
	return c, errors.Join(s.sound(ctx), s.paidOnce(ctx, 0))
}

// prove runs a study through its kills and holds the end against that of the undisturbed run. It returns how many kills
// the run came to.
func prove(ctx context.Context, p proof, want course, dir string) (reached int, err error) {
	s, err := open(dir, p.study, "")
	if err != nil {
		return 0, err
	}
	defer s.close()
	began := 0
	for i, step := range want.steps {
		args := step.args
		kills := p.kills
		if i != p.step {
			kills = nil
		}
		for {
			var at *Point
			if len(kills) > 0 {
				at, kills = &kills[0], kills[1:]
			}
			e, err := s.assay(ctx, at, args...)
			if err != nil {
				return reached, err
			}
			began += liveCalls(e.passed)
			if !e.reached && e.code != step.code {
				return reached, fmt.Errorf("assay %s: want exit code %d: %s", strings.Join(args, " "), step.code, e)
			}
			if !e.reached {
				break
			}
			reached++
			if args, err = s.again(ctx, step.args); err != nil {
				return reached, err
			}
		}
	}
	got, err := s.state(ctx)
	if err != nil {
		return reached, err
	}
	return reached, errors.Join(same(want.state, got), s.sound(ctx), s.paid(ctx, reached, began))
}

// again returns the command that goes on after a kill: the same one where no run was begun yet.
func (s *session) again(ctx context.Context, args []string) ([]string, error) {
	if args[0] != "run" {
		return args, nil
	}
	begun := 0
	err := s.look(ctx, func(l *ledger.Ledger) error {
		runs, err := l.Reader.Runs(ctx, "", store.RunOpen, store.RunClosed)
		begun = len(runs)
		return err
	})
	if err != nil || begun == 0 {
		return args, err
	}
	return []string{"resume"}, nil
}
