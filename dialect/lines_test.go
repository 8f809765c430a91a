package dialect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"assay/dialect"
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
		{"what looks like an end", "a\u2028\u2029\u0085\v\f\rb\nc", 0, []found{{0, 13, "a\u2028\u2029\u0085\v\f\rb", false}, {14, 1, "c", false}}},
		{"a byte order mark", "\ufeffa\n\ufeffb\n", 0, []found{{3, 1, "a", false}, {5, 4, "\ufeffb", false}}},
		{"a byte order mark alone", "\ufeff\n", 0, nil},
		{"space around a line", "  a b \n", 0, []found{{2, 3, "a b", false}}},
		{"lines around the limit", "1234\n12345\r\n123456\n1\n", 5, []found{{0, 4, "1234", false}, {5, 5, "12345", false}, {12, 6, "", true}, {19, 1, "1", false}}},
		{"a long line", long + "\na\n", 0, []found{{0, 200_000, long, false}, {200_001, 1, "a", false}}},
		{"too long a line", "a\n" + long + "\r\nb", 100_000, []found{{0, 1, "a", false}, {2, 200_000, "", true}, {200_004, 1, "b", false}}},
		{"too long a last line", long, 10, []found{{0, 200_000, "", true}}},
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(c.text), "bytewise": iotest.OneByteReader(strings.NewReader(c.text)), "with its end": iotest.DataErrReader(strings.NewReader(c.text)),
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

func TestAReadErrorEndsTheLinesAndIsTold(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	got, err := collect(dialect.Lines(io.MultiReader(strings.NewReader("a\nhalf a li"), iotest.ErrReader(broken)), 0))
	if diff := cmp.Diff([]found{{0, 1, "a", false}}, got); diff != "" || !errors.Is(err, broken) {
		t.Error(diff, err)
	}
	got, err = collect(dialect.Elements(io.MultiReader(strings.NewReader(`[1,{"a":`), iotest.ErrReader(broken))))
	if diff := cmp.Diff([]found{{1, 1, "1", false}}, got); diff != "" || !errors.Is(err, broken) {
		t.Error(diff, err)
	}
}

func TestReadingStopsWhenNobodyWantsMore(t *testing.T) {
	t.Parallel()
	for range dialect.Lines(strings.NewReader("a\nb\n"), 0) {
		break
	}
	for _, err := range dialect.Elements(strings.NewReader("[1,2")) {
		if err != nil {
			t.Error(err)
		}
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

func TestElementsOfAnySizeNeedLittleMemory(t *testing.T) {
	doc := io.MultiReader(strings.NewReader(`["`), io.LimitReader(zeros{}, 100<<20), strings.NewReader(`",{"a":1}]`))
	got, err := collect(dialect.Elements(doc))
	want := []found{{1, 100<<20 + 2, "", true}, {100<<20 + 4, 7, `{"a":1}`, false}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
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

func TestElementsOfADocumentAreFoundByTheirPath(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat(`\"`, 100_000) + `"`
	for _, c := range []struct {
		name, doc string
		path      []string
		want      []found
	}{
		{"an array alone", ` [ 1 , "a,]" , {"b":[1,{"c":"}"}]} , [ ] , null ] `, nil,
			[]found{{3, 1, "1", false}, {7, 5, `"a,]"`, false}, {15, 19, `{"b":[1,{"c":"}"}]}`, false}, {37, 3, "[ ]", false}, {43, 4, "null", false}}},
		{"an empty array", "[]", nil, nil},
		{"a byte order mark", "\ufeff[1]", nil, []found{{4, 1, "1", false}}},
		{"a member", `{"id":"[1]","results":[{"custom_id":"x"}],"more":[2]}`, []string{"results"}, []found{{23, 17, `{"custom_id":"x"}`, false}}},
		{"a member of a member", `{"a":{"inlinedResponses":0},"response":{"x":[3],"inlinedResponses":{"inlinedResponses":[4]}}}`,
			[]string{"response", "inlinedResponses", "inlinedResponses"}, []found{{88, 1, "4", false}}},
		{"an escaped name", `{"r\u0065sults":[1]}`, []string{"results"}, []found{{17, 1, "1", false}}},
		{"a path that is not there", `{"a":[1]}`, []string{"b"}, nil},
		{"null on the way", `{"a":null}`, []string{"a", "b"}, nil},
		{"null at its end", `{"a": null , "b":1}`, []string{"a"}, nil},
		{"null alone", `null`, nil, nil},
		{"an empty object", `{ }`, []string{"a"}, nil},
		{"long strings on the way", `{"a":` + long + `,"b":[` + long + `]}`, []string{"b"}, []found{{200_013, 200_002, long, false}}},
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(c.doc), "bytewise": iotest.OneByteReader(strings.NewReader(c.doc))} {
			got, err := collect(dialect.Elements(r, c.path...))
			if err != nil {
				t.Errorf("%s, %s: %v", c.name, name, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %s: %s", c.name, name, diff)
			}
		}
	}
}

func TestWhatIsNoArrayOrBreaksOffIsAnError(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]string{
		"": "unexpected EOF", "[1": "unexpected EOF", `["a`: "unexpected EOF", `["a\`: "unexpected EOF", `[{"a":1`: "unexpected EOF",
		`{"r":`: "unexpected EOF", `{"r"`: "unexpected EOF", `{"x":[1,`: "unexpected EOF",
		`"r"`: "no array", `{"r":{}}`: "no array", `{"r":1}`: "no array", "[1 2]": "not valid JSON", "[,]": "not valid JSON", `{"r" 1}`: "not valid JSON",
		`{r:1}`: "not valid JSON", `{"a":1 "r":[]}`: "not valid JSON", `{"a":}`: "not valid JSON", `{"r":nil}`: "not valid JSON", `{"r":[1,]}`: "not valid JSON",
		"\xef\xbb[]": "not valid JSON",
	} {
		path := []string{"r"}
		if !strings.HasPrefix(doc, "{") {
			path = nil
		}
		if _, err := collect(dialect.Elements(strings.NewReader(doc), path...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v does not say %q", doc, err, want)
		}
	}
	if _, err := collect(dialect.Elements(strings.NewReader("[]"), "r")); err == nil || !strings.Contains(err.Error(), "no object") {
		t.Error(err)
	}
}

func TestElementsAreThoseThatTheStandardLibrarySees(t *testing.T) {
	t.Parallel()
	var doc bytes.Buffer
	doc.WriteString(`{"object":"list","results":`)
	var want []json.RawMessage
	for _, name := range []string{"chat-openai", "generate-gemini", "messages-anthropic"} {
		for _, line := range readLines(t, "result-"+name+".jsonl") {
			if json.Valid(line) {
				want = append(want, line)
			}
		}
	}
	if err := json.NewEncoder(&doc).Encode(want); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, append(doc.Bytes(), '}'), " ", "\t"); err != nil {
		t.Fatal(err)
	}
	i := 0
	for e, err := range dialect.Elements(bytes.NewReader(indented.Bytes()), "results") {
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := errors.Join(json.Unmarshal(e.Bytes, &a), json.Unmarshal(want[i], &b)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, a); diff != "" {
			t.Error(diff)
		}
		i++
	}
	if i != len(want) {
		t.Errorf("%d of %d", i, len(want))
	}
}
