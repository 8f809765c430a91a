package inputs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"assay/internal/assay"
)

func TestTheCheckTellsWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	const study = "study.yaml:3:5: "
	tests := map[string]struct {
		files map[string]string
		spec  Spec
		want  []string
	}{
		"good": {files: map[string]string{"a.txt": "x"}, spec: Spec{File: "a.txt"}},
		"missing file": {spec: Spec{File: "no.csv"},
			want: []string{study + `"no.csv" does not exist (paths count from the study's folder)`}},
		"backslashes": {spec: Spec{File: `d\a.txt`},
			want: []string{study + `"d\\a.txt" does not exist (write / between folders)`}},
		"outside": {spec: Spec{File: "../a.csv"},
			want: []string{study + `"../a.csv" does not exist (paths count from the study's folder)`}},
		"a spreadsheet": {files: map[string]string{"a.XLSX": "x"}, spec: Spec{File: "a.XLSX"}, want: []string{study +
			`"a.XLSX" is a spreadsheet, which is not read (save the sheet as CSV UTF-8)`}},
		"unknown suffix": {files: map[string]string{"a.dat": "x"}, spec: Spec{File: "a.dat"}, want: []string{study +
			`the suffix of "a.dat" names no known format (say which with ` + "`format:`: lines, text, csv, tsv, jsonl, json or parquet)"}},
		"unknown suffix, glob": {files: map[string]string{"d/a.xls": "x"}, spec: Spec{File: "d", Files: "*"},
			want: []string{"d/a.xls: the suffix names no known format (narrow `files:`, or say `format:`)"}},
		"unknown format": {files: map[string]string{"a.txt": "x"}, spec: Spec{File: "a.txt", Format: "xml"},
			want: []string{study + `input in: unknown format "xml" (lines, text, csv, tsv, jsonl, json or parquet)`}},
		"files of a file": {files: map[string]string{"a.txt": "x"}, spec: Spec{File: "a.txt", Files: "*"},
			want: []string{study + "`files:` goes with a folder, and \"a.txt\" is a file (`file:` then names the folder)"}},
		"bad glob": {files: map[string]string{"a.txt": "x"}, spec: Spec{Files: "[a"},
			want: []string{study + `input in: the glob "[a" cannot be read`}},
		"no source": {spec: Spec{}, want: []string{study +
			"input in does not say where its items come from (such as file: data/questions.csv; or `of`, `all` or `items`)"}},
		"two sources": {spec: Spec{File: "a", Of: "in"}, want: []string{study +
			"input in has 2 sources (give one of `file`, `of`, `all` and `items`)", study + "input in is made of itself: in → in"}},
		"bad numbers": {
			files: map[string]string{"a.txt": "x"},
			spec:  Spec{File: "a.txt", Rows: []Range{{5, 3}}, Sample: &Sample{}, Limit: -1, Expect: "a", ExpectField: "b"},
			want: []string{study + "input in: `expect` is both a text and a field", study + "input in: a sample of 0 keeps nothing",
				study + "input in: rows 5-3 are not a range (rows count from 1, such as 1-100)",
				study + "input in: the limit -1 is negative"},
		},
		"empty": {files: map[string]string{"a.txt": "# nothing\n"}, spec: Spec{File: "a.txt"},
			want: []string{study + "input in has no items"}},
		"empty json": {files: map[string]string{"a.json": " \n"}, spec: Spec{File: "a.json"},
			want: []string{"a.json:1:1: the file is empty"}},
		"empty array": {files: map[string]string{"a.json": "[ ]"}, spec: Spec{File: "a.json"},
			want: []string{study + "input in has no items"}},
		"empty csv": {files: map[string]string{"a.csv": ""}, spec: Spec{File: "a.csv"},
			want: []string{study + "input in has no items (a.csv is empty)"}},
		"nothing left": {files: map[string]string{"a.txt": "x"}, spec: Spec{File: "a.txt", Rows: []Range{{2, 0}}},
			want: []string{study + "input in has no items (do `rows` or `where`, --rows or --item leave any? its ids are \"1\")"}},
		"UTF-16": {files: map[string]string{"a.txt": "\xFF\xFEx\x00"}, spec: Spec{File: "a.txt"},
			want: []string{"a.txt:1:1: the file is UTF-16 (save the file as UTF-8)"}},
		"ZIP": {files: map[string]string{"a.csv": "PK\x03\x04\x14\x00"}, spec: Spec{File: "a.csv"},
			want: []string{"a.csv:1:1: the file is a ZIP archive (is it a spreadsheet? save it as CSV)"}},
		"JSON": {files: map[string]string{"a.csv": `[{"text": "a"}]`}, spec: Spec{File: "a.csv"},
			want: []string{"a.csv:1:1: the file is JSON (name it .json, or .jsonl where each line is an object)"}},
		"Latin-1": {files: map[string]string{"a.txt": "ok\ncaf\xE9\nok\n"}, spec: Spec{File: "a.txt"},
			want: []string{"a.txt:2:4: invalid UTF-8 (byte 0xE9) at byte 4 of the line (save the file as UTF-8)"}},
		"NUL": {files: map[string]string{"a.csv": "text\na\x00b\n"}, spec: Spec{File: "a.csv"},
			want: []string{"a.csv:2:2: NUL byte at byte 2 of the line (is the file UTF-16 or binary? save it as UTF-8)"}},
		"NUL in JSON": {files: map[string]string{"a.jsonl": `{"a":"\u0000"}`}, spec: Spec{File: "a.jsonl"},
			want: []string{`a.jsonl:1:7: bad JSON: NUL (\u0000) in a string`}},
		"half character": {files: map[string]string{"a.jsonl": `{"a":"\ud83d x"}`}, spec: Spec{File: "a.jsonl"},
			want: []string{`a.jsonl:1:7: bad JSON: \ud83d is half a character`}},
		"name twice": {files: map[string]string{"a.jsonl": `{"a":1, "a":2}`}, spec: Spec{File: "a.jsonl"},
			want: []string{`a.jsonl:1:9: bad JSON: the name "a" stands twice`}},
		"ragged rows": {
			files: map[string]string{"a.csv": "a,b\n1,2\n\"3\n\"\n4,5,6\n"}, spec: Spec{File: "a.csv"},
			want: []string{
				"a.csv:3: the row has 1 field, the heading 2 (a separator, a quote or a line end inside a field needs quotes " +
					"around the field)",
				"a.csv:5: the row has 3 fields, the heading 2 (a separator, a quote or a line end inside a field needs quotes " +
					"around the field)"},
		},
		"open quote": {
			files: map[string]string{"a.csv": "a,b\n1,2\n3, \"x\n4,\"x\ny\nz\n"}, spec: Spec{File: "a.csv"},
			want: []string{"a.csv:4:3: the quote that opens here is never closed (a quote inside a quoted field is written twice)"},
		},
		"text after a quote": {
			files: map[string]string{"a.csv": "a,b\n\"\n\"x,2\n3,4\n"}, spec: Spec{File: "a.csv"},
			want: []string{"a.csv:3:2: text follows a closing quote (a quote inside a quoted field is written twice)"},
		},
		"bad byte inside quotes": {
			files: map[string]string{"a.csv": "a,b\n1,\"x\n\xFF\ny\"\n3,4\n"}, spec: Spec{File: "a.csv"},
			want: []string{"a.csv:3:1: invalid UTF-8 (byte 0xFF) at byte 1 of the line (save the file as UTF-8)"},
		},
		"column twice": {files: map[string]string{"a.csv": "a,b,a\n1,2,3\n"}, spec: Spec{File: "a.csv"},
			want: []string{`a.csv:1: the heading names the column "a" twice`}},
		"bad JSON": {
			files: map[string]string{"a.jsonl": "{\"a\":1}\n{\"a\":01}\n\"x\n{} {}\n[1]\ntrue\n{\"a\"}\n{\"a\":1,}\n"},
			spec:  Spec{File: "a.jsonl"},
			want: []string{
				"a.jsonl:2:7: bad JSON: '1' stands where a comma or } should",
				"a.jsonl:3:3: bad JSON: the text ends where a closing quote should stand",
				"a.jsonl:4:4: bad JSON: text follows the value",
				"a.jsonl:5: the row is a list (a row is an object or a text)",
				"a.jsonl:6: the row is true or false (a row is an object or a text)",
				"a.jsonl:7:5: bad JSON: '}' stands where a colon should",
				"a.jsonl:8:8: bad JSON: '}' stands where a name in quotes should",
			},
		},
		"bad array": {
			files: map[string]string{"a.json": "[{\"a\":1},\n {\"a\":\n x}, 5,\n]\n!"}, spec: Spec{File: "a.json"},
			want: []string{
				"a.json:3:2: bad JSON: 'x' stands where a value should",
				"a.json:3:6: the row is a number (a row is an object or a text)",
				"a.json:4:1: bad JSON: the text ends where a value should stand",
				"a.json:5:1: bad JSON: text follows the array",
			},
		},
		"open array": {files: map[string]string{"a.json": "\n[{},\n{"}, spec: Spec{File: "a.json"},
			want: []string{"a.json:2:1: the array that opens here is never closed"}},
		"lines in a document": {files: map[string]string{"a.json": "{\"a\":1}\n{\"a\":2}\n"}, spec: Spec{File: "a.json"}, want: []string{
			"a.json:2:1: a second value follows the first (for one object per line, name the file .jsonl or say `format: jsonl`)"}},
		"scalar document": {files: map[string]string{"a.json": "3"}, spec: Spec{File: "a.json"},
			want: []string{"a.json:1:1: the document is a number (an input is an array or an object)"}},
		"bad document": {files: map[string]string{"a.json": "\n {\"a\":\n tru}"}, spec: Spec{File: "a.json"},
			want: []string{"a.json:3:5: bad JSON: '}' stands where the word true should"}},
		"bad inputs": {files: map[string]string{"a.json": `{"inputs":["x",3]}`}, spec: Spec{File: "a.json"},
			want: []string{"a.json:1:1: element 2 of `inputs` is a number (an element is an object or a text)"}},
		"too deep": {files: map[string]string{"a.jsonl": strings.Repeat("[", 501)}, spec: Spec{File: "a.jsonl"},
			want: []string{"a.jsonl:1:501: bad JSON: more than 500 levels deep"}},
		"ids here and there": {
			files: map[string]string{"a.jsonl": "{\"id\":1}\n{}\n", "b.jsonl": "{}\n{\"id\":1}\n"}, spec: Spec{Files: "*.jsonl"},
			want: []string{
				"a.jsonl:2: this row has no `id`, the first row at a.jsonl:1 has one (give every row an id or none)",
				"b.jsonl:2: this row has an `id`, the first row at b.jsonl:1 has none (give every row an id or none)",
			},
		},
		"bad ids": {
			files: map[string]string{"a.jsonl": "{\"k\":null}\n{\"k\":true}\n{\"k\":\"\"}\n{}\n{\"k\":[]}\n"},
			spec:  Spec{File: "a.jsonl", ID: "k"},
			want: []string{
				`a.jsonl:1: the id in field "k" is null (an id is a text or a number)`,
				`a.jsonl:2: the id in field "k" is true or false (an id is a text or a number)`,
				`a.jsonl:3: the id in field "k" is empty`,
				"a.jsonl:4: no field \"k\" to be the id (`id:` names the field that is the id)",
				`a.jsonl:5: the id in field "k" is a list (an id is a text or a number)`,
			},
		},
		"equal ids": {
			files: map[string]string{"a.csv": "id\nx\ny\nx\nX\n y \nx\n"}, spec: Spec{File: "a.csv"},
			want: []string{
				`a.csv:4: the id "x" also stands at a.csv:2 (ids must differ)`,
				`a.csv:5: warning: the id "X" differs from "x" at a.csv:2 only in case or outer white space`,
				`a.csv:6: warning: the id " y " differs from "y" at a.csv:3 only in case or outer white space`,
				`a.csv:7: the id "x" also stands at a.csv:2 (ids must differ)`,
			},
		},
		"equal stems": {
			files: map[string]string{"d/a.md": "x", "d/a.txt": "y"}, spec: Spec{File: "d"},
			want: []string{`d/a.txt:1: the id "a" also stands at d/a.md:1 (ids must differ)`},
		},
		"missing columns, and the rest all the same": {
			files: map[string]string{"a.csv": "a,b\n1\n"},
			spec:  Spec{File: "a.csv", ID: "i", Text: "t", Cluster: "c", ExpectField: "e"},
			want: []string{
				"a.csv:2: the row has 1 field, the heading 2 (a separator, a quote or a line end inside a field needs quotes " +
					"around the field)",
				study + "input in has no field \"c\", which `cluster` names (it has \"a\", \"b\")",
				study + "input in has no field \"e\", which `expect` names (it has \"a\", \"b\")",
				study + "input in has no field \"i\", which `id` names (it has \"a\", \"b\")",
				study + "input in has no field \"t\", which `text` names (it has \"a\", \"b\")",
			},
		},
		"missing fields of rows": {
			files: map[string]string{"a.jsonl": `{"x":[]}`}, spec: Spec{File: "a.jsonl", Text: "t", Cluster: "c", ExpectField: "x"},
			want: []string{
				`a.jsonl:1: item "1" has no cluster in field "c" (every item needs a cluster, a text or a number)`,
				"a.jsonl:1: item \"1\" has no field \"t\" (`text:` names the field that prompts call text)",
				`a.jsonl:1: item "1": field "x" is a list (a right answer is a text, a number or true or false)`,
			},
		},
		"no right answers": {
			files: map[string]string{"a.jsonl": "{}\n{\"y\":null}"}, spec: Spec{File: "a.jsonl", ExpectField: "y"},
			want: []string{study + `input in: no item has a right answer in field "y"`},
		},
		"an answer that is a column's name": {
			files: map[string]string{"a.csv": "text,answer\nx,y\n"}, spec: Spec{File: "a.csv", Expect: "answer"},
			want: []string{study + "warning: input in: `expect: answer` is a text for every item, though a field has that name (for the " +
				"field say `expect: {field: answer}`)"},
		},
		"a hidden text": {
			files: map[string]string{"a.csv": "text,body\nx,y\n"}, spec: Spec{File: "a.csv", Text: "body"},
			want: []string{study + "warning: input in has a field `text`, which `text: body` hides"},
		},
		"what a folder also holds": {
			files: map[string]string{"d/a.txt": "x", "d/b.pdf": "", "d/e/f.txt": "y"}, spec: Spec{File: "d"},
			want: []string{
				study + "warning: input in: folders inside are not read: \"e\" (`files: \"**/*\"` reads them too)",
				study + "warning: input in: not read, for their suffix names no known format: \"b.pdf\" (`files:` chooses, `format:` " +
					"says what they are)",
			},
		},
		"a predicate that fails": {
			files: map[string]string{"a.txt": "x\ny"},
			spec:  Spec{File: "a.txt", Where: func(it assay.Item) (bool, error) { return it.ID == "1", errIf(it.ID == "2") }},
			want:  []string{"a.txt:2: `where` on item \"2\": no such field"},
		},
		"items of a strange type": {
			spec: Spec{Items: []map[string]any{{"a": make(chan int)}}},
			want: []string{study + `item 1, field "a": a value of type chan int cannot be a field`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, test.want, reported(t, one(test.files, test.spec)))
		})
	}
}

func errIf(yes bool) error {
	if yes {
		return errors.New("no such field")
	}
	return nil
}

func TestTheCheckTellsTwentyProblemsAndHowManyMore(t *testing.T) {
	t.Parallel()
	got := reported(t, one(map[string]string{"a.jsonl": strings.Repeat("?\n", 1000)}, Spec{File: "a.jsonl"}))
	same(t, 21, len(got))
	same(t, "study.yaml:3:5: input in: and 980 problems more", got[20])
	var csv strings.Builder
	csv.WriteString("id\n")
	for i := range 5000 {
		fmt.Fprintf(&csv, "%d\n%d\n", i, i)
	}
	got = reported(t, one(map[string]string{"a.csv": csv.String()}, Spec{File: "a.csv"}))
	same(t, 21, len(got))
	same(t, "study.yaml:3:5: input in: and 4980 problems more", got[20])
}

func TestARecordWithABadByteIsNoItem(t *testing.T) {
	t.Parallel()
	s := one(map[string]string{"a.csv": "a,b\n1,\"x\n\xFF\ny\"\n3,4\n"}, Spec{File: "a.csv"})
	var got []string
	for it, err := range s.stream(t.Context(), s.specs["in"]) {
		if err == nil {
			got = append(got, it.ID)
		}
	}
	same(t, []string{"2"}, got)
}

func TestInputsMadeOfOthersAreChecked(t *testing.T) {
	t.Parallel()
	files := map[string]string{"bad.jsonl": "{}\n?\n", "good.txt": "x"}
	place := func(line int) assay.Place { return assay.Place{File: "study.yaml", Line: line} }
	s := Open(tree(files), map[string]Spec{
		"bad":      {At: place(1), File: "bad.jsonl"},
		"slice":    {At: place(2), Of: "bad", Limit: 1},
		"rest":     {At: place(3), Of: "bad", Rows: []Range{{2, 2}}},
		"dangling": {At: place(4), Of: "nowhere"},
		"upon":     {At: place(5), Of: "dangling"},
		"p":        {At: place(6), Of: "q"},
		"q":        {At: place(7), File: "good.txt", Join: []Join{{With: "p", Left: "id", Right: "id"}}},
		"ids":      {At: place(8), Of: "bad", ID: "x", Format: "csv"},
	})
	same(t, []string{
		"bad.jsonl:2:1: bad JSON: '?' stands where a value should",
		`study.yaml:4: input dangling is a slice of "nowhere", which the study does not have`,
		"study.yaml:6: input p is made of itself: p → q → p",
		"study.yaml:7: input q is made of itself: q → p → q",
		"study.yaml:8: input ids is a slice, which keeps the ids of the whole (remove `id`)",
		"study.yaml:8: input ids: `format` goes with a file",
	}, reported(t, s))
	for _, err := range s.Items(t.Context(), "p") {
		if err == nil {
			t.Fatal("an input made of itself has items")
		}
	}
}

func TestTheProblemsOfAnInputAreNotReportedAgainForItsSlices(t *testing.T) {
	t.Parallel()
	s := Open(tree(map[string]string{"a.jsonl": "{}\n" + strings.Repeat("?\n", 30)}), map[string]Spec{
		"whole": {File: "a.jsonl"}, "slice": {Of: "whole"}, "joined": {Of: "slice", Join: []Join{{With: "whole", Left: "id", Right: "id"}}},
	})
	got := reported(t, s)
	same(t, 21, len(got))
	same(t, "input whole: and 10 problems more", got[0])
}

func TestProblemsShowForeignTextEscapedAndShort(t *testing.T) {
	t.Parallel()
	same(t, `"a\x1b[2J\n"`, quote("a\x1b[2J\n"))
	same(t, `"`+strings.Repeat("é", 30)+`"…`, quote(strings.Repeat("é", 200)))
	same(t, `"`+strings.Repeat("€", 20)+`"…`, quote(strings.Repeat("€", 21)))
	same(t, `"x`+strings.Repeat("€", 19)+`"…`, quote("x"+strings.Repeat("€", 21)))
}

func TestAWalkChecksWhatItShows(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.jsonl": "{\"id\":\"x\"}\n?\n{\"id\":\"y\"}\n{\"id\":\"x\"}\n?\n", "empty.txt": ""}
	s := Open(tree(files), map[string]Spec{"in": {File: "a.jsonl"}, "empty": {At: studyPlace, File: "empty.txt"}})
	walk := func(name string, most int) (seen, problems []string) {
		for _, p := range s.Walk(t.Context(), name, func(it assay.Item) bool {
			seen = append(seen, it.ID)
			return len(seen) < most
		}) {
			problems = append(problems, p.String())
		}
		return seen, problems
	}
	seen, problems := walk("in", 10)
	same(t, []string{"x", "y", "x"}, seen)
	same(t, []string{
		"a.jsonl:2:1: bad JSON: '?' stands where a value should",
		`a.jsonl:4: the id "x" also stands at a.jsonl:1 (ids must differ)`,
		"a.jsonl:5:1: bad JSON: '?' stands where a value should",
	}, problems)
	seen, problems = walk("in", 2)
	same(t, []string{"x", "y"}, seen)
	same(t, []string{"a.jsonl:2:1: bad JSON: '?' stands where a value should"}, problems)
	_, problems = walk("empty", 1)
	same(t, []string{"study.yaml:3:5: input empty has no items (empty.txt is empty)"}, problems)
	_, problems = walk("nothing", 1)
	same(t, []string{`the study has no input "nothing"`}, problems)
}
