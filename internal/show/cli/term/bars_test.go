package term

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
)

func TestBarsAsATerminalShowsThem(t *testing.T) {
	t.Parallel()
	dear := assay.Cost{Sum: 2 * assay.Dollar, Priced: 200}
	gpt := Bar{Name: "answers gpt", Stage: "answers", Wanted: 1000, Answered: 190, Failed: 10, Errors: 10,
		Cost: dear, Rate: 10, Left: 80 * time.Second}
	free := Bar{Name: "answers llama", Wanted: 400, Cost: assay.Cost{Unknown: 3}}
	part := Bar{Name: "flips judge", Stage: "flips", Wanted: 4, Answered: 4, Cost: assay.Cost{Sum: assay.Dollar, Priced: 1, Unknown: 2}}
	stopped := Bar{Name: "flips other", Stage: "flips", Wanted: 40, Answered: 1, Halt: "stopped"}
	slow := Bar{Name: "flips slow", Stage: "flips", Wanted: 40, Answered: 1, Rate: 0.05, Left: 13 * time.Minute}
	all := func(lanes ...Bar) Bars {
		total := Bar{Name: "all"}
		for _, s := range lanes {
			total = total.add(s)
			total.Rate, total.Left = total.Rate+s.Rate, max(total.Left, s.Left)
		}
		return Bars{Lanes: lanes, Total: total, Width: 100, Height: 24}
	}
	sized := func(p Bars, width, height int) Bars { p.Width, p.Height = width, height; return p }
	for name, c := range map[string]struct {
		bars Bars
		want []string
	}{
		"counts, errors, rate, cost and time left": {all(gpt), []string{
			"answers gpt  [████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  190/1,000  10 errors  $2.00",
			"all          [████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  190/1,000  10 errors  $2.00",
			"about 1m left, at 10/s as so far",
		}},
		"a fast lane": {sized(all(Bar{Name: "fast", Wanted: 1_000_000, Answered: 200_000, Rate: 1240, Left: 11 * time.Minute}), 100, 2),
			[]string{
				"all  [████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  200,000/1,000,000  $0.00",
			}},
		"what is not known is said": {all(free), []string{
			"answers llama  [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  0/400  cost unknown",
			"all            [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  0/400  cost unknown",
			"how long it takes is not known yet",
		}},
		"done, stopped and slow": {all(part, stopped, slow), []string{
			"flips judge  [████████████████████████████████████████]   4/4  at least $1.00     done",
			"flips other  [█░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  1/40           $0.00  stopped",
			"flips slow   [█░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  1/40           $0.00",
			"all          [██░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  6/84  at least $1.00",
			"about 13m left, at 3/min as so far",
		}},
		"narrow, the least needed goes first": {sized(all(gpt), 60, 24), []string{
			"answers gpt  [███░░░░░░░░░░░░]  190/1,000  10 errors  $2.00",
			"all          [███░░░░░░░░░░░░]  190/1,000  10 errors  $2.00",
			"about 1m left, at 10/s as so far",
		}},
		"very narrow": {sized(all(gpt), 20, 24), []string{
			"answers…  190/1,000",
			"all       190/1,000",
			"about 1m left, at …",
		}},
		"low, those at work are shown and the rest is summed": {sized(all(part, gpt, stopped, slow), 100, 5), []string{
			"answers gpt    [████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  190/1,000  10 errors           $2.00",
			"3 other lanes  [██░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]       6/84             at least $1.00",
			"all            [███████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  196/1,084  10 errors  at least $3.00",
			"about 13m left, at 10/s as so far",
		}},
		"lanes that do not all fit are summed by stage; what does not move stays": {sized(Bars{Lanes: []Bar{
			{Name: "answers a", Stage: "answers", Wanted: 200, Answered: 156},
			{Name: "answers b", Stage: "answers", Wanted: 200, Answered: 156},
			{Name: "correct a", Stage: "correct", Wanted: 200, Answered: 120}, {Name: "correct b", Stage: "correct", Wanted: 200},
			{Name: "correct c", Stage: "correct", Wanted: 9, Halt: "stopped"}},
			Total: Bar{Name: "all", Wanted: 809, Answered: 432, Outlook: "about 12m left (batches like this took 9m to 20m)",
				Elapsed: 4 * time.Minute},
			There: "openai: 88 at work there since 14:02:00 · anthropic asks to wait until 14:09:00"}, 80, 8), []string{
			"answers    [███████████████████████████████░░░░░░░░░]  312/400  $0.00",
			"correct    [████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  120/400  $0.00",
			"correct c  [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]      0/9  $0.00  stopped",
			"all        [█████████████████████░░░░░░░░░░░░░░░░░░░]  432/809  $0.00",
			"about 12m left (batches like this took 9m to 20m); 4m since it began",
			"openai: 88 at work there since 14:02:00 · anthropic asks to wait until 14:09:00",
		}},
		"one line of height": {sized(all(gpt, free), 100, 2),
			[]string{
				"all  [█████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  190/1,400  10 errors  at least $2.00",
			}},
		"what is ready at the provider, and the time so far": {Bars{Lanes: []Bar{{Name: "a b", Wanted: 9, Answered: 5, Ready: 3}},
			Total: Bar{Name: "all", Wanted: 9, Answered: 5, Ready: 3, Elapsed: 3 * time.Minute}, Width: 60}, []string{
			"a b  [█████████████████░░░░░░░░░░░░░░]  5/9  3 ready  $0.00",
			"all  [█████████████████░░░░░░░░░░░░░░]  5/9  3 ready  $0.00",
			"how long it takes is not known yet; 3m since it began",
		}},
		"wide letters take two columns": {sized(all(Bar{Name: "答え gpt", Wanted: 2}), 60, 24), []string{
			"答え gpt  [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00",
			"all       [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00",
			"how long it takes is not known yet",
		}},
		"of an unknown size, as most are": {sized(all(Bar{Name: "a b", Wanted: 2}), 0, 0),
			[]string{
				"a b  [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00",
				"all  [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  0/2  $0.00",
				"how long it takes is not known yet",
			}},
		"nothing planned yet is no problem": {all(), []string{
			"all  [░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░]  0/0  $0.00  done",
			"done",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, c.bars.Lines()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBarsFitOnEveryTerminal(t *testing.T) {
	t.Parallel()
	var lanes []Bar
	for i := range 40 {
		lanes = append(lanes, Bar{Name: strings.Repeat("名n", i%9) + " lane", Wanted: int64(i * 1000), Answered: int64(i * i),
			Errors: int64(i), Rate: float64(i), Cost: assay.Cost{Unknown: int64(i)}})
	}
	for width := 1; width < 130; width++ {
		for _, height := range []int{1, 2, 3, 10, 50} {
			lines := Bars{Lanes: lanes, Total: Bar{Name: "all"}, Width: width, Height: height}.Lines()
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

func TestColoursOnlyWhereTheyAreWanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, none string
		want       bool
	}{{"xterm", "", true}, {"", "", true}, {"dumb", "", false}, {"xterm", "1", false}} {
		if got := Colours(c.kind, c.none); got != c.want {
			t.Errorf("TERM=%s NO_COLOR=%s: %v", c.kind, c.none, got)
		}
	}
	bars := Bars{Lanes: []Bar{{Name: "a stopped", Wanted: 4, Answered: 1, Errors: 2, Halt: "stopped"}, {Name: "b", Wanted: 4}},
		Total: Bar{Name: "all", Wanted: 8}, Width: 90}
	plain := bars.Lines()
	bars.Colour = true
	painted := bars.Lines()
	if painted[0] != strings.Replace(strings.Replace(plain[0], "  stopped", "  \x1b[31mstopped\x1b[0m", 1), "2 errors",
		"\x1b[31m2 errors\x1b[0m", 1) {
		t.Errorf("%q", painted[0])
	}
	if d := cmp.Diff(plain[1:], painted[1:]); d != "" {
		t.Error(d)
	}
	for _, colour := range []bool{false, true} {
		var b strings.Builder
		table := Table{Head: []string{"LANE", "STATE", "LOST"}}
		table.Add("held", "open", 0)
		table.Add("b", "held", "3")
		if err := table.Write(Glass{Writer: &b, Colour: colour}); err != nil {
			t.Fatal(err)
		}
		want := "LANE  STATE  LOST\nheld  open   0\nb     held   3\n"
		if colour {
			want = "LANE  STATE  LOST\nheld  open   0\nb     \x1b[31mheld\x1b[0m   \x1b[31m3\x1b[0m\n"
		}
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Error(d)
		}
	}
}

func TestABarKeepsItsLengthWhenColumnsComeAndGo(t *testing.T) {
	t.Parallel()
	var before Widths
	length := func(lane Bar, elapsed time.Duration) int {
		t.Helper()
		total := lane
		total.Name, total.Elapsed = "all", elapsed
		lines := Bars{Lanes: []Bar{lane}, Total: total, Width: 100, Height: 24, Before: &before}.Lines()
		return strings.Count(lines[0], "█") + strings.Count(lines[0], "░")
	}
	lane := Bar{Name: "answers gpt", Wanted: 1000}
	begun := length(lane, 0)
	lane.Answered, lane.Rate, lane.Left, lane.Cost = 100, 0.5, 30*time.Minute, assay.Cost{Sum: 2 * assay.Dollar, Priced: 100}
	if n := length(lane, 10*time.Minute); n != begun || n < leastBar {
		t.Errorf("with a rate and a time left the bar has %d cells, and had %d", n, begun)
	}
	lane.Ready, lane.Errors = 40, 3
	narrow := length(lane, 11*time.Minute)
	lane.Ready = 0
	if n := length(lane, 12*time.Minute); n != narrow || n < leastBar {
		t.Errorf("after a column went away the bar has %d cells, and had %d", n, narrow)
	}
	lane.Answered, lane.Errors, lane.Rate, lane.Left = 1000, 0, 0, 0
	if n := length(lane, 13*time.Minute); n != narrow {
		t.Errorf("at the end the bar has %d cells, and had %d", n, narrow)
	}
}
