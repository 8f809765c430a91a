package term

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestTablesFitTheGlass(t *testing.T) {
	t.Parallel()
	table := func() *Table {
		t := &Table{Head: []string{"STAGE", "LANE", "PLANNED", "CUT", "LOST", "NOTE", "COST"},
			Right: map[int]bool{2: true, 3: true, 4: true, 6: true}}
		for i := range 3 {
			t.Add("answers", "a-lane-with-quite-a-long-name", 48, 0, i, strings.Repeat("why it is so 東京 ", 8), "$0.10")
		}
		return t
	}
	for _, width := range []int{20, 40, 60, 80, 100, 200, 0} {
		var b bytes.Buffer
		if err := table().Write(Glass{Writer: &b, Columns: func() int { return width }}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		for _, line := range lines {
			if width >= 40 && textWidth(line) > width && !strings.HasPrefix(line, "(left out") {
				t.Errorf("%d columns: %d in %q", width, textWidth(line), line)
			}
		}
		head := strings.Fields(lines[0])
		switch {
		case head[0] != "STAGE" || head[1] != "LANE":
			t.Errorf("%d columns: %q", width, lines[0])
		case width >= 80 && strings.Contains(b.String(), "left out"):
			t.Errorf("%d columns leave something out:\n%s", width, b.String())
		case width == 40 && !strings.Contains(b.String(), "--wide prints all)"):
			t.Errorf("%d columns leave nothing out:\n%s", width, b.String())
		case width > 0 && width <= 100 && strings.Contains(lines[0], "CUT"), width == 0 && !strings.Contains(lines[0], "CUT"):
			t.Errorf("%d columns: a column of zeros: %q", width, lines[0])
		case width == 0 && !strings.Contains(lines[1], strings.Repeat("why it is so 東京 ", 7)):
			t.Errorf("what is not looked at is cut: %q", lines[1])
		}
	}
}

func TestWordsAreWrappedBetweenThem(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{0: "- one two three", 8: "- one\n  two\n  three", 9: "- one two\n  three",
		15: "- one two three"} {
		if got := Wrapped("- one two three", width, "  "); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

func TestSentencesAreBrokenAndCommandsStayWhole(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := &Prose{To: &b, Columns: func() int { return 20 }}
	for _, text := range []string{"one two three four five\n  six seven eight nine ten\n", "    assay run a/study.yaml --yes\n",
		"Send? Say what you want ", "\x1b[2Kbars that are drawn by the terminal\n"} {
		fmt.Fprint(p, text)
	}
	want := "one two three four\n  five\n  six seven eight\n    nine ten\n    assay run a/study.yaml --yes\n" +
		"Send? Say what you\n  want \x1b[2Kbars that are drawn by the terminal\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestHelpIsBrokenAnew(t *testing.T) {
	t.Parallel()
	help := "One two three\nfour five. Six:\n  word  what it is for me\n\nFlags:\n      --a int   a number of things\n"
	want := "One two three four\nfive. Six:\n  word  what it is\n        for me\n" +
		"\nFlags:\n      --a int   a\n          number of\n          things\n"
	if got := Folded(help, 20); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Folded(help, 0); got != help {
		t.Errorf("without a terminal: %q", got)
	}
}

func TestNothingSteersATerminal(t *testing.T) {
	t.Parallel()
	text := "a\x1b]52;c;x\a\tb\u202ec\u009bd\u200de\xff東\n"
	want := `a\u001b]52;c;x\u0007` + "\t" + `b\u202ec\u009bd` + "\u200d" + `e\xff東` + "\n"
	for size := 1; size < 5; size++ { // characters that come in pieces
		var b bytes.Buffer
		h := &Harmless{To: &b}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			fmt.Fprint(h, rest[:n])
			rest = rest[n:]
		}
		if b.String() != want {
			t.Errorf("in pieces of %d: %q", size, b.String())
		}
	}
}

func TestALongMessageAboveTheBarsLeavesNoRemains(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := NewScreen(&b)
	for _, above := range [][]string{nil, {"a message that is wider than the terminal"}} {
		b.Reset()
		if err := s.Draw(above, []string{"bar 1", "bar 2"}); err != nil {
			t.Fatal(err)
		}
	}
	if up, clear, text := strings.Index(b.String(), "\x1b[2A"), strings.Index(b.String(), "\x1b[J"),
		strings.Index(b.String(), "a message"); !(up >= 0 && up < clear && clear < text) {
		t.Errorf("%q", b.String())
	}
}

func TestColumnsThatCanBeSparedGoFirst(t *testing.T) {
	t.Parallel()
	table := Table{Head: []string{"MODEL", "INPUT", "WRITE", "OUTPUT", "SOURCE"}, Right: map[int]bool{1: true, 2: true, 3: true},
		Least: map[int]int{0: 20}, Spare: []string{"SOURCE", "WRITE"}}
	table.Add("openai/gpt-5.4-mini", 1, 2, 3, "https://example.com/prices")
	table.Add("somewhere/with-a-very-long-name-of-a-model", 1, 2, 3, "https://example.com/prices")
	for width, want := range map[int]string{
		80: "MODEL                           INPUT  WRITE  OUTPUT  SOURCE",
		60: "MODEL                 INPUT  WRITE  OUTPUT  SOURCE",
		48: "MODEL                       INPUT  WRITE  OUTPUT",
		38: "MODEL                    INPUT  OUTPUT",
	} {
		var b bytes.Buffer
		if err := table.Write(Glass{Writer: &b, Columns: func() int { return width }}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		if lines[0] != want || !strings.HasPrefix(lines[1], "openai/gpt-5.4-mini ") {
			t.Errorf("%d columns:\n%s", width, b.String())
		}
		if left := strings.Contains(b.String(), "left out at this width: "); left != (width < 60) {
			t.Errorf("%d columns: %s", width, b.String())
		}
	}
}

func TestNamesAreCutInTheirMiddle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a-lane-with-quite-a-long-name.0.1": "a-lane-with-…name.0.1", "a-lane-with-quite-a-long-name.0.7": "a-lane-with-…name.0.7",
		"a text of several words": "a text of several wo…", "short": "short",
		strings.Repeat("東", 20): strings.Repeat("東", 5) + "…" + strings.Repeat("東", 4),
	} {
		got := shortened(text, 21)
		if textWidth(got) > 21 {
			t.Errorf("%q is %d wide", got, textWidth(got))
		}
		if got != want && !strings.Contains(text, "東") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
