package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/store"
)

// glass is a terminal that understands no more than what bars need.
type glass struct {
	lines []string
	at    int
}

// Write shows what is written, as a terminal would.
func (g *glass) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		if len(g.lines) <= g.at {
			g.lines = append(g.lines, "")
		}
		switch {
		case text[0] == '\n':
			g.at, text = g.at+1, text[1:]
		case text[0] == '\r':
			text = text[1:]
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexAny(text, "AKJ")
			n, _ := strconv.Atoi(text[2:end])
			switch text[end] {
			case 'A':
				if g.at -= n; g.at < 0 {
					return 0, fmt.Errorf("%d lines above the first", -g.at)
				}
			case 'K':
				g.lines[g.at] = ""
			case 'J':
				g.lines = g.lines[:g.at]
			}
			text = text[end+1:]
		default:
			end := strings.IndexAny(text, "\n\r\x1b")
			if end < 0 {
				end = len(text)
			}
			g.lines[g.at] += text[:end]
			text = text[end:]
		}
	}
	return len(p), nil
}

func TestAScreenIsDrawnInPlaceAndLeavesOnlyWhatWasTold(t *testing.T) {
	t.Parallel()
	g := &glass{lines: []string{"run x of y"}, at: 1}
	s := &screen{to: g}
	for _, step := range []struct {
		above, lines, want []string
	}{
		{nil, []string{"a 1", "b 1", "all 1"}, []string{"run x of y", "a 1", "b 1", "all 1"}},
		{nil, []string{"a 2", "b 2", "all 2"}, []string{"run x of y", "a 2", "b 2", "all 2"}},
		{[]string{"segment 1: launched"}, []string{"a 3", "all 3"}, []string{"run x of y", "segment 1: launched", "a 3", "all 3"}},
		{nil, nil, []string{"run x of y", "segment 1: launched"}},
		{nil, nil, []string{"run x of y", "segment 1: launched"}},
	} {
		if len(step.lines) == 0 && s.drawn > 0 {
			fmt.Fprint(g, "^C") // a terminal echoes it below the bars
		}
		if err := s.draw(step.above, step.lines); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(step.want, g.lines); d != "" {
			t.Fatal(d)
		}
	}
}

func TestBarsAsATerminalShowsThem(t *testing.T) {
	t.Parallel()
	dear := assay.Cost{Sum: 2 * assay.Dollar, Priced: 200}
	gpt := stand{name: "answers gpt", planned: 1000, open: 64, answered: 190, errors: 10, cost: dear, rate: 10}
	free := stand{name: "answers llama", planned: 400, cost: assay.Cost{Unknown: 3}}
	part := stand{name: "flips judge", planned: 4, answered: 4, cost: assay.Cost{Sum: assay.Dollar, Priced: 1, Unknown: 2}}
	stopped := stand{name: "flips other", planned: 40, answered: 1, rate: 0.05, halt: "stopped"}
	slow := stand{name: "flips slow", planned: 40, answered: 1, rate: 0.05}
	all := func(lanes ...stand) picture {
		total := stand{name: "all"}
		for _, s := range lanes {
			total = total.add(s)
		}
		return picture{lanes: lanes, total: total, width: 100, height: 24}
	}
	sized := func(p picture, width, height int) picture { p.width, p.height = width, height; return p }
	for name, c := range map[string]struct {
		picture picture
		want    []string
	}{
		"counts, errors, rate, cost and time left": {all(gpt), []string{
			"answers gpt  [████░░░░░░░░░░░░░░░░]  190/1,000  10 errors  10/s  $2.00  ETA 1m",
			"all          [████░░░░░░░░░░░░░░░░]  190/1,000  10 errors  10/s  $2.00  ETA 1m",
		}},
		"a fast lane": {sized(all(stand{name: "fast", planned: 1_000_000, answered: 200_000, rate: 1240}), 100, 2), []string{
			"all  [████░░░░░░░░░░░░░░░░]  200,000/1,000,000  1,240/s  $0.00  ETA 11m",
		}},
		"what is not known is said": {all(free), []string{
			"answers llama  [░░░░░░░░░░░░░░░░░░░░]  0/400  cost unknown  ETA unknown",
			"all            [░░░░░░░░░░░░░░░░░░░░]  0/400  cost unknown  ETA unknown",
		}},
		"done, stopped and slow": {all(part, stopped, slow), []string{
			"flips judge  [████████████████████]   4/4         at least $1.00     done",
			"flips other  [░░░░░░░░░░░░░░░░░░░░]  1/40  3/min           $0.00  stopped",
			"flips slow   [░░░░░░░░░░░░░░░░░░░░]  1/40  3/min           $0.00  ETA 13m",
			"all          [█░░░░░░░░░░░░░░░░░░░]  6/84  6/min  at least $1.00  ETA 13m",
		}},
		"narrow, the least needed goes first": {sized(all(gpt), 60, 24), []string{
			"answers gpt  [█░░░░░░]  190/1,000  10 errors  $2.00  ETA 1m",
			"all          [█░░░░░░]  190/1,000  10 errors  $2.00  ETA 1m",
		}},
		"very narrow": {sized(all(gpt), 20, 24), []string{"answers…  190/1,000", "all       190/1,000"}},
		"low, those at work are shown and the rest is summed": {sized(all(part, gpt, stopped, slow), 100, 4), []string{
			"answers gpt    [████░░░░░░░░░░░░░░░░]  190/1,000  10 errors   10/s           $2.00   ETA 1m",
			"3 other lanes  [█░░░░░░░░░░░░░░░░░░░]       6/84             6/min  at least $1.00  ETA 13m",
			"all            [███░░░░░░░░░░░░░░░░░]  196/1,084  10 errors   10/s  at least $3.00  ETA 13m",
		}},
		"one line of height":                {sized(all(gpt, free), 100, 2), []string{"all  [██░░░░░░░░░░░░░░░░░░]  190/1,400  10 errors  10/s  at least $2.00  ETA 2m"}},
		"wide letters take two columns":     {sized(all(stand{name: "答え gpt", planned: 2}), 60, 24), []string{"答え gpt  [░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00  ETA unknown", "all       [░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00  ETA unknown"}},
		"of an unknown size, as most are":   {sized(all(stand{name: "a b", planned: 2}), 0, 0), []string{"a b  [░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00  ETA unknown", "all  [░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00  ETA unknown"}},
		"nothing planned yet is no problem": {all(), []string{"all  [░░░░░░░░░░░░░░░░░░░░]  0/0  $0.00  done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, c.picture.lines()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBarsFitOnEveryTerminal(t *testing.T) {
	t.Parallel()
	var lanes []stand
	for i := range 40 {
		lanes = append(lanes, stand{name: strings.Repeat("名n", i%9) + " lane", planned: int64(i * 1000), answered: int64(i * i), errors: int64(i), rate: float64(i), cost: assay.Cost{Unknown: int64(i)}})
	}
	for width := 1; width < 130; width++ {
		for _, height := range []int{1, 2, 3, 10, 50} {
			lines := picture{lanes: lanes, total: stand{name: "all"}, width: width, height: height}.lines()
			if len(lines) > max(1, height-1) {
				t.Fatalf("%d lines on a terminal of %d", len(lines), height)
			}
			for _, line := range lines {
				if n := textWidth(line); n >= width && n > 0 {
					t.Fatalf("a line of %d columns on a terminal of %d: %q", n, width, line)
				}
			}
		}
	}
}

func TestNamesOfLanesSteerNoTerminal(t *testing.T) {
	t.Parallel()
	s := standOf(store.Lane{Stage: "a", Name: "x\x1b[2J\ny", Planned: 5, Spared: 1, State: store.LaneHeld,
		Endings: map[assay.Ending]int64{assay.Answered: 1, assay.Errored: 2}}, assay.Cost{})
	want := stand{name: `a x\u001b[2J\ny`, planned: 4, answered: 1, errors: 2, halt: "held"}
	if d := cmp.Diff(fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", s)); d != "" {
		t.Error(d)
	}
}

func TestTheRateIsThatOfTheLastMinutes(t *testing.T) {
	t.Parallel()
	type look struct {
		after time.Duration
		ended int64
		want  float64
	}
	for name, looks := range map[string][]look{
		"nothing is known at first":             {{0, 100, 0}, {100 * time.Millisecond, 110, 0}},
		"what ended before the first look":      {{0, 100, 0}, {10 * time.Second, 200, 10}},
		"what is long ago does not count":       {{0, 0, 0}, {time.Minute, 6000, 100}, {2 * time.Minute, 6000, 50}, {7 * time.Minute, 6000, 0}},
		"a clock that is set back starts again": {{0, 0, 0}, {time.Minute, 60, 1}, {0, 70, 0}, {10 * time.Second, 80, 1}},
		"what is asked again starts again":      {{0, 50, 0}, {10 * time.Second, 40, 0}, {20 * time.Second, 60, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rates tempo
			for _, l := range looks {
				if got := rates.see(time.Unix(1000, 0).Add(l.after), l.ended); got != l.want {
					t.Fatalf("after %s: %v a second, want %v", l.after, got, l.want)
				}
			}
		})
	}
}

func TestBarsAreForTerminalsThatCanDrawThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  bool
		term string
		want bool
	}{{true, "xterm", true}, {true, "dumb", false}, {false, "xterm", false}} {
		w := &World{Stderr: &bytes.Buffer{}, Terminal: Terminal{Err: c.err}, Env: func(string) (string, bool) { return c.term, true }}
		if got := w.bars(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
