package inputs

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFieldsAreReportedWithoutReadingAll(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 200 {
		fmt.Fprintf(&long, `{"k%d":1,"a":"x"}`+"\n", i)
	}
	files := tree(map[string]string{
		"a.csv": "\xEF\xBB\xBFid,text\n1\n\"", "b.tsv": "x\ty\n", "q.txt": "?", "j.jsonl": "{\"b\":1}\n{\"a\":2}\n",
		"l.jsonl": long.String(), "big.jsonl": `{"a":"` + strings.Repeat("x", 2<<20) + "\"}\n{\"b\":1}\n", "o.json": `{"inputs":["x"]}`,
		"bad.csv": "a,a\n", "d/a.txt": "x", "d/b.md": "y", "shards/1.csv": "a,b\n", "shards/2.csv": "b,c\n", "mixed/1.csv": "a\n",
		"mixed/2.json": "{\"z\":1}",
	})
	files["p.parquet"] = &fstest.MapFile{Data: written(t, 10, plainRow{"x", 1})}
	s := Open(files, map[string]Spec{
		"csv": {File: "a.csv"}, "tsv": {File: "b.tsv"}, "txt": {File: "q.txt"}, "jsonl": {File: "j.jsonl"}, "big": {File: "big.jsonl"},
		"inputs": {File: "o.json"}, "folder": {File: "d"}, "shards": {File: "shards"}, "mixed": {File: "mixed"},
		"parquet": {File: "p.parquet"}, "joined": {File: "b.tsv", Text: "y", Join: []Join{{With: "csv", Left: "x", Right: "id"}}},
		"slice":  {Of: "joined"},
		"inline": {Items: []map[string]any{{"b": 1, "a": 2}, {"c": 3}}},
	})
	type answer struct {
		Fields []string
		Open   bool
	}
	want := map[string]answer{
		"csv": {[]string{"id", "text"}, false}, "tsv": {[]string{"x", "y"}, false}, "txt": {[]string{"text"}, false},
		"jsonl": {[]string{"b", "a"}, true}, "big": {[]string{"a"}, true}, "inputs": {[]string{"group", "original_index", "text"}, true},
		"folder": {[]string{"text"}, false}, "shards": {[]string{"a", "b", "c"}, false}, "mixed": {[]string{"a", "z"}, true},
		"parquet": {[]string{"text", "n"}, false}, "joined": {[]string{"x", "y", "csv", "text"}, false},
		"slice": {[]string{"x", "y", "csv", "text"}, false}, "inline": {[]string{"a", "b", "c"}, false},
	}
	got := map[string]answer{}
	for name := range want {
		fields, open, problems := s.Fields(name)
		if problems != nil {
			t.Errorf("%s: %v", name, problems)
		}
		got[name] = answer{fields, open}
	}
	same(t, want, got)

	s = Open(files, map[string]Spec{"long": {File: "l.jsonl"}})
	if fields, _, _ := s.Fields("long"); len(fields) != 101 {
		t.Errorf("%d fields: 100 rows are looked at", len(fields))
	}
}

func TestFieldsReportProblems(t *testing.T) {
	t.Parallel()
	s := Open(tree(map[string]string{"bad.csv": "a,a\n", "utf16.csv": "\xFF\xFEa", "x.parquet": "nothing at all"}), map[string]Spec{
		"bad": {File: "bad.csv"}, "missing": {File: "no.csv"}, "utf16": {File: "utf16.csv"}, "x": {File: "x.parquet"},
		"dangling": {Of: "no"},
	})
	for _, name := range []string{"bad", "missing", "utf16", "x", "dangling", "unknown"} {
		if _, open, problems := s.Fields(name); len(problems) != 1 || !open {
			t.Errorf("%s: open %v, problems %v", name, open, problems)
		}
	}
}
