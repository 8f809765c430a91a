package studyfile_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study"
	"assay/internal/study/edit"
	"assay/internal/study/studyfile"
)

const listing = `study: s
inputs: {q: {items: [{id: s1, text: one}, {id: s2, text: two}, {id: s3, text: three}]}}
lanes: {a: {model: openai/gpt-4.1}, b: {model: openai/gpt-4.1-mini}, j: {model: openai/gpt-4.1}}
stages:
  - {name: answers, ask: q, prompt: "{{ text }}", lanes: [a, b]}
  - {name: arena, compare: COMPARED, rubric: better, judges: [j], pairs: PAIRS}
`

func listed(compared, pairs, name, text string) (*study.Study, error) {
	s, problems := studyfile.Read(fstest.MapFS{
		"s.yaml": {Data: []byte(strings.NewReplacer("COMPARED", compared, "PAIRS", pairs).Replace(listing))},
		name:     {Data: []byte(text)},
	}, "s.yaml", studyfile.Options{})
	if len(problems.Errors()) > 0 {
		return s, problems.Errors()
	}
	return s, nil
}

func TestAListOfPairsIsReadInItsForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ compared, pairs, name, text, want string }{
		{"q", "{file: p.csv}", "p.csv", "first,second\ns1,s2\ns3,s1\n", "s1-s2 s3-s1"},
		{"q", "{file: p.csv}", "p.csv", "item,A,b\nx,s1,s2\n", "s1-s2"}, // no item to meet on
		{"q", "{file: p.csv}", "p.csv", "pair,ID1,text1,ID2,text2\n1,s1,one,s2,two\n2,s2,two,s1,one\n", "s1-s2 twice"},
		{"q", "{file: p.tsv, first: left, second: right}", "p.tsv", "left\tright\ns2\ts3\n", "s2-s3"},
		{"q", "{file: p.jsonl, order: both}", "p.jsonl", `{"a": "s1", "b": "s3"}` + "\n" + `{"a": "s2", "b": "s3"}` + "\n", "s1-s3 s2-s3"},
		{"answers", "{file: p.csv}", "p.csv", "lane_a,lane_b\na,b\n", "a-b"},
		{"answers", "{file: p.csv}", "p.csv", "item,lane_a,lane_b\ns1,a,b\ns2,a,b\n", "a-b on s1 a-b on s2"},
		{"answers", "{file: p.jsonl, item: about}", "p.jsonl", `{"first": "a", "second": "b", "about": "s1"}`, "a-b on s1"},
	} {
		s, err := listed(c.compared, c.pairs, c.name, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		st, _ := s.Stage("arena")
		var got []string
		for _, p := range st.Pairs.File.Rows {
			word := p.First + "-" + p.Second
			if p.Item != "" {
				word += " on " + p.Item
			}
			if p.Twice {
				word += " twice"
			}
			got = append(got, word)
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", c.text, d)
		}
		if d := cmp.Diff([]string{c.name}, s.Loaded); d != "" {
			t.Errorf("it is not kept with the run: %s", d)
		}
	}
}

func TestWhatIsWrongWithAListOfPairsIsSaidWithItsLine(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	many.WriteString("first,second\n")
	for range 25 {
		many.WriteString("s1,s1\n")
	}
	for _, c := range []struct{ compared, pairs, text, want string }{
		{"q", "{file: p.csv}", "left,right\ns1,s2\n", "p.csv:1:1: p.csv has no columns for the two sides of a pair (call them first and " +
			"second, or name them: pairs: {file: p.csv, first: COLUMN, second: COLUMN}; it has left, right)"},
		{"q", "{file: p.csv}", "first\ns1\n", "p.csv:1:1: p.csv has no columns for the two sides"},
		{"q", "{file: p.csv, first: lft, second: right}", "left,right\ns1,s2\n",
			`p.csv has no column "lft", which ` + "`first` names (did you mean left?)"},
		{"q", "{file: p.csv}", "first,second\n", "p.csv lists no pairs (one pair a row, below the names of the columns)"},
		{"q", "{file: p.csv}", "first,second\ns1,s2\ns3,s3\n", `p.csv:3: "s3" is on both sides`},
		{"q", "{file: p.csv}", "first,second\ns1,s2\ns1,s2\n", `p.csv:3: the pair "s1", "s2" is here again (first in line 2)`},
		{"q", "{file: p.csv}", "first,second\ns1,s2\ns2,s1\ns2,s1\n", `p.csv:4: the pair "s2", "s1" is here again (first in line 2)`},
		{"q", "{file: p.csv, order: both}", "first,second\ns1,s2\ns2,s1\n",
			`p.csv:3: the pair "s2", "s1" is the one in line 2 the other way round`},
		{"q", "{file: p.csv, reverse: 30%}", "first,second\ns1,s2\ns2,s1\n",
			`p.csv:3: the pair "s2", "s1" is the one in line 2 the other way round`},
		{"q", "{file: p.csv}", "first,second\ns1,\n", `p.csv:2: nothing in column "second"`},
		{"q", "{file: p.csv}", many.String(), "p.csv has 5 more rows with such problems"},
		{"q", "{file: p.csv, item: item}", "item,first,second\nx,s1,s2\n", "there is no item on which they meet"},
		{"q", "{file: none.csv}", "", "read none.csv: no such file"},
		{"q", "{file: p.csv, sample: 3}", "first,second\ns1,s2\n", "want one of all, sample, per_item, per_lane_pair, file"},
		{"q", "{all: true, first: ID1}", "", "first names a column of a list of pairs, and there is no `file`"},
		{"q", "{file: [p.csv]}", "", "the name of a file, such as pairs.csv"},
	} {
		_, err := listed(c.compared, c.pairs, "p.csv", c.text)
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s with %q: got %v, want %s", c.pairs, c.text, err, c.want)
		}
	}
}

func TestAListThatOnlyHasMorePairsGrows(t *testing.T) {
	t.Parallel()
	const was = "first,second\ns1,s2\ns3,s1\n"
	for _, c := range []struct {
		pairs, is, want string
		grows           bool
	}{
		{"{file: p.csv}", was + "s2,s3\n", "pairs of stage arena +1 (s2 s3)", true},
		{"{file: p.csv}", "first,second\ns2,s3\ns1,s2\ns3,s1\n", "pairs of stage arena +1 (s2 s3)", true},
		{"{file: p.csv}", was + "s2,s1\n", "pairs of stage arena +1 (s2 s1)", true},
		{"{file: p.csv, order: random}", was + "s2,s3\n", "pairs of stage arena +1 (s2 s3)", true},
		{"{file: p.csv, order: alternate}", was + "s2,s3\n", "pairs of stage arena +1 (s2 s3)", true},
		{"{file: p.csv, order: alternate}", "first,second\ns2,s3\ns1,s2\ns3,s1\n", "pairs of stage arena +1 (s2 s3)", false},
		{"{file: p.csv, reverse: 50%}", was + "s2,s3\n", "pairs of stage arena +1 (s2 s3)", false},
		{"{file: p.csv}", "first,second\ns1,s2\n", "pairs of stage arena -1 (s3 s1)", false},
		{"{file: p.csv}", "first,second\ns1,s2\ns1,s3\n", "pairs of stage arena +1 (s1 s3) -1 (s3 s1)", false},
		{"{file: p.csv}", "first,second\ns3,s1\ns1,s2\n", "order of pairs of stage arena", false},
		{"{file: p.csv}", "second,first\ns2,s1\ns1,s3\n", "", false}, // the same, in other columns
	} {
		old, err := listed("q", c.pairs, "p.csv", was)
		if err != nil {
			t.Fatal(err)
		}
		now, err := listed("q", c.pairs, "p.csv", c.is)
		if err != nil {
			t.Fatal(err)
		}
		d := edit.Compare(old, now)
		if d.String() != c.want || d.Grows(old, now) != c.grows {
			t.Errorf("%s, %q: %s, grows %v", c.pairs, c.is, d, d.Grows(old, now))
		}
	}
}
