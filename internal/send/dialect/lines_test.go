package dialect_test

import (
	"errors"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/send/dialect"
)

// found is a RawLine with bytes that last.
type found struct {
	Offset, Length int64
	Text           string
	TooLong        bool
}

func collect(seq iter.Seq2[dialect.RawLine, error]) ([]found, error) {
	var all []found
	for l, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, found{l.Offset, l.Length, string(l.Bytes), l.TooLong})
	}
	return all, nil
}

func TestOnlyANewlineEndsALine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		name, text string
		max        int
		want       []found
	}{
		{"nothing", "", 0, nil},
		{"blank lines", "\n \r\n\t\n\n", 0, nil},
		{"a last line without an end", "a\nb", 0, []found{{0, 1, "a", false}, {2, 1, "b", false}}},
		{"carriage returns", "a\r\n\r\nb\r\n", 0, []found{{0, 1, "a", false}, {5, 1, "b", false}}},
		{"what looks like an end", "a\u2028\u2029\u0085\v\f\rb\nc", 0,
			[]found{{0, 13, "a\u2028\u2029\u0085\v\f\rb", false}, {14, 1, "c", false}}},
		{"a byte order mark", "\ufeffa\n\ufeffb\n", 0, []found{{3, 1, "a", false}, {5, 4, "\ufeffb", false}}},
		{"a byte order mark alone", "\ufeff\n", 0, nil},
		{"space around a line", "  a b \n", 0, []found{{2, 3, "a b", false}}},
		{"lines around the limit", "1234\n12345\r\n123456\n1\n", 5,
			[]found{{0, 4, "1234", false}, {5, 5, "12345", false}, {12, 6, "", true}, {19, 1, "1", false}}},
		{"a long line", long + "\na\n", 0, []found{{0, 200_000, long, false}, {200_001, 1, "a", false}}},
		{"too long a line", "a\n" + long + "\r\nb", 100_000, []found{{0, 1, "a", false}, {2, 200_000, "", true}, {200_004, 1, "b", false}}},
		{"too long a last line", long, 10, []found{{0, 200_000, "", true}}},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(c.text), "bytewise": iotest.OneByteReader(strings.NewReader(c.text)),
			"with its end": iotest.DataErrReader(strings.NewReader(c.text)),
		} {
			got, err := collect(dialect.Lines(r, c.max))
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, name, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %s: %s", c.name, name, diff)
			}
			for _, l := range got {
				if !l.TooLong && c.text[l.Offset:l.Offset+l.Length] != l.Text {
					t.Errorf("%s: %+v stands elsewhere", c.name, l)
				}
			}
		}
	}
}

func TestAReadErrorEndsTheLinesAndIsReported(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	got, err := collect(dialect.Lines(io.MultiReader(strings.NewReader("a\nhalf a li"), iotest.ErrReader(broken)), 0))
	if diff := cmp.Diff([]found{{0, 1, "a", false}}, got); diff != "" || !errors.Is(err, broken) {
		t.Error(diff, err)
	}
}

func TestReadingStopsWhenTheWalkEnds(t *testing.T) {
	t.Parallel()
	for range dialect.Lines(strings.NewReader("a\nb\n"), 0) {
		break
	}
}

func TestLinesOfAnyLengthNeedLittleMemory(t *testing.T) {
	endless := io.LimitReader(zeros{}, 300<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := collect(dialect.Lines(io.MultiReader(endless, strings.NewReader("\nend")), 1<<20))
	runtime.ReadMemStats(&after)
	if err != nil || len(got) != 2 || !got[0].TooLong || got[0].Length != 300<<20 || got[1].Text != "end" {
		t.Fatal(len(got), err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

// zeros is an endless text without a newline.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}
