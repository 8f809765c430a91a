package assay_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
)

func TestForeignWordsAreMadeFitToPrint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words string
		max   int
		want  string
	}{
		{"plain é 語 👩‍👧", 100, "plain é 語 👩‍👧"},
		{"a\nb\tc\rd", 100, `a\nb\tc\rd`},
		{"\x1b[31mred\x1b[0m", 100, `\u001b[31mred\u001b[0m`},
		{"\x00\x7f\u009b", 100, `\u0000\u007f\u009b`},
		{"\u202eevil\u2066\u200f\ufeff\u2028", 100, `\u202eevil\u2066\u200f\ufeff\u2028`},
		{"bad \xff utf8 \xe2\x80", 100, `bad \xff utf8 \xe2\x80`},
		{"12345", 5, "12345"},
		{"123456", 5, "12…"},
		{"1234\n5678", 8, "1234…"},
		{"語語語", 8, "語…"},
		{"abc", 0, ""},
		{"abc", 2, ""},
	} {
		got := assay.Clean(c.words, c.max)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q at %d: %s", c.words, c.max, diff)
		}
		if len(got) > c.max || !utf8.ValidString(got) {
			t.Errorf("%q at %d gives %d bytes", c.words, c.max, len(got))
		}
	}
}

func TestNumbersHaveTheirGroupsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := assay.Thousands(n); got != want {
			t.Errorf("%d is written %s, not %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 items", 1: "1 item", 2: "2 items", 1200: "1,200 items"} {
		if got := assay.Count(n, "item"); got != want {
			t.Errorf("%d is written %s, not %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{999: "999 B", 1500: "1.5 kB", 2_500_000: "2.5 MB", 1_230_000_000: "1.23 GB"} {
		if got := assay.Size(n); got != want {
			t.Errorf("%d bytes are written %s, not %s", n, got, want)
		}
	}
}

func TestLinesOfAForeignTextStayLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	if got, want := assay.CleanLines("a\tb\r\nc\x1b[2Jd\u202ee\n"+long), "a    b\nc\\u001b[2Jd\\u202ee\n"+long; got != want {
		t.Errorf("got %q", got)
	}
}
