package labels

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabelsAreReadWithTheirLines(t *testing.T) {
	t.Parallel()
	rows, err := labelsOfCSV("x.csv", strings.NewReader("\xef\xbb\xbfItem,lane,branch,label\n\"a\nb\",one,, yes \nc,two,doubt,no\n"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := labelsOfLines("x.jsonl", strings.NewReader(`{"item":"a\nb","lane":"one","branch":"","label":"yes"}`+"\n\n"+
		`{"item":"c","lane":"two","branch":"doubt","label":"no"}`))
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		line                      int
		item, lane, branch, label string
	}
	of := func(rows []Label) []row {
		var out []row
		for _, r := range rows {
			out = append(out, row{r.At.Line, r.item, r.lane, *r.branch, r.label})
		}
		return out
	}
	want := []row{{2, "a\nb", "one", "", "yes"}, {4, "c", "two", "doubt", "no"}}
	if d := cmp.Diff(want, of(rows), cmp.AllowUnexported(row{})); d != "" {
		t.Error(d)
	}
	want[0].line, want[1].line = 1, 3
	if d := cmp.Diff(want, of(lines), cmp.AllowUnexported(row{})); d != "" {
		t.Error(d)
	}
}

func FuzzLabelsAreReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		"item,lane,label\nq1,one,yes\n", "key,label\naaaaaaaaaaaaaaaaaaaaaaaaaa,yes\n", "a,b,winner\none,two,tie\n",
		"item,lane,score,turn\nq,one,NaN,9e9\n", `{"item":"q1","lane":"one","label":true}`, `{"item":[1],"score":1e999}`,
		"\xef\xbb\xbf\"\n", "item\n\"", "{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, read := range map[string]func(string) ([]Label, error){
			"csv":   func(s string) ([]Label, error) { return labelsOfCSV("x.csv", strings.NewReader(s)) },
			"lines": func(s string) ([]Label, error) { return labelsOfLines("x.jsonl", strings.NewReader(s)) },
		} {
			rows, err := read(text)
			for _, r := range rows {
				if err == nil && r.key == nil && r.item == "" && (r.a == "" || r.b == "") {
					t.Errorf("%s: line %d says nothing and was taken", name, r.At.Line)
				}
				if r.score != nil && *r.score != *r.score {
					t.Errorf("%s: line %d has a score that is no number", name, r.At.Line)
				}
			}
		}
	})
}
