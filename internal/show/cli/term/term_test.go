package term

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestATableHasAlignedColumns(t *testing.T) {
	t.Parallel()
	table := Table{Head: []string{"LANE", "N", "NOTE"}, Right: map[int]bool{1: true}}
	table.Add("gpt", 7, "")
	table.Add("\x1b[2Jé", 1200, "as it is")
	var out bytes.Buffer
	if err := table.Write(&out); err != nil || table.Len() != 2 {
		t.Fatal(table.Len(), err)
	}
	want := "LANE           N  NOTE\ngpt            7\n\\u001b[2Jé  1200  as it is\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}

func TestJSONIsForProgramsAndPeople(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := WriteJSON(&out, map[string]string{"a": "<b>"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("{\n  \"a\": \"<b>\"\n}\n", out.String()); d != "" {
		t.Error(d)
	}
}

func TestZeroHasNoSign(t *testing.T) {
	t.Parallel()
	x, y := -0.00001, -0.06
	got := []string{Number(&x, 4), Number(&y, 2), Percent(&x), Percent(&y)}
	if d := cmp.Diff([]string{"0.0000", "-0.06", "0.0%", "-6.0%"}, got); d != "" {
		t.Error(d)
	}
}

func TestNumbersThatDoNotExistAreADash(t *testing.T) {
	t.Parallel()
	x := 0.12345
	if d := cmp.Diff([]string{"0.123", "–", "12.3%", "–"}, []string{Number(&x, 3), Number(nil, 3), Percent(&x), Percent(nil)}); d != "" {
		t.Error(d)
	}
	for d, want := range map[time.Duration]string{
		1400 * time.Millisecond: "1s", 59 * time.Second: "59s", 90 * time.Second: "2m", 119 * time.Minute: "119m", 3 * time.Hour: "3h",
		72 * time.Hour: "3d",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%s is written %s, not %s", d, got, want)
		}
	}
}

func TestBarsAreForTerminalsThatCanDrawThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  bool
		kind string
		want bool
	}{{true, "xterm", true}, {true, "dumb", false}, {false, "xterm", false}} {
		if got := (Terminal{Err: c.err}).Draws(c.kind); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestTheSizeIsThatOfNow(t *testing.T) {
	t.Parallel()
	now := [2]int{120, 40}
	for _, c := range []struct {
		size func() (int, int)
		want [2]int
	}{{nil, [2]int{80, 24}}, {func() (int, int) { return now[0], now[1] }, now}, {func() (int, int) { return 0, 0 }, [2]int{80, 24}}} {
		width, height := Terminal{Width: 80, Height: 24, Size: c.size}.Current()
		if d := cmp.Diff(c.want, [2]int{width, height}); d != "" {
			t.Error(d)
		}
	}
}

func TestKeysComeOneByOne(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	k := Terminal{}.NewKeyboard(strings.NewReader("A \nb\x03"), &out)
	var got []string
	for range 4 {
		key, err := k.Read()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key)
	}
	if d := cmp.Diff([]string{"a", "b", "", ""}, got); d != "" || k.Silent() {
		t.Errorf("silent %v: %s", k.Silent(), d)
	}
	if d := cmp.Diff("a\r\nb\r\n\r\n\r\n", out.String()); d != "" {
		t.Error(d)
	}
	none := Terminal{}.NewKeyboard(strings.NewReader(""), &out)
	if key, err := none.Read(); key != "" || err != nil || !none.Silent() {
		t.Error(fmt.Sprint(key, err, none.Silent()))
	}
}

func TestATableWithoutItsEmptyColumns(t *testing.T) {
	t.Parallel()
	table := Table{Head: []string{"A", "B", "C", "D"}, Right: map[int]bool{2: true}}
	table.Add("x", "", 1, "")
	table.Add("y", "", 20, "")
	var out strings.Builder
	if err := table.Compact("B", "C").Write(&out); err != nil {
		t.Fatal(err)
	}
	if want := "A   C  D\nx   1\ny  20\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
}

func TestLinesFitATerminal(t *testing.T) {
	t.Parallel()
	got := Fitting([]string{"a long line", "two", "three"}, 6, 3)
	if want := []string{"a lo…", "two"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if n := len(Fitting(make([]string, 99), 0, 0)); n != 23 {
		t.Errorf("%d lines of an unknown terminal", n)
	}
}
