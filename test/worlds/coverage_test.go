package worlds

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/internal/simulator/minds"
	"assay/test/worlds/recount"
)

var coverage = flag.Int("coverage", 0, "play so many calm worlds, and count how often intervals hold what is true of the models")

// L13 is a law of many worlds.
const L13 law = "L13 coverage of truth"

// TestCoverage counts over many calm worlds how often 95% intervals hold what is true of the simulator's models. It takes long, so it is
// only run where a flag asks for it.
func TestCoverage(t *testing.T) {
	if *coverage == 0 {
		t.Skip("-coverage N plays N worlds with 5 to 60 items")
	}
	all := map[string]*held{}
	for i := range uint64(*coverage) {
		measure(t, *first+i, all)
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		h := all[kind]
		share := float64(h.held) / float64(h.all)
		t.Logf("%-30s %5.1f%% of %d intervals in %d worlds hold the truth", kind, 100*share, h.all, h.worlds)
		// Intervals of one world go up and down together, so each world counts once.
		if least := 0.95 - 0.015 - 3*math.Sqrt(0.95*0.05/float64(h.worlds)); share < least {
			t.Errorf("%s: %s: at least %.1f%% of 95%% intervals hold the truth; seen: %.1f%%", L13, kind, 100*least, 100*share)
		}
	}
}

// held counts intervals of one kind.
type held struct{ held, all, worlds int }

// truthful returns a calm world whose findings have a true value.
func truthful(seed uint64) World {
	r := rand.New(rand.NewPCG(seed, 0x7472757468))
	s := newStudy(r)
	for n := []int{5, 10, 20, 40, 60}[r.IntN(5)]; len(s.Items) < n; {
		s.Items = append(s.Items, s.newItem(r))
	}
	for len(s.Lanes) < 2 {
		s.addLane(r)
	}
	s.Judge, s.Compare, s.Mode, s.Budget, s.Turns, s.Repeats, s.Canary, s.Clusters = "model", "all", "batch", 0, nil, 1, false, false
	return World{Seed: seed, Study: s, Actions: []Action{{Do: "run", Args: []string{"run", "study.yaml", "--yes"}}}}
}

// measure plays a calm world, and holds its intervals against the truth.
func measure(t *testing.T, seed uint64, all map[string]*held) {
	w := truthful(seed)
	in, err := takeSlot()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(virtual()))
		h, err := newHistory(t, w, in)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		if err := h.play(ctx); err != nil {
			t.Fatalf("world %d: %s", seed, err)
		}
		claims, err := recount.ReadClaims([]byte(h.assay(ctx, ending{}, "analyse", "--json").out))
		if err != nil {
			t.Fatalf("world %d: %s", seed, err)
		}
		seen := map[string]bool{}
		for _, table := range claims.Tables {
			for _, f := range table.Findings {
				kind := fmt.Sprintf("%s: %s", table.Stage, f.What)
				want, known := h.truth(table.Stage, f, h.sim.Truth())
				if !known || f.Low == nil || f.High == nil {
					continue
				}
				if all[kind] == nil {
					all[kind] = &held{}
				}
				if !seen[kind] {
					all[kind].worlds++
				}
				seen[kind] = true
				all[kind].all++
				if *f.Low <= want && want <= *f.High {
					all[kind].held++
				}
			}
		}
		if err := h.close(); err != nil {
			t.Error(err)
		}
	})
	if err := in.giveBack(); err != nil {
		t.Fatal(err)
	}
}

// truth returns what a finding would be without error; false: it is none of those that are known.
func (h *history) truth(stage string, f recount.Finding, truth minds.Truth) (float64, bool) {
	model := func(lane string) (minds.Model, bool) {
		i := slices.IndexFunc(h.study.Lanes, func(l Lane) bool { return l.Name == lane })
		if i < 0 {
			return minds.Model{}, false
		}
		_, name, _ := strings.Cut(h.study.Lanes[i].Model, "/")
		m, ok := truth.Models[name]
		return m, ok
	}
	good := func(m minds.Model) float64 { return truth.Picks(m, minds.Place("good", []string{"good", "bad"}), 2) }
	one, ok := model(f.By["lane"])
	two, against := model(f.By["against"])
	switch {
	case !ok:
		return 0, false
	case stage == "good" && f.What == "rate" && len(f.By) == 1:
		return good(one), true
	case stage == "good" && f.What == "difference" && against && len(f.By) == 2:
		return good(one) - good(two), true
	case stage == "arena" && f.What == "win rate" && len(f.By) == 1:
		sum := 0.0
		for _, l := range h.study.Lanes {
			if other, _ := model(l.Name); l.Name != f.By["lane"] {
				won, _, tied := truth.Meet(one, other, true)
				_, lost, tiedBack := truth.Meet(other, one, true)
				sum += (won + tied/2 + lost + tiedBack/2) / 2
			}
		}
		return sum / float64(len(h.study.Lanes)-1), true
	}
	return 0, false
}
