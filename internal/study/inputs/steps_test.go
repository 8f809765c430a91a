package inputs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
)

func numbered(n int) map[string]string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "q%d\n", i+1)
	}
	return map[string]string{"q.txt": b.String()}
}

func odd(it assay.Item) (bool, error) { return (it.ID[len(it.ID)-1]-'0')%2 == 1, nil }

func TestStepsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		specs map[string]Spec
		want  []string
	}{
		"rows, several and open": {
			specs: map[string]Spec{"in": {File: "q.txt", Rows: []Range{{18, 0}, {2, 3}, {3, 4}}}},
			want:  []string{"2", "3", "4", "18", "19", "20"},
		},
		"rows count before where": {
			specs: map[string]Spec{"in": {File: "q.txt", Rows: []Range{{2, 6}}, Where: odd}},
			want:  []string{"3", "5"},
		},
		"limit counts after where": {
			specs: map[string]Spec{"in": {File: "q.txt", Where: odd, Limit: 3}},
			want:  []string{"1", "3", "5"},
		},
		"a slice counts the rows of the whole's result and keeps its ids": {
			specs: map[string]Spec{"all": {File: "q.txt", Where: odd}, "in": {Of: "all", Rows: []Range{{2, 4}}}},
			want:  []string{"3", "5", "7"},
		},
		"a slice of a slice": {
			specs: map[string]Spec{"all": {File: "q.txt"}, "late": {Of: "all", Rows: []Range{{11, 0}}}, "in": {Of: "late", Limit: 2}},
			want:  []string{"11", "12"},
		},
		"limit counts after sample": {
			specs: map[string]Spec{"in": {File: "q.txt", Sample: &Sample{N: 20}, Limit: 2}},
			want:  []string{"1", "2"},
		},
		"a sample larger than the input is the input": {
			specs: map[string]Spec{"in": {File: "q.txt", Rows: []Range{{1, 3}}, Sample: &Sample{N: 5}}},
			want:  []string{"1", "2", "3"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, ids(t, Open(tree(numbered(20)), test.specs), "in"))
		})
	}
}

func TestAPopulationIsWithoutSampleAndLimit(t *testing.T) {
	t.Parallel()
	s := Open(tree(numbered(20)), map[string]Spec{"in": {File: "q.txt", Rows: []Range{{3, 0}}, Sample: &Sample{N: 5}, Limit: 2}})
	all, err := s.Population(t.Context(), "in")
	if n := len(ids(t, s, "in")); err != nil || all != 18 || n != 2 {
		t.Errorf("%d of %d: %v", n, all, err)
	}
}

func TestAReadingEndsWithTheLastRowWanted(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.jsonl": "{}\n{}\n?\n"}
	for name, spec := range map[string]Spec{
		"rows":  {File: "a.jsonl", Rows: []Range{{1, 2}}},
		"limit": {File: "a.jsonl", Limit: 2},
	} {
		if got := reported(t, one(files, spec)); got != nil {
			t.Errorf("%s: the check read on: %v", name, got)
		}
	}
}

func TestASampleIsFixedBySeedAndID(t *testing.T) {
	t.Parallel()
	draw := func(files map[string]string, n int, seed uint64) []string {
		return ids(t, one(files, Spec{File: "q.csv", Sample: &Sample{N: n, Seed: seed}}), "in")
	}
	var rows []string
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("item %d", i))
	}
	file := func(rows []string) map[string]string {
		return map[string]string{"q.csv": "id\n" + strings.Join(rows, "\n")}
	}
	small, large := draw(file(rows), 10, 7), draw(file(rows), 40, 7)
	same(t, []int{10, 40}, []int{len(small), len(large)})
	for _, id := range small {
		if !slices.Contains(large, id) {
			t.Errorf("%s is in the sample of 10 and not in that of 40", id)
		}
	}
	backwards := slices.Clone(rows)
	slices.Reverse(backwards)
	again := draw(file(backwards), 10, 7)
	slices.Reverse(again)
	same(t, small, again)
	if cmp.Equal(small, draw(file(rows), 10, 8)) {
		t.Error("another seed gives the same sample")
	}
	// The choice must never change: runs are continued by later versions.
	same(t, []string{"2", "6", "15"},
		ids(t, Open(tree(numbered(20)), map[string]Spec{"in": {File: "q.txt", Sample: &Sample{N: 3, Seed: 7}}}), "in"))
}

func TestASampleHasTheSmallestHashes(t *testing.T) {
	t.Parallel()
	var lots []lot
	for i := range 500 {
		lots = append(lots, lotOf(1, fmt.Sprint(i)))
	}
	sorted := slices.SortedFunc(slices.Values(lots), lot.compare)
	for _, n := range []int{1, 2, 3, 50, 499, 500, 501} {
		var l lottery
		for _, x := range lots {
			l.draw(x, n)
		}
		same(t, sorted[min(n, 500)-1], l[0])
	}
}

func TestTextClusterAndExpectComeFromFields(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.jsonl": `{"q":{"body":"hi"},"topic":3,"right":true}` + "\n" +
		`{"q":{"body":"ho"},"topic":"x","right":null}`}
	s := Open(tree(files), map[string]Spec{
		"in":    {File: "a.jsonl", Text: "q.body", Cluster: "topic", ExpectField: "right"},
		"slice": {Of: "in", Rows: []Range{{2, 2}}},
		"other": {Of: "in", Cluster: "id", Expect: "no", Rows: []Range{{1, 1}}},
	})
	type seen struct {
		Text            any
		Cluster, Expect string
	}
	look := func(name string) (out []seen) {
		for _, it := range items(t, s, name) {
			out = append(out, seen{it.Fields["text"], it.Cluster, it.Expect})
		}
		return out
	}
	same(t, []seen{{"hi", "3", "true"}, {"ho", "x", ""}}, look("in"))
	same(t, []seen{{"ho", "x", ""}}, look("slice"))
	same(t, []seen{{"hi", "1", "no"}}, look("other"))
}

func TestRangesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []Range
	}{
		{"1-100", []Range{{1, 100}}},
		{"5", []Range{{5, 5}}},
		{"10-", []Range{{10, 0}}},
		{" 1 - 3, 7,9- ", []Range{{1, 3}, {7, 7}, {9, 0}}},
	}
	for _, test := range tests {
		got, err := ParseRows(test.text)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
		}
		same(t, test.want, got)
		for _, r := range got {
			back, err := ParseRows(r.String())
			if err != nil {
				t.Error(err)
			}
			same(t, []Range{r}, back)
		}
	}
	for _, bad := range []string{"", "0", "0-3", "3-1", "a", "1-b", "1,,2", "-3", "1-2-3", "99999999999999999999"} {
		if got, err := ParseRows(bad); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}

func TestAUnionHoldsAllItemsOfItsInputs(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a.csv": "ID,text,rule\na1,one,x\na2,two,y\n",
		"b.csv": "Id,text,level\nb1,three,3\n",
		"c.txt": "four\n",
	}
	specs := map[string]Spec{
		"a": {File: "a.csv"}, "b": {File: "b.csv", Text: "text"}, "c": {File: "c.txt"},
		"all": {All: []string{"a", "b", "c"}}, "few": {Of: "all", Rows: []Range{{2, 3}}},
	}
	s := Open(tree(files), specs)
	if problems := s.Check(t.Context()); len(problems) > 0 {
		t.Fatal(problems)
	}
	var got []string
	for it, err := range s.Items(t.Context(), "all") {
		if err != nil {
			t.Fatal(err)
		}
		if _, has := it.Fields["level"]; !has {
			t.Errorf("item %s has no field that others of the union have", it.ID)
		}
		got = append(got, fmt.Sprint(it.ID, " ", it.Fields["input"], " ", it.Fields["text"], " ", it.Fields["rule"], " ",
			it.Fields["level"]))
	}
	want := []string{"a1 a one x <nil>", "a2 a two y <nil>", "b1 b three <nil> 3", "1 c four <nil> <nil>"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n, err := s.Count(t.Context(), "few"); n != 2 || err != nil {
		t.Errorf("a slice of a union has %d items, %v", n, err)
	}
	fields, _, _ := s.Fields("all")
	for _, name := range []string{"rule", "level", "input", "text"} {
		if !slices.Contains(fields, name) {
			t.Errorf("the fields of a union are %v", fields)
		}
	}
}

func TestWhatIsWrongWithAUnionIsReported(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.csv": "id,text\nx,one\n", "b.csv": "id,text\nx,two\n"}
	for name, c := range map[string]struct {
		union Spec
		want  string
	}{
		"equal ids":         {Spec{All: []string{"a", "b"}}, "ids must differ"},
		"a strange name":    {Spec{All: []string{"a", "z"}}, `holds all of "z", which the study does not have`},
		"twice the same":    {Spec{All: []string{"a", "a"}}, `holds "a" twice`},
		"made of itself":    {Spec{All: []string{"a", "in"}}, "made of itself"},
		"ids of its own":    {Spec{All: []string{"a"}, ID: "text"}, "whose ids are kept"},
		"two kinds at once": {Spec{All: []string{"a"}, Of: "b"}, "2 sources"},
	} {
		s := Open(tree(files), map[string]Spec{"a": {File: "a.csv"}, "b": {File: "b.csv"}, "in": c.union})
		if got := fmt.Sprint(s.Check(t.Context())); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
