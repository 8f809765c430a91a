package worlds

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	count = flag.Int("worlds", 200, "how many worlds are played")
	first = flag.Uint64("seed", 39, "the first seed")
	until = flag.Duration("for", 0, "play worlds for so long, whatever their number")
	keep  = flag.String("keep", "", "write the smallest form of a world that breaks a law to this file, such as testdata/kept/NAME.json")
	tell  = flag.Bool("tell", false, "print every command and what it answered")
)

// TestMain lets one goroutine run at a time: two that run at once may come to their next steps in either order. Who wants to use another
// core starts another process, from another seed.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(800) // a world holds little and makes much garbage
	flag.Parse()
	code := m.Run()
	for _, s := range slots {
		os.RemoveAll(s.dir)
	}
	os.Exit(code)
}

// TestWorlds plays worlds one after the other from the first seed, until there were enough of them.
func TestWorlds(t *testing.T) {
	if *find {
		findFirst(t)
		return
	}
	began, played := time.Now(), 0
	for seed := *first; *until > 0 && time.Since(began) < *until || *until == 0 && played < *count; seed++ {
		hold(t, Make(seed))
		played++
	}
	t.Logf("%d worlds from seed %d in %s", played, *first, time.Since(began).Round(time.Second))
}

// TestKeptWorlds plays the worlds in which something broke once. They are kept as they were, since another generator makes another world
// of the same seed.
func TestKeptWorlds(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "kept", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no world is kept", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var kept struct {
				Why   string
				World World
			}
			if err := json.Unmarshal(text, &kept); err != nil || kept.Why == "" {
				t.Fatalf("%s: want a world, and why it is kept: %v", file, err)
			}
			kept.World.Thorough = true
			o := Play(t, kept.World)
			if o.err != nil {
				t.Errorf("%s\n%s\n\n%s", kept.Why, kept.World, o.err)
			}
		})
	}
}

// TestTheSameSeedGivesTheSameHistory plays worlds twice, and compares every step.
func TestTheSameSeedGivesTheSameHistory(t *testing.T) {
	t.Parallel()
	for s := range uint64(8) {
		w := Make(1000 + s)
		one, two := playOnce(t, w, false), playOnce(t, w, false)
		for i := range max(len(one.trace), len(two.trace)) {
			if i >= len(one.trace) || i >= len(two.trace) || one.trace[i] != two.trace[i] {
				t.Errorf("world %d differs at step %d of %d and %d: %q, %q", w.Seed, i, len(one.trace), len(two.trace),
					around(one.trace, i), around(two.trace, i))
				break
			}
		}
	}
}

func around(trace []string, i int) []string {
	return trace[max(0, min(i-2, len(trace))):min(i+3, len(trace))]
}

// hold plays a world, and tells what broke in the smallest world that still does.
func hold(t *testing.T, w World) {
	o := Play(t, w)
	if o.err == nil {
		return
	}
	w, o = shrink(t, w, o)
	if *keep != "" {
		text, err := json.MarshalIndent(map[string]any{"Why": o.err.Error(), "World": w}, "", " ")
		if err == nil {
			err = os.WriteFile(*keep, append(text, '\n'), 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
	t.Errorf("world %d does not keep a law. Its smallest form:\n%s\n\n%s\n\n"+
		"repeat: go test ./test/worlds -run TestWorlds -worlds 1 -seed %d -tell", w.Seed, w, o.err, w.Seed)
}

// shrink leaves out of a world what it breaks without.
func shrink(t *testing.T, w World, o outcome) (World, outcome) {
	law := lawOf(o.err)
	try := func(less World) bool {
		got := Play(t, less)
		if got.err == nil || lawOf(got.err) != law {
			return false
		}
		w, o = less, got
		return true
	}
	for i := len(w.Actions) - 1; i >= 0; i-- {
		less := w
		less.Actions = slices.Delete(slices.Clone(w.Actions), i, i+1)
		if try(less) {
			continue
		}
		less.Actions = slices.Clone(w.Actions)
		if a := &less.Actions[i]; a.End.How != "" || len(a.Aside) > 0 {
			a.End, a.Aside = ending{}, nil
			try(less)
		}
	}
	for i := len(w.Faults) - 1; i >= 0; i-- {
		less := w
		less.Faults = slices.Delete(slices.Clone(w.Faults), i, i+1)
		try(less)
	}
	for _, simpler := range []func(*Study){
		func(s *Study) { s.Items = s.Items[:1] }, func(s *Study) { s.Items = s.Items[:(len(s.Items)+1)/2] },
		func(s *Study) { s.Lanes, s.Compare = s.Lanes[:1], "" }, func(s *Study) { s.Compare = "" }, func(s *Study) { s.Judge = "" },
		func(s *Study) { s.Pictures = false }, func(s *Study) { s.Tool = false },
		func(s *Study) { s.Jury = "" }, func(s *Study) { s.Gold = "" },
		func(s *Study) { s.Turns = nil }, func(s *Study) { s.Repeats = 1 }, func(s *Study) { s.Canary = false },
		func(s *Study) { s.Budget, s.High = 0, false }, func(s *Study) { s.LiveBelow = 0 },
	} {
		less := w
		simpler(&less.Study)
		if len(less.Study.Items) > 0 && less.String() != w.String() {
			try(less)
		}
	}
	return w, o
}

func lawOf(err error) law {
	if b, ok := asBroken(err); ok {
		return b.law
	}
	return ""
}

// outcome is how a world went.
type outcome struct {
	err   error
	trace []string
	found findings
	end   Study // as the person left it
}

// Play plays a world and, where that says something, the same one without anything that goes wrong.
func Play(t *testing.T, w World) outcome {
	t.Helper()
	o := playOnce(t, w, false)
	if o.err != nil {
		return o
	}
	twin, law := w.calm(), L6
	if !w.comparable() {
		plain := false
		if twin, plain = w.edited(o.end); !plain {
			return o
		}
		law = L7
	} else if w.Study.Budget > 0 || twin.String() == w.String() {
		return o
	}
	calm := playOnce(t, twin, true)
	if calm.err != nil {
		return calm
	}
	if law == L7 && o.end.Compare != "all" { // which pairs are drawn depends on when a lane or an item came
		o.found.withoutPairs()
		calm.found.withoutPairs()
	}
	o.err = o.found.likeCalm(law, calm.found, w.lossy())
	return o
}

// playOnce plays a world in a bubble of its own. A quick one is held to no law at its end: it is there to be compared with.
func playOnce(t *testing.T, w World, quick bool) (o outcome) {
	t.Helper()
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
		steps := []func(context.Context) error{h.play, h.settle, h.readAll, h.judgeWorld}
		if quick {
			steps = []func(context.Context) error{h.play, h.settle, h.export}
		}
		for _, step := range steps {
			if o.err = step(ctx); o.err != nil {
				break
			}
		}
		if o.err == nil {
			o.found, o.err = h.found()
		}
		if err := h.close(); err != nil {
			t.Error(err)
		}
		o.trace, o.end = h.trace, h.study
	})
	if err := in.giveBack(); err != nil {
		t.Fatal(err)
	}
	return o
}
