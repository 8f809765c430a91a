package jsontext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay/jsontext"
)

// found returns the elements of a document with their places, and its rest.
func found(in io.Reader, paths ...[]string) (elements []string, rest string, err error) {
	var b bytes.Buffer
	err = jsontext.Read(in, jsontext.Document{Lists: paths, Rest: &b, Max: 300_000, Each: func(e jsontext.Element) error {
		text := string(e.Text)
		if e.TooLong {
			text = "too long"
		}
		elements = append(elements, fmt.Sprintf("%d:%d %s", e.Line, e.Col, text))
		return nil
	}})
	return elements, b.String(), err
}

func TestElementsAreFoundByTheirPath(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat(`\"`, 100_000) + `"`
	for name, c := range map[string]struct {
		doc   string
		paths [][]string
		want  []string
		rest  string
	}{
		"a list alone": {" [ 1 ,\n\"a,]\" , {\"b\":[1,{\"c\":\"}\"}]} , [ ] , null ] ", [][]string{{}},
			[]string{"1:4 1", `2:1 "a,]"`, `2:9 {"b":[1,{"c":"}"}]}`, "2:31 [ ]", "2:37 null"}, "[]"},
		"an empty list": {"[\n]", [][]string{{}}, nil, "[]"},
		"a member": {`{"id":"[1]", "results" : [{"custom_id":"x"}] ,"more":[2]}`, [][]string{{"results"}},
			[]string{`1:27 {"custom_id":"x"}`}, `{"id":"[1]","results":[],"more":[2]}`},
		"a member of a member": {`{"a":{"in":0},"response":{"x":[3],"in":{"in":[4]}}}`, [][]string{{"response", "in", "in"}},
			[]string{"1:47 4"}, `{"a":{"in":0},"response":{"x":[3],"in":{"in":[]}}}`},
		"two lists": {`{"a":[1],"b":{"c":[2]}}`, [][]string{{"a"}, {"b", "c"}}, []string{"1:7 1", "1:20 2"},
			`{"a":[],"b":{"c":[]}}`},
		"an escaped name":      {`{"r\u0065sults":[1]}`, [][]string{{"results"}}, []string{"1:18 1"}, `{"r\u0065sults":[]}`},
		"no such path":         {`{"a":[1]}`, [][]string{{"b"}}, nil, `{"a":[1]}`},
		"null on the way":      {`{"a":null}`, [][]string{{"a", "b"}}, nil, `{"a":null}`},
		"null at its end":      {`{"a": null , "b":1}`, [][]string{{"a"}}, nil, `{"a":null,"b":1}`},
		"a list on the way":    {`{"a":[[1],{}],"b":1}`, [][]string{{"a", "b"}}, nil, `{"a":null,"b":1}`},
		"an object at its end": {`{"a":{"a":[1]},"b":1}`, [][]string{{"a"}}, nil, `{"a":null,"b":1}`},
		"another list":         {`[{"a":[1]}]`, [][]string{{"a"}}, nil, `null`},
		"an empty object":      {`{ }`, [][]string{{"a"}}, nil, `{}`},
		"long strings": {`{"a":` + long + `,"b":[` + long + `]}`, [][]string{{"b"}}, []string{"1:200014 " + long},
			`{"a":` + long + `,"b":[]}`},
		"one is too long": {`[1,"` + strings.Repeat("x", 300_000) + `",2]`, [][]string{{}},
			[]string{"1:2 1", "1:4 too long", "1:300007 2"}, "[]"},
		"what is no JSON": {`[1 2,nope,,3}]`, [][]string{{}}, []string{"1:2 1 2", "1:6 nope", "1:11 ", "1:12 3}"}, "[]"},
	} {
		for how, in := range map[string]io.Reader{"whole": strings.NewReader(c.doc),
			"bytewise": iotest.OneByteReader(strings.NewReader(c.doc))} {
			got, rest, err := found(in, c.paths...)
			if diff := cmp.Diff(c.want, got); diff != "" || rest != c.rest || err != nil {
				t.Errorf("%s, %s: %s; rest %.80s, error %v", name, how, diff, rest, err)
			}
		}
	}
}

func TestWhatIsNoDocumentIsAnErrorWithItsPlace(t *testing.T) {
	t.Parallel()
	for doc, want := range map[string]error{
		"": jsontext.ErrCut, `{`: jsontext.ErrCut, `{"r"`: jsontext.ErrCut, `{"r":`: jsontext.ErrCut, `{"r":[`: jsontext.ErrCut,
		`{"r":[1`: jsontext.ErrCut, `{"r":[1,`: jsontext.ErrCut, `{"r":["a\`: jsontext.ErrCut, `{"r":[1]`: jsontext.ErrCut,
		`{"r":[1],`: jsontext.ErrCut, `{"x":{"y":[1,`: jsontext.ErrCut, `"r"`: jsontext.ErrJSON, `nope`: jsontext.ErrJSON,
		`{"r"}`: jsontext.ErrJSON, `{"r" 1:2}`: jsontext.ErrJSON, `{r:1}`: jsontext.ErrJSON, `{null:1}`: jsontext.ErrJSON,
		`{:1}`: jsontext.ErrJSON, `{"a":1,}`: jsontext.ErrJSON, `{"r":[]"a":1}`: jsontext.ErrJSON, "\xef\xbb[]": jsontext.ErrJSON,
		`{"r":[1]} x`: jsontext.ErrAfter, `{}{}`: jsontext.ErrAfter,
	} {
		_, _, err := found(strings.NewReader(doc), []string{"r"})
		var at *jsontext.Error
		if !errors.Is(err, want) || !errors.As(err, &at) || at.Line != 1 || at.Col < 1 || at.Col > len(doc)+1 {
			t.Errorf("%q: %v, want %v", doc, err, want)
		}
	}
	_, _, err := found(strings.NewReader("[1,\n2]\n x"), []string{})
	if want := (&jsontext.Error{Line: 3, Col: 2, Err: jsontext.ErrAfter}).Error(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if _, _, err := found(strings.NewReader("{}"), []string{}); !errors.Is(err, jsontext.ErrJSON) {
		t.Errorf("an object in the place of a list: %v", err)
	}
}

func TestErrorsOfReadersAndFunctionsComeBack(t *testing.T) {
	t.Parallel()
	broken := errors.New("cable cut")
	got, _, err := found(io.MultiReader(strings.NewReader(`[1,{"a":`), iotest.ErrReader(broken)), []string{})
	if diff := cmp.Diff([]string{"1:2 1"}, got); diff != "" || !errors.Is(err, broken) {
		t.Error(diff, err)
	}
	own := errors.New("enough")
	endless := io.MultiReader(strings.NewReader(`{"a":1,"r":[1`), iotest.ErrReader(broken))
	if err := jsontext.Read(endless,
		jsontext.Document{Lists: [][]string{{"r"}}, Other: func(string, []byte) error { return own }}); err != own {
		t.Errorf("a member: %v", err)
	}
	if err := jsontext.Read(strings.NewReader(`[1,2`),
		jsontext.Document{Lists: [][]string{{}}, Each: func(jsontext.Element) error { return own }}); err != own {
		t.Errorf("an element: %v", err)
	}
}

func TestMembersComeInTurnWithoutTheirLists(t *testing.T) {
	t.Parallel()
	var got []string
	err := jsontext.Read(strings.NewReader(`{"model": "m", "r": [1, 2], "in": {"r": [3], "x": 1}, "model": 2}`), jsontext.Document{
		Lists: [][]string{{"r"}, {"in", "r"}},
		Each:  func(e jsontext.Element) error { got = append(got, string(e.Text)); return nil },
		Other: func(name string, value []byte) error { got = append(got, name+"="+string(value)); return nil },
	})
	if diff := cmp.Diff([]string{`model="m"`, "1", "2", "r=[]", "3", `in={"r":[],"x":1}`, "model=2"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestElementsOfAnySizeNeedLittleMemory(t *testing.T) {
	doc := io.MultiReader(strings.NewReader(`["`), io.LimitReader(zeros{}, 100<<20), strings.NewReader(`",{"a":1}]`))
	var got []string
	used := testing.Benchmark(func(b *testing.B) {
		if b.N > 1 {
			b.Skip()
		}
		var err error
		if got, _, err = found(doc, []string{}); err != nil {
			b.Error(err)
		}
	}).AllocedBytesPerOp()
	if diff := cmp.Diff([]string{"1:2 too long", `1:104857605 {"a":1}`}, got); diff != "" || used > 4<<20 {
		t.Errorf("%d bytes were allocated; %s", used, diff)
	}
}

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"results":[1,"a\"",{"b":[]},null]}`))
	f.Add([]byte(`{"x":{"results":[1]},"r\u0065sults":[ {} ] , "a":{"b":[{}]}}`))
	f.Add([]byte(`{"results":null}`))
	f.Add([]byte(`[{"results":[1]}]`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		paths := [][]string{{"results"}, {"a", "b"}}
		got, rest, err := found(bytes.NewReader(doc), paths...)
		again, restAgain, errAgain := found(iotest.OneByteReader(bytes.NewReader(doc)), paths...)
		if diff := cmp.Diff(got, again); diff != "" || rest != restAgain || (err == nil) != (errAgain == nil) {
			t.Errorf("read bytewise: %s, %q and %q, %v and %v", diff, rest, restAgain, err, errAgain)
		}
		if !json.Valid(doc) {
			return
		}
		var top struct {
			Results []json.RawMessage `json:"results"`
		}
		if first := bytes.TrimLeft(doc, " \t\r\n")[0]; first != '{' && first != '[' {
			return
		}
		if err != nil || !json.Valid([]byte(rest)) {
			t.Errorf("valid JSON is not read: %v, rest %q", err, rest)
		}
		if bytes.Count(doc, []byte("esult")) != 1 || bytes.Contains(doc, []byte(`"a"`)) || bytes.Contains(doc, []byte(`\u`)) ||
			json.Unmarshal(doc, &top) != nil || !bytes.Contains(doc, []byte(`"results"`)) {
			return // not a document that both read alike
		}
		if len(got) != len(top.Results) {
			t.Errorf("%d elements, want %d", len(got), len(top.Results))
		}
	})
}
