package assay_test

import (
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
)

func TestCellsWithOtherSeparatorsAreQuoted(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	c := assay.NewCSV(&b)
	for _, row := range [][]string{{"a;=1+1", "b\t=1", "c"}, {"", "x"}, {""}, {"say \"so\"", " y", "1,2"}} {
		if err := c.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	c.Flush()
	want := "\"a;=1+1\",\"b\t=1\",c\n,x\n\"\"\n\"say \"\"so\"\"\",\" y\",\"1,2\"\n"
	if d := cmp.Diff(want, b.String()); d != "" || c.Error() != nil {
		t.Error(d, c.Error())
	}
}

// FuzzCSV holds it against the reader that everyone has.
func FuzzCSV(f *testing.F) {
	f.Add("a;b", "", "c\n\"d\"")
	f.Add(`\.`, " x", "\t")
	f.Fuzz(func(t *testing.T, x, y, z string) {
		for _, s := range []string{x, y, z} {
			if !utf8.ValidString(s) || strings.Contains(s, "\r") { // the reader takes \r\n for \n
				t.Skip()
			}
		}
		var b strings.Builder
		c := assay.NewCSV(&b)
		rows := [][]string{{x, y, z}, {z, x, y}}
		for _, r := range rows {
			if err := c.Write(r); err != nil {
				t.Fatal(err)
			}
		}
		c.Flush()
		got, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
		if err != nil || !cmp.Equal(rows, got) {
			t.Errorf("%q is read as %q (%v)", rows, got, err)
		}
	})
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAFullDiskEndsTheTable(t *testing.T) {
	t.Parallel()
	c := assay.NewCSV(full{})
	long := []string{strings.Repeat("x", 1<<17)}
	if err := c.Write(long); err == nil {
		t.Error("nothing is said of a failed write")
	}
	c.Flush()
	if c.Error() == nil {
		t.Error("the error is forgotten")
	}
}
