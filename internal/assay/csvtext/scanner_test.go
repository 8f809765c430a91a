package csvtext

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type record struct {
	Line   int
	Fields []string
}

func records(s *Scanner) ([]record, error) {
	var all []record
	for s.Scan() {
		r := record{Line: s.Line()}
		for i := range s.Fields() {
			r.Fields = append(r.Fields, string(s.Field(i)))
		}
		all = append(all, r)
	}
	return all, s.Err()
}

func TestRecordsAreCutAtLineEndsOutsideQuotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		comma byte
		want  []record
	}{
		"nothing":             {text: ""},
		"blank lines":         {text: "\n\r\n\r"},
		"plain":               {text: "a,b\n1,2\n", want: []record{{1, []string{"a", "b"}}, {2, []string{"1", "2"}}}},
		"no last line end":    {text: "a,b\n1,", want: []record{{1, []string{"a", "b"}}, {2, []string{"1", ""}}}},
		"CRLF":                {text: "a,b\r\n\r\n1,2\r\n", want: []record{{1, []string{"a", "b"}}, {3, []string{"1", "2"}}}},
		"byte order mark":     {text: "\xEF\xBB\xBF\"a\",b\n", want: []record{{1, []string{"a", "b"}}}},
		"quotes":              {text: "\"a,b\",c,\"d\"\"e\",\"\"\n", want: []record{{1, []string{"a,b", "c", `d"e`, ""}}}},
		"line ends in quotes": {text: "\"a\r\nb\n\",c\r\nd,e\n", want: []record{{1, []string{"a\nb\n", "c"}}, {4, []string{"d", "e"}}}},
		"quote in the middle": {text: "a\"b,c\"\n", want: []record{{1, []string{`a"b`, `c"`}}}},
		"quotes at the end":   {text: "x,\"a\"", want: []record{{1, []string{"x", "a"}}}},
		"quotes, CR, end":     {text: "\"a\"\r", want: []record{{1, []string{"a"}}}},
		"tabs":                {text: "a,b\t\"c\td\"\n", comma: '\t', want: []record{{1, []string{"a,b", "c\td"}}}},
		"semicolons":          {text: "a,b;\"c;d\";1\n", comma: ';', want: []record{{1, []string{"a,b", "c;d", "1"}}}},
		"spaces stay":         {text: " a , b \n", want: []record{{1, []string{" a ", " b "}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comma := c.comma
			if comma == 0 {
				comma = ','
			}
			for how, in := range map[string]io.Reader{
				"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text)),
				"end with the data": iotest.DataErrReader(strings.NewReader(c.text)),
			} {
				got, err := records(newScanner(in, comma, 4))
				if err != nil {
					t.Errorf("%s: %v", how, err)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

func TestBrokenTextIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		line int
		want string
	}{
		"open quote":       {"a,b\n1,2\n3,\"x\ny\n", 3, "the quote that opens in this row is never closed"},
		"text after quote": {"a,b\n\"x\n\"y,2\n", 3, "text follows a closing quote (a quote inside a quoted field is written twice)"},
		"CR after quote":   {"a,b\n\"x\"\ry,2\n", 2, "text follows a closing quote (a quote inside a quoted field is written twice)"},
		"UTF-16":           {"\xFF\xFEa\x00,\x00", 1, "the file is UTF-16: save it as UTF-8"},
		"endless":          {"a\n\"" + strings.Repeat("x\n", maxRecord), 2, "the row is longer than 16 MB: is a closing quote missing?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewScanner(strings.NewReader(c.text), ',')
			_, err := records(s)
			if err == nil || err.Error() != c.want || s.Line() != c.line {
				t.Errorf("line %d: %v; want line %d: %s", s.Line(), err, c.line, c.want)
			}
		})
	}
}

func TestAReadErrorIsNoEnd(t *testing.T) {
	t.Parallel()
	s := NewScanner(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("a,b\n1,2\n"))), ',')
	if _, err := records(s); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestRecordsLargerThanTheBufferAreWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long text, ", firstBuffer/4)
	text := "a,b\n\"" + long + "\"\"\",2\n" + strings.Repeat("x", firstBuffer+3) + ",3\n"
	got, err := records(NewScanner(strings.NewReader(text), ','))
	if err != nil {
		t.Fatal(err)
	}
	want := []record{{1, []string{"a", "b"}}, {2, []string{long + `"`, "2"}}, {3, []string{strings.Repeat("x", firstBuffer+3), "3"}}}
	if !cmp.Equal(want, got) {
		t.Error("a long record came out changed")
	}
}

// FuzzScanner holds the scanner against encoding/csv, which refuses quotes inside unquoted fields and keeps a byte order
// mark; wherever it reads a text to the end, both must read the same.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		"a,b,winner\nx,y,a\n", "a,b\r\n\"1\r\n2\",\"\"\"\"\r\n\r\n,\r", "\"a\"\r", "\"a\n", "\xEF\xBB\xBFa,b\n", "\n\n\"\"\n", "a\"b,c\n",
		"\"a\"b\n", "a,\r\r\n\"\r\"\n",
	} {
		f.Add([]byte(seed), byte(7))
	}
	f.Fuzz(func(t *testing.T, text []byte, cut byte) {
		got, gotErr := records(newScanner(&pieces{text, int(cut)%9 + 1}, ',', int(cut)%5+1))
		whole, _ := records(newScanner(bytes.NewReader(text), ',', 1<<10))
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Fatalf("read in pieces of %d (-whole +pieces):\n%s", int(cut)%9+1, diff)
		}
		want, err := standard(text)
		if err != nil {
			return
		}
		if gotErr != nil {
			t.Fatalf("%v, where encoding/csv reads %v", gotErr, want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-encoding/csv +scanner):\n%s", diff)
		}
	})
}

// standard reads by the standard library.
func standard(text []byte) ([]record, error) {
	if bytes.HasPrefix(text, []byte("\xFF\xFE")) || bytes.HasPrefix(text, []byte("\xFE\xFF")) {
		return nil, errors.New("UTF-16")
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF"))))
	r.FieldsPerRecord = -1
	var all []record
	for {
		fields, err := r.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(0)
		all = append(all, record{line, fields})
	}
}

// pieces reads a few bytes at a time.
type pieces struct {
	rest []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.rest[:min(p.n, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}
