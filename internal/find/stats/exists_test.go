package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoNumberWhereTheMaximumDoesNotExist(t *testing.T) {
	t.Parallel()
	all := func(r Result) []game {
		return []game{{0, 1, r, 3}, {1, 2, r, 3}, {2, 0, r, 3}, {1, 0, r, 3}, {2, 1, r, 3}, {0, 2, r, 3}}
	}
	for _, c := range []struct {
		name   string
		items  int
		games  []game
		o      BTOptions
		groups [][]int
	}{
		{"an undefeated item", 3, []game{{0, 1, FirstWon, 2}, {0, 2, FirstWon, 1}, {1, 2, FirstWon, 1}, {1, 2, SecondWon, 1}}, BTOptions{},
			[][]int{{0}, {1, 2}}},
		{"an item never compared", 3, []game{{0, 1, FirstWon, 1}, {0, 1, SecondWon, 1}}, BTOptions{}, [][]int{{0, 1}, {2}}},
		{"ridge over items never compared", 3, []game{{0, 1, FirstWon, 1}}, BTOptions{Ridge: 1}, [][]int{{0, 1}, {2}}},
		{"the first always wins", 3, all(FirstWon), BTOptions{Order: true}, nil},
		{"the first always wins, under a ridge", 3, all(FirstWon), BTOptions{Order: true, Ridge: 1}, nil},
		{"no tie for a tie parameter", 3, all(FirstWon), BTOptions{Ties: Davidson}, nil},
		{"nothing but ties", 3, all(Tied), BTOptions{Ties: Davidson}, nil},
		{"one win and one tie", 2, []game{{0, 1, FirstWon, 1}, {0, 1, Tied, 1}}, BTOptions{Ties: Davidson}, nil},
		{"one order only of one pair", 2, []game{{0, 1, FirstWon, 3}, {0, 1, SecondWon, 2}}, BTOptions{Order: true}, nil},
		{"one order only under Jeffreys' penalty", 2, []game{{0, 1, FirstWon, 3}}, BTOptions{Order: true, Firth: true}, nil},
	} {
		fit, err := FitBT(tallyGames(t, c.items, c.games...), c.o)
		var none *NoMaximum
		if !errors.As(err, &none) {
			t.Errorf("%s: fit %v, error %v", c.name, fit, err)
			continue
		}
		if diff := cmp.Diff(c.groups, none.Components); diff != "" || none.Why == "" {
			t.Errorf("%s: %s %s", c.name, diff, none)
		}
	}
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	t.Parallel()
	tally := tallyGames(t, 2, game{0, 1, Tied, 1})
	for _, o := range []BTOptions{{Ridge: -1}, {Ridge: math.Inf(1)}, {Ridge: math.NaN()}, {Firth: true, Ties: Davidson},
		{Firth: true, Ridge: 1}} {
		if _, err := FitBT(tally, o); err == nil {
			t.Errorf("%+v: fitted", o)
		}
	}
	if _, err := FitBT(NewTally(0), BTOptions{}); err == nil {
		t.Error("no items: fitted")
	}
}

// TestExistenceIsDecidedRightly compares the decision with what a vanishing ridge does: it settles where a maximum
// exists, and runs away where none does.
func TestExistenceIsDecidedRightly(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	seen := map[BTOptions][2]int{}
	for range 800 {
		items := 2 + r.IntN(3)
		tally := NewTally(items)
		for range 2 + r.IntN(9) {
			a, b := r.IntN(items), r.IntN(items-1)
			if b >= a {
				b++
			}
			if err := tally.Count(a, b, Result(r.IntN(3)), 1); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range []BTOptions{{}, {Order: true}, {Ties: Davidson}, {Ties: Davidson, Order: true}} {
			_, err := FitBT(tally, o)
			exists := settles(tally, o)
			if exists != (err == nil) {
				t.Fatalf("%+v: maximum exists %v, fit says %v, cells %+v", o, exists, err, tally.cells())
			}
			n := seen[o]
			n[int(oneIf(exists))]++
			seen[o] = n
		}
	}
	for o, n := range seen {
		if n[0] < 50 || n[1] < 50 {
			t.Errorf("%+v: too few cases to tell, %v", o, n)
		}
	}
}

// settles penalises all parameters less and less, and sees whether they stay.
func settles(t *Tally, o BTOptions) bool {
	at := func(lambda float64) []float64 {
		m := newModel(t, o)
		beta := make([]float64, m.size)
		for range 500 { // plain gradient information, ridge on everything
			w := newWorkspace(m.size)
			m.evaluate(m.point(beta, nil), w)
			for i := range beta {
				w.grad[i] -= lambda * beta[i]
				w.info.set(i, i, w.info.at(i, i)+lambda)
			}
			if !w.chol.factorize(w.info) {
				return nil
			}
			step := solve(w, m.size)
			if far := largest(step); far > 1 {
				shrink(step, 1/far)
			}
			for i := range beta {
				beta[i] += step[i]
			}
			if largest(step) < 1e-10 {
				break
			}
		}
		return beta
	}
	loose, looser := at(1e-5), at(1e-8)
	if loose == nil || looser == nil {
		return false
	}
	for i := range loose {
		if math.Abs(loose[i]-looser[i]) > 0.5 {
			return false
		}
	}
	return identified(t, o)
}

// identified reports whether the data decide, and not the penalty among equals: all items met, if only through others, and
// no strengths mimic an order effect.
func identified(t *Tally, o BTOptions) bool {
	met := NewTally(t.items)
	for _, c := range t.cells() {
		met.counts[met.at(int(c.i), int(c.j))+int(Tied)] = 1
	}
	g := newGraph(t.items, t.cells())
	return len(mutualReach(met)) == 1 && !(o.Order && g.feasible(g.equalities(t.cells())))
}

func TestComponentsAreThoseOfMutualReach(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		items := 1 + r.IntN(7)
		tally := NewTally(items)
		for range r.IntN(2 * items) {
			if a, b := r.IntN(items), r.IntN(items); a != b {
				if err := tally.Count(a, b, Result(r.IntN(3)), 1); err != nil {
					t.Fatal(err)
				}
			}
		}
		if diff := cmp.Diff(mutualReach(tally), Components(tally)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// mutualReach is Warshall's closure.
func mutualReach(t *Tally) [][]int {
	reach := make([][]bool, t.items)
	for i := range reach {
		reach[i] = make([]bool, t.items)
		for j := range reach[i] {
			reach[i][j] = i == j || t.score(i, j) > 0
		}
	}
	for k := range reach {
		for i := range reach {
			for j := range reach {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	var groups [][]int
	for i := range reach {
		var group []int
		for j := range reach {
			if reach[i][j] && reach[j][i] {
				group = append(group, j)
			}
		}
		if group[0] == i {
			groups = append(groups, group)
		}
	}
	slices.SortFunc(groups, func(a, b []int) int { return a[0] - b[0] })
	return groups
}

func solve(w *workspace, size int) []float64 {
	step := append(make([]float64, 0, size), w.grad...)
	w.chol.solve(step)
	return step
}
