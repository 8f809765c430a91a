package inputs

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
)

func TestAJoinPutsTheOtherRowUnderAField(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"in/be kind.json": `{"inputs":["a","b"]}`, "in/2.json": `{"inputs":["c"]}`,
		"spec.jsonl": `{"id":"be kind","section":"s1"}` + "\n" + `{"id":2,"section":"s2"}` + "\n" + `{"id":"unused"}`,
		"p.csv":      "section,label\ns1,S one\ns2,S two\n",
	}
	s := Open(tree(files), map[string]Spec{
		"statements": {File: "spec.jsonl"},
		"in": {File: "in", Cluster: "group", Text: "text", Join: []Join{
			{With: "statements", Left: "group", Right: "id", As: "statement"},
			{With: "p.csv", Left: "statement.section", Right: "section"},
		}},
	})
	same(t, []string(nil), reported(t, s))
	var got []string
	for _, it := range items(t, s, "in") {
		got = append(got, fmt.Sprint(it.ID, "|", it.Cluster, "|", it.Fields["statement"], "|", it.Fields["p"]))
	}
	same(t, []string{
		"2-1|2|map[id:2 section:s2]|map[id:2 label:S two section:s2]",
		"be kind-1|be kind|map[id:be kind section:s1]|map[id:1 label:S one section:s1]",
		"be kind-2|be kind|map[id:be kind section:s1]|map[id:1 label:S one section:s1]",
	}, got)
}

func TestAJoinTellsWhatIsMissingOrTwice(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		join  Join
		want  []string
	}{
		"no partner": {
			files: map[string]string{"a.jsonl": "{\"k\":1}\n{\"k\":2}\n{}", "b.csv": "k\n1\n"},
			join:  Join{With: "b.csv", Left: "k", Right: "k", As: "b"},
			want: []string{
				"a.jsonl:2: item \"2\": no row of b.csv has k = \"2\" (`missing: keep` allows it)",
				"a.jsonl:3: item \"3\" has no field \"k\" to join by (`missing: keep` allows it)",
			},
		},
		"no partner, kept": {
			files: map[string]string{"a.jsonl": "{\"k\":1}\n{\"k\":2}\n{}", "b.csv": "k\n1\n"},
			join:  Join{With: "b.csv", Left: "k", Right: "k", As: "b", Missing: MissingKeep},
		},
		"two partners": {
			files: map[string]string{"a.jsonl": "{\"k\":1}", "b.csv": "k\n1\n2\n1\n"},
			join:  Join{With: "b.csv", Left: "k", Right: "k", As: "b"},
			want:  []string{`b.csv:4: k = "1" also stands at b.csv:2 (a join needs one row for each key)`},
		},
		"the field is taken": {
			files: map[string]string{"a.jsonl": "{\"k\":1}", "k.csv": "k\n1\n"},
			join:  Join{With: "k.csv", Left: "k", Right: "k"},
			want:  []string{"a.jsonl:1: item \"1\" already has the field \"k\" that the join fills (choose another name with `as:`)"},
		},
		"no such column": {
			files: map[string]string{"a.jsonl": "{\"k\":1}", "b.csv": "x\n1\n"},
			join:  Join{With: "b.csv", Left: "k", Right: "k", As: "b"},
			want:  []string{`study.yaml:3:5: b.csv has no field "k" to join by (it has "x")`},
		},
		"no key in a row": {
			files: map[string]string{"a.jsonl": "{\"k\":1}", "b.jsonl": "{\"k\":1}\n{}\n"},
			join:  Join{With: "b.jsonl", Left: "k", Right: "k", As: "b"},
			want:  []string{`b.jsonl:2: the row has no field "k" to join by`},
		},
		"no such file": {
			files: map[string]string{"a.jsonl": "{\"k\":1}\n?"},
			join:  Join{With: "b.csv", Left: "k", Right: "k", As: "b", At: assay.Place{File: "study.yaml", Line: 9}},
			want: []string{
				"a.jsonl:2:1: bad JSON: '?' stands where a value should",
				`study.yaml:9: "b.csv" does not exist (paths count from the study's folder)`,
			},
		},
		"half a join": {
			files: map[string]string{"a.jsonl": "{\"k\":1}"},
			join:  Join{With: "b.csv", Left: "k"},
			want: []string{"study.yaml:3:5: input in: a join needs `with` and two fields to match (join: {with: FILE, match: left = " +
				"right, as: NAME})"},
		},
		"unknown word": {
			files: map[string]string{"a.jsonl": "{\"k\":1}", "b.csv": "k\n1\n"},
			join:  Join{With: "b.csv", Left: "k", Right: "k", Missing: "drop"},
			want:  []string{`study.yaml:3:5: input in: unknown ` + "`missing`" + ` "drop" (problem or keep)`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, reported(t, one(test.files, Spec{File: "a.jsonl", Join: []Join{test.join}})))
		})
	}
}

func TestALeftColumnThatIsMissingIsReportedOnce(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.csv": "x\n1\n2\n", "b.csv": "k\n1\n"}
	s := one(files, Spec{File: "a.csv",
		Join: []Join{{With: "b.csv", Left: "k", Right: "k"}, {With: "b.csv", Left: "x", Right: "k", As: "b"}}})
	same(t, []string{
		`study.yaml:3:5: input in: two joins fill the field "b" (choose names with ` + "`as:`)",
	}, reported(t, s))
	s = one(files, Spec{File: "a.csv", Join: []Join{{With: "b.csv", Left: "k", Right: "k"}}})
	same(t, []string{`study.yaml:3:5: input in has no field "k" to join by (it has "x")`}, reported(t, s))
}

func TestTheSmallerSideOfAJoinIsHeld(t *testing.T) {
	t.Parallel()
	var far strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&far, `{"id":"%d","text":"%s"}`+"\n", i, strings.Repeat("x", 1000))
	}
	files := map[string]string{"near.csv": "k\n7\n900\n", "far.jsonl": far.String()}
	s := one(files, Spec{File: "near.csv", Join: []Join{{With: "far.jsonl", Left: "k", Right: "id"}}})
	s.caps.table = 10_000 // of about 1.3 MB
	got := items(t, s, "in")
	same(t, 2, len(got))
	same(t, any("900"), got[1].Fields["far"].(map[string]any)["id"])

	s.caps.table = 1000
	same(t, []string{"study.yaml:3:5: the rows of far.jsonl that input in joins take more than 0 MB (join fewer or smaller rows)"},
		reported(t, s))
}

func TestASampleOfAJoinLoadsTheOtherSideOnce(t *testing.T) {
	t.Parallel()
	fsys := &counting{FS: tree(map[string]string{"a.csv": "k\n1\n2\n3\n", "b.csv": "k\n1\n2\n3\n"})}
	s := Open(fsys, map[string]Spec{"in": {File: "a.csv", Sample: &Sample{N: 2}, Join: []Join{{With: "b.csv", Left: "k", Right: "k"}}}})
	same(t, 2, len(items(t, s, "in")))
	same(t, 1, fsys.opened["b.csv"])
}
