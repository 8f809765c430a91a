package inputs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/assay/csvtext"
	"assay/internal/assay/jsontext"
)

// readHostile reads a file of foreign bytes and holds what must be true of any: every error is a problem in this file,
// every item has an id and can be encoded, and a check ends.
func readHostile(t *testing.T, name string, data []byte) (good []assay.Item) {
	t.Helper()
	s := Open(fstest.MapFS{name: {Data: data}}, map[string]Spec{"in": {File: name}})
	s.caps.value = 1 << 16
	for it, err := range s.stream(t.Context(), s.specs["in"]) {
		var problems assay.Problems
		switch {
		case errors.As(err, &problems):
			for _, p := range problems {
				if p.File != name || p.What == "" || !utf8.ValidString(p.String()) {
					t.Fatalf("problem %q", p)
				}
			}
			continue
		case err != nil:
			t.Fatalf("error %v", err)
		case it.ID == "" || it.Place.File != name:
			t.Fatalf("item %+v", it)
		}
		line, err := Encode(nil, it)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(it, back); diff != "" {
			t.Fatal(diff)
		}
		good = append(good, it)
	}
	s.Check(t.Context())
	s.Fields("in")
	return good
}

func FuzzLines(f *testing.F) {
	for _, seed := range []string{"", "a\nb\r\n\n#c", "\xEF\xBB\xBFx", "\xFF\xFEx", "a\x00", "\xE9", "\r\r\n", "é\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, it := range readHostile(t, "a.txt", data) {
			if text := it.Fields["text"].(string); text == "" || text != strings.TrimSpace(text) || strings.Contains(text, "\n") {
				t.Fatalf("text %q", text)
			}
		}
		readHostile(t, "a.md", data)
	})
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"", "a,b\n1,2\n", "a\n\"x\ny\"\n", "a,b\n\"x\"\"y\",z\r\n", "a\n\"open\n", "a,a\n", ",b\n1,2", "a\n\n\n1\n", "a\"b\nc\"d\n",
		"id\nx\nX\nx\n", "a\n\"b\"c\n", "\"a\nb\"\nc\n", "\t\n0", "a;b\n1;2\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := readHostile(t, "a.csv", data)
		readHostile(t, "a.tsv", data)
		want, ok := csvByStandard(data)
		if !ok {
			return
		}
		var rows []map[string]any
		for _, it := range got {
			rows = append(rows, it.Fields)
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Fatalf("%q (-encoding/csv +ours)\n%s", data, diff)
		}
	})
}

// csvByStandard reads a file with encoding/csv; false where that fails or our rules differ.
func csvByStandard(data []byte) ([]map[string]any, bool) {
	if !utf8.Valid(data) || bytes.ContainsAny(data, "\x00") || bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")) ||
		bytes.HasSuffix(data, []byte("\r")) || len(data) > 1<<15 {
		return nil, false
	}
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = rune(csvtext.Separator(csvtext.NewReader(bytes.NewReader(data))))
	heading, err := r.Read()
	if err != nil {
		return nil, false
	}
	seen := map[string]bool{}
	for _, name := range heading {
		if name == "" || name == "id" || seen[name] {
			return nil, false
		}
		seen[name] = true
	}
	var rows []map[string]any
	for {
		record, err := r.Read()
		if err == io.EOF {
			return rows, true
		}
		if err != nil {
			return nil, false
		}
		row := map[string]any{}
		for i, name := range heading {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
}

func jsonSeeds(f *testing.F) {
	for _, seed := range []string{
		"", "null", "{}", "[]", `{"id":1}`, `{"id":"a","x":[1,-0,1.5e3,true,null,{"y":"\u00e9\ud83d\ude42\\\n"}]}`, `"text"`,
		`[{"id":"a"},"b"]`, `{"inputs":["a",{"text":"b"}]}`, `{"a":1,"a":2}`, `"\ud800"`, `"\u0000"`, `1e999`, `123456789012345678901`,
		`[1,2`, `{"a":`, "{}\n{}\n", `[,]`, `[[[[[[`, "{\"a\":\"\x01\"}", `{"id":" "}`, "\xEF\xBB\xBF{}", `-`, `01`, `1.`, `1e`, `"\x"`,
	} {
		f.Add([]byte(seed))
	}
}

func FuzzJSONL(f *testing.F) {
	jsonSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) { readHostile(t, "a.jsonl", data) })
}

func FuzzJSON(f *testing.F) {
	jsonSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		got := readHostile(t, "a.json", data)
		if want := elementsByStandard(data); want >= 0 && want != len(got) {
			t.Fatalf("%d of %d elements of %q", len(got), want, data)
		}
	})
}

// elementsByStandard counts the elements of an array of plain texts; -1 where the document is something else.
func elementsByStandard(data []byte) int {
	var list []string
	if !json.Valid(data) || !utf8.Valid(data) || bytes.Contains(data, []byte(`\u`)) || json.Unmarshal(data, &list) != nil || list == nil ||
		bytes.Contains(data, []byte("null")) {
		return -1
	}
	return len(list)
}

func FuzzValue(f *testing.F) {
	jsonSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) {
			return
		}
		got, err := jsontext.NewParser().Parse(data)
		var want any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		valid := json.Valid(data) && d.Decode(&want) == nil
		var syntax *jsontext.SyntaxError
		switch {
		case err == nil && !valid:
			t.Fatalf("%q is read as %v", data, got)
		case errors.As(err, &syntax) && (syntax.At < 0 || syntax.At > len(data)):
			t.Fatalf("%q is wrong at byte %d", data, syntax.At)
		case err != nil && valid && !stricter(err):
			t.Fatalf("%q: %v", data, err)
		case err != nil:
			return
		}
		if diff := cmp.Diff(typed(want), got); diff != "" {
			t.Fatalf("%q (-encoding/json +ours)\n%s", data, diff)
		}
	})
}

// stricter reports whether an error is one of those where we are stricter than encoding/json.
func stricter(err error) bool {
	for _, what := range []string{"stands twice", "half a character", "NUL", "levels deep"} {
		if strings.Contains(err.Error(), what) {
			return true
		}
	}
	return false
}

// typed gives the numbers of encoding/json our types.
func typed(v any) any {
	switch v := v.(type) {
	case json.Number:
		return jsontext.NumberOf(v.String(), !strings.ContainsAny(v.String(), ".eE"))
	case []any:
		for i := range v {
			v[i] = typed(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = typed(v[k])
		}
	}
	return v
}

func FuzzParquet(f *testing.F) {
	whole := written(f, 2, wide{ID: "a", Texts: []string{"x"}, Many: []inner{{"m", []string{"p"}}}}, wide{ID: "b"}, wide{ID: "c"})
	f.Add([]byte("PAR1"))
	f.Add(whole[:64])
	f.Add(written(f, 1, plainRow{"x", 1}, plainRow{"y", 2}))
	f.Add(whole)
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		readHostile(t, "a.parquet", data)
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"id":"a","cluster":"c","expect":"e","fields":{"a":[1,1.0,null]},"place":["x",1,2]}`))
	f.Add([]byte(`{"id":"a","place":["x",-1,99999999999]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		it, err := decode(data)
		if err != nil {
			return
		}
		line, err := Encode(nil, it)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(it, back); diff != "" {
			t.Fatal(diff)
		}
	})
}
