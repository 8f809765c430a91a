package inputs

import (
	"encoding/json"
	"testing"

	"assay/internal/assay"
)

type fields = map[string]any

func at(file string, line, col int) assay.Place { return assay.Place{File: file, Line: line, Col: col} }

func TestEveryFormatGivesItsItems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		files map[string]string
		spec  Spec
		want  []assay.Item
	}{
		"lines: blank ones and comments are neither kept nor counted": {
			files: map[string]string{"q.txt": "# heading\n\nIs it safe?\n   \n  # more\n  And this?\t\n"},
			spec:  Spec{File: "q.txt"},
			want: []assay.Item{
				{ID: "1", Cluster: "1", Fields: fields{"text": "Is it safe?"}, Place: at("q.txt", 3, 0)},
				{ID: "2", Cluster: "2", Fields: fields{"text": "And this?"}, Place: at("q.txt", 6, 0)},
			},
		},
		"lines: a UTF-8 mark and CRLF are no part of the text": {
			files: map[string]string{"q.txt": "\xEF\xBB\xBFa\r\nb\r\nc"},
			spec:  Spec{File: "q.txt"},
			want: []assay.Item{
				{ID: "1", Cluster: "1", Fields: fields{"text": "a"}, Place: at("q.txt", 1, 0)},
				{ID: "2", Cluster: "2", Fields: fields{"text": "b"}, Place: at("q.txt", 2, 0)},
				{ID: "3", Cluster: "3", Fields: fields{"text": "c"}, Place: at("q.txt", 3, 0)},
			},
		},
		"csv: values stay strings; quotes hold commas, quotes and lines; blank lines are no rows": {
			files: map[string]string{"a.csv": "\xEF\xBB\xBFid,n,text\r\n\r\na b,007,\"x, \"\"y\"\"\r\nz\"\r\n\"c\nd\",,5\" pipe\r\n"},
			spec:  Spec{File: "a.csv"},
			want: []assay.Item{
				{ID: "a b", Cluster: "a b", Fields: fields{"id": "a b", "n": "007", "text": "x, \"y\"\nz"}, Place: at("a.csv", 3, 0)},
				{ID: "c\nd", Cluster: "c\nd", Fields: fields{"id": "c\nd", "n": "", "text": `5" pipe`}, Place: at("a.csv", 5, 0)},
			},
		},
		"csv: semicolons separate where the heading has no comma": {
			files: map[string]string{"a.csv": "\xEF\xBB\xBFid;\"te,xt\";n\r\na;one, two;3,5\r\nb;\"x;y\";\r\n"},
			spec:  Spec{File: "a.csv"},
			want: []assay.Item{
				{ID: "a", Cluster: "a", Fields: fields{"id": "a", "te,xt": "one, two", "n": "3,5"}, Place: at("a.csv", 2, 0)},
				{ID: "b", Cluster: "b", Fields: fields{"id": "b", "te,xt": "x;y", "n": ""}, Place: at("a.csv", 3, 0)},
			},
		},
		"csv: tabs separate where the heading has neither": {
			files: map[string]string{"a.csv": "id\ttext\nx\t1;2,3\n"},
			spec:  Spec{File: "a.csv"},
			want:  []assay.Item{{ID: "x", Cluster: "x", Fields: fields{"id": "x", "text": "1;2,3"}, Place: at("a.csv", 2, 0)}},
		},
		"csv: a semicolon beside commas is text": {
			files: map[string]string{"a.csv": "id,a;b\nx,1;2\n"},
			spec:  Spec{File: "a.csv"},
			want:  []assay.Item{{ID: "x", Cluster: "x", Fields: fields{"id": "x", "a;b": "1;2"}, Place: at("a.csv", 2, 0)}},
		},
		"csv: rows without ids are numbered, a column without a name is called by its number": {
			files: map[string]string{"a.csv": ",text\n0,x\n1,y"},
			spec:  Spec{File: "a.csv"},
			want: []assay.Item{
				{ID: "1", Cluster: "1", Fields: fields{"column_1": "0", "text": "x"}, Place: at("a.csv", 2, 0)},
				{ID: "2", Cluster: "2", Fields: fields{"column_1": "1", "text": "y"}, Place: at("a.csv", 3, 0)},
			},
		},
		"tsv: tabs part, commas do not": {
			files: map[string]string{"a.tsv": "id\ttext\nq\tx, \"y\"\n"},
			spec:  Spec{File: "a.tsv"},
			want:  []assay.Item{{ID: "q", Cluster: "q", Fields: fields{"id": "q", "text": `x, "y"`}, Place: at("a.tsv", 2, 0)}},
		},
		"jsonl: types are kept, ids are verbatim": {
			files: map[string]string{"a.jsonl": `{"id":"🙂 / \"x\"\n","i":9007199254740993,"f":1.0,"big":123456789012345678901,"e":1e999,"s":"\u00e9\ud83d\ude42\/","l":[true,null,{}]}` + "\n\n"},
			spec:  Spec{File: "a.jsonl"},
			want: []assay.Item{{ID: "🙂 / \"x\"\n", Cluster: "🙂 / \"x\"\n", Place: at("a.jsonl", 1, 0), Fields: fields{
				"id": "🙂 / \"x\"\n", "i": int64(9007199254740993), "f": 1.0, "big": json.Number("123456789012345678901"),
				"e": json.Number("1e999"),
				"s": "é🙂/", "l": []any{true, nil, fields{}}}}},
		},
		"ndjson: an id may be a number, a row may be a text alone": {
			files: map[string]string{"a.ndjson": `{"id":7}`, "b.ndjson": `"hello"`},
			spec:  Spec{Files: "*.ndjson"},
			want: []assay.Item{
				{ID: "7", Cluster: "7", Fields: fields{"id": int64(7)}, Place: at("a.ndjson", 1, 0)},
				{ID: "b-1", Cluster: "b-1", Fields: fields{"text": "hello"}, Place: at("b.ndjson", 1, 0)},
			},
		},
		"json: an array is many items": {
			files: map[string]string{"a.json": "\n [ {\"id\":\"x\",\"t\":\"a\\nb]},\\\"\"},\n{\"id\":\"y\"} ]\n"},
			spec:  Spec{File: "a.json"},
			want: []assay.Item{
				{ID: "x", Cluster: "x", Fields: fields{"id": "x", "t": "a\nb]},\""}, Place: at("a.json", 2, 4)},
				{ID: "y", Cluster: "y", Fields: fields{"id": "y"}, Place: at("a.json", 3, 1)},
			},
		},
		"json: an object with inputs is many items of one group": {
			files: map[string]string{"in/be kind.json": `{"inputs":["hello",{"text":"you","group":"mine"}],"topic":"t"}`},
			spec:  Spec{File: "in/be kind.json"},
			want: []assay.Item{
				{ID: "be kind-1", Cluster: "be kind-1", Place: at("in/be kind.json", 1, 1),
					Fields: fields{"text": "hello", "group": "be kind", "original_index": int64(0), "topic": "t"}},
				{ID: "be kind-2", Cluster: "be kind-2", Place: at("in/be kind.json", 1, 1),
					Fields: fields{"text": "you", "group": "mine", "original_index": int64(1), "topic": "t"}},
			},
		},
		"json: any other object is one item, whose id a path reaches": {
			files: map[string]string{"ctx/a.json": `{"metadata":{"chunk_id":12},"context_payload":{"x":[1]}}`,
				"ctx/b.json": `{"metadata":{"chunk_id":"13"}}`},
			spec: Spec{File: "ctx", ID: "metadata.chunk_id"},
			want: []assay.Item{
				{ID: "12", Cluster: "12", Place: at("ctx/a.json", 1, 1),
					Fields: fields{"metadata": fields{"chunk_id": int64(12)}, "context_payload": fields{"x": []any{int64(1)}}}},
				{ID: "13", Cluster: "13", Place: at("ctx/b.json", 1, 1), Fields: fields{"metadata": fields{"chunk_id": "13"}}},
			},
		},
		"folder: texts are one item a file, by path; hidden files, other kinds and folders inside are passed over": {
			files: map[string]string{"d/b.txt": "# x\r\ny\r\n\r\n", "d/a.md": "z", "d/.c.txt": "no", "d/e.pdf": "no", "d/sub/f.txt": "no"},
			spec:  Spec{File: "d"},
			want: []assay.Item{
				{ID: "a", Cluster: "a", Fields: fields{"text": "z"}, Place: at("d/a.md", 1, 0)},
				{ID: "b", Cluster: "b", Fields: fields{"text": "# x\ny"}, Place: at("d/b.txt", 1, 0)},
			},
		},
		"folder: a glob goes to any depth, the id is the path": {
			files: map[string]string{"d/b.txt": "1", "d/s/a.txt": "2", "d/s/t/c.txt": "3", "d/s/t/c.md": "no"},
			spec:  Spec{File: "d/", Files: "**/*.txt"},
			want: []assay.Item{
				{ID: "b", Cluster: "b", Fields: fields{"text": "1"}, Place: at("d/b.txt", 1, 0)},
				{ID: "s/a", Cluster: "s/a", Fields: fields{"text": "2"}, Place: at("d/s/a.txt", 1, 0)},
				{ID: "s/t/c", Cluster: "s/t/c", Fields: fields{"text": "3"}, Place: at("d/s/t/c.txt", 1, 0)},
			},
		},
		"format: the word wins over the suffix": {
			files: map[string]string{"a.dat": `{"k":1}`},
			spec:  Spec{File: "./a.dat", Format: "jsonl"},
			want:  []assay.Item{{ID: "1", Cluster: "1", Fields: fields{"k": int64(1)}, Place: at("a.dat", 1, 0)}},
		},
		"format: lines in a folder carry the file's name": {
			files: map[string]string{"d/a.txt": "x\ny"},
			spec:  Spec{File: "d", Format: "lines"},
			want: []assay.Item{
				{ID: "a-1", Cluster: "a-1", Fields: fields{"text": "x"}, Place: at("d/a.txt", 1, 0)},
				{ID: "a-2", Cluster: "a-2", Fields: fields{"text": "y"}, Place: at("d/a.txt", 2, 0)},
			},
		},
		"items in the study take the types of fields": {
			spec: Spec{Items: []map[string]any{{"text": "a", "n": 3, "u": uint64(4), "l": []any{uint64(1)}},
				{"text": "b", "u": uint64(1 << 63)}}},
			want: []assay.Item{
				{ID: "1", Cluster: "1", Fields: fields{"text": "a", "n": int64(3), "u": int64(4), "l": []any{int64(1)}}, Place: studyPlace},
				{ID: "2", Cluster: "2", Fields: fields{"text": "b", "u": json.Number("9223372036854775808")}, Place: studyPlace},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, items(t, one(test.files, test.spec), "in"))
		})
	}
}

func TestElementsOfInputsMayHaveTheirOwnIDs(t *testing.T) {
	t.Parallel()
	s := one(map[string]string{"a.json": `{"id":"outer","inputs":[{"id":"p"},{"id":"q"}]}`}, Spec{File: "a.json"})
	same(t, []string{"p", "q"}, ids(t, s, "in"))
	s = one(map[string]string{"a.json": `{"id":"outer","inputs":["x",{"text":"y"}]}`}, Spec{File: "a.json"})
	same(t, []string{"a-1", "a-2"}, ids(t, s, "in"))
}

func TestAnElementLongerThanTheBufferIsReadWhole(t *testing.T) {
	t.Parallel()
	long := make([]byte, 300<<10)
	for i := range long {
		long[i] = "abc\n"[i%4]
	}
	text, err := json.Marshal(string(long))
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string]string{
		"a.json":  "[" + string(text) + ", " + string(text) + "]",
		"a.jsonl": string(text) + "\n" + string(text) + "\n",
		"a.csv":   "text\n\"" + string(long) + "\"\n\"" + string(long) + "\"\n",
	} {
		got := items(t, one(map[string]string{path: content}, Spec{File: path}), "in")
		if len(got) != 2 || got[0].Fields["text"] != string(long) || got[1].Fields["text"] != string(long) {
			t.Errorf("%s: %d items, or another text", path, len(got))
		}
	}
}

func TestAFileWhoseNameIsAllSuffixIsItsOwnID(t *testing.T) {
	t.Parallel()
	same(t, []string{".md"}, ids(t, one(map[string]string{".md": "x"}, Spec{File: ".md"}), "in"))
	same(t, []string{"a/.md"}, ids(t, one(map[string]string{"d/a/.md": "x"}, Spec{File: "d", Files: "**/.*"}), "in"))
}

func TestGlobs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, path string
		want       bool
	}{
		{"", "a/b.txt", true},
		{"*", "a.txt", true},
		{"*", "a/b.txt", false},
		{"*.txt", "a.md", false},
		{"**", "a/b/c", true},
		{"**/*.txt", "a.txt", true},
		{"**/*.txt", "a/b/c.txt", true},
		{"a/**/c.txt", "a/c.txt", true},
		{"a/**/c.txt", "a/b/b/c.txt", true},
		{"a/**/c.txt", "b/c.txt", false},
		{"a/**/**/d/*", "a/b/c/d/e", true},
		{"a/**", "a", false},
		{"[ab].txt", "b.txt", true},
		{"./a/*", "a/b", true},
	}
	for _, test := range tests {
		if got := matches(test.glob, test.path); got != test.want {
			t.Errorf("%q on %q: %v", test.glob, test.path, got)
		}
	}
}

func TestPathsReachInside(t *testing.T) {
	t.Parallel()
	record := fields{"a": fields{"b": []any{fields{"c": "x"}, []any{"y"}}}, "a.b": "dotted", "n": nil}
	tests := []struct {
		path string
		want any
		ok   bool
	}{
		{"a.b", "dotted", true},
		{"a.b.0.c", "x", true},
		{"a.b.1.0", "y", true},
		{"a.b.2", nil, false},
		{"a.b.-1", nil, false},
		{"a.x", nil, false},
		{"n", nil, true},
		{"n.x", nil, false},
		{"", nil, false},
	}
	for _, test := range tests {
		got, ok := lookup(record, test.path)
		same(t, []any{test.want, test.ok}, []any{got, ok})
	}
}
