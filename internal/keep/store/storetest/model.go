package storetest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/keep/store"
)

// model drives random operations against the ledger and against a model in memory that has only the rules, and compares
// both after every step.
func model(t *testing.T, fresh Fresh) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, fresh)
			budget := assay.Dollars(6)
			b.ok(b.s.Runs.SetBudget(b.ctx, b.run.No, &budget))
			w := &world{bench: b, rand: rand.New(rand.NewPCG(seed, 1)), budget: budget}
			for step := range 150 {
				what := w.step()
				if d := cmp.Diff(w.want(), w.have()); d != "" {
					t.Fatalf("seed %d, step %d: after %s the ledger differs from the model:\n%s", seed, step, what, d)
				}
			}
		})
	}
}

// world is the model: every attempt, and the rules for what follows from them.
type world struct {
	*bench
	rand     *rand.Rand
	budget   assay.Money
	segments []*modelSegment
}

type modelSegment struct {
	store.Segment
	state    store.State
	reserved assay.Money
	items    []*modelAttempt
}

type modelAttempt struct {
	item       int
	try        int
	ending     assay.Ending // first outcome; empty: none
	late       assay.Ending // late outcome; empty: none
	lateStands bool
	stands     bool
	surplus    int64
	cost       assay.Money
	queue      bool // its next try is on the queue
}

// now returns the ending that counts for an attempt.
func (a *modelAttempt) now() assay.Ending {
	if a.late != "" {
		return a.late
	}
	return a.ending
}

// summary is everything that both sides can be asked.
type summary struct {
	States          []string
	Reserved, Spent assay.Money
	Open            int64
	Requests        map[assay.Ending]int64
	Surplus         int64
	Queue           []string
	Standing        []string
}

func (w *world) want() summary {
	s := summary{Requests: map[assay.Ending]int64{}}
	latest := map[int]*modelAttempt{}
	answered := map[int]assay.Ending{}
	for _, g := range w.segments {
		counts := map[assay.Ending]int64{}
		var cost assay.Money
		for _, a := range g.items {
			if a.ending != "" {
				counts[a.now()]++
				cost += a.cost
			}
			if a.stands || a.lateStands {
				answered[a.item] = a.now()
				s.Standing = append(s.Standing, fmt.Sprintf("q%d by try %d", a.item, a.try))
			}
			if old := latest[a.item]; old == nil || a.try > old.try {
				latest[a.item] = a
			}
			if a.queue {
				s.Queue = append(s.Queue, fmt.Sprintf("q%d try %d", a.item, a.try+1))
			}
			s.Surplus += a.surplus
		}
		s.States = append(s.States, fmt.Sprint(g.No, " ", g.state, " ", g.reserved, " ", spell(counts), " ", cost))
		s.Reserved += g.reserved
		if g.state.Terminal() {
			s.Spent += cost
		}
	}
	for item, a := range latest {
		switch e := answered[item]; {
		case e != "":
			s.Requests[e]++
		case a.ending == "":
			s.Open++
		default:
			s.Requests[a.now()]++
		}
	}
	slices.Sort(s.Queue)
	slices.Sort(s.Standing)
	return s
}

func spell(counts map[assay.Ending]int64) string {
	text := ""
	for _, e := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprint(e, "=", counts[e], " ")
	}
	return text
}

func (w *world) have() summary {
	var s summary
	all, err := w.s.Reader.Segments(w.ctx, w.run.No)
	w.ok(err)
	for _, g := range all {
		s.States = append(s.States, fmt.Sprint(g.No, " ", g.State, " ", g.Reserved, " ", spell(g.Endings), " ", g.Cost.Sum))
	}
	r, err := w.s.Reader.Run(w.ctx, w.run.No)
	w.ok(err)
	s.Reserved, s.Spent = r.Reserved, r.Spent
	l := w.lane("gpt")
	s.Open, s.Requests, s.Surplus = l.Open, l.Endings, l.Surplus
	for r, err := range w.s.Reader.Resends(w.ctx, w.run.No) {
		w.ok(err)
		s.Queue = append(s.Queue, fmt.Sprintf("%s try %d", r.At.Item, r.Try))
	}
	flawed := map[assay.Key]assay.Ending{}
	for a, err := range w.s.Reader.Answers(w.ctx, w.run.No, "", "") {
		w.ok(err)
		if e := a.Outcome.Ending; a.Lane == "gpt" && (e == assay.Refused || e == assay.Cut) {
			flawed[a.Key] = e
		}
		if a.Ended && a.Outcome.Ending.Stands() {
			s.Standing = append(s.Standing, fmt.Sprintf("%s by try %d", a.At.Item, a.Try))
		}
	}
	for f, err := range w.s.Pages.Flawed(w.ctx, w.run.No, "answers", "gpt") {
		w.ok(err)
		if flawed[f.Key] != f.Ending {
			w.t.Fatalf("an answer is %s, by all answers %q", f.Ending, flawed[f.Key])
		}
		delete(flawed, f.Key)
	}
	if len(flawed) > 0 {
		w.t.Fatalf("%d answers that were refused or cut are left out", len(flawed))
	}
	slices.Sort(s.Queue)
	slices.Sort(s.Standing)
	return s
}

func (w *world) pick(states ...store.State) *modelSegment {
	var some []*modelSegment
	for _, g := range w.segments {
		if slices.Contains(states, g.state) {
			some = append(some, g)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[w.rand.IntN(len(some))]
}

// hasAnswer reports whether an item has a current answer.
func (w *world) hasAnswer(item int) bool {
	for _, g := range w.segments {
		for _, a := range g.items {
			if a.item == item && (a.stands || a.lateStands) {
				return true
			}
		}
	}
	return false
}

// cannot checks that a call was refused for the reason the model knows.
func (w *world) cannot(err, want error) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Fatalf("got %v, want %v", err, want)
	}
}
