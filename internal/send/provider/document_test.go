package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

type testRest struct {
	ID      string     `json:"id"`
	Next    Text       `json:"next"`
	Results []struct{} `json:"results"`
}

func TestALongListIsReadWithoutHoldingIt(t *testing.T) {
	t.Parallel()
	const n = 20_000
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"id":"b1","results":[`)
		for i := range n {
			if i > 0 {
				io.WriteString(w, ",\n  ")
			}
			fmt.Fprintf(w, `{"custom_id":"c%d","response":{"body":{"text":"`+"\u2028"+`"}}}`, i)
		}
		io.WriteString(w, `],"next":"p2"}`)
	})
	seen := 0
	var rest testRest
	err := c.Elements(background, Call{Path: "/x"}, Document{Lists: [][]string{{"results"}}, Rest: &rest, Each: func(raw []byte) error {
		if want := fmt.Sprintf(`"c%d"`, seen); !bytes.Contains(raw, []byte(want)) {
			return fmt.Errorf("element %d is %s", seen, raw)
		}
		seen++
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	diff(t, n, seen)
	diff(t, testRest{ID: "b1", Next: "p2", Results: []struct{}{}}, rest)
}

func TestElementsAreFoundAtEveryPath(t *testing.T) {
	t.Parallel()
	paths := [][]string{{"response", "in", "in"}, {"metadata", "output", "in"}}
	for doc, want := range map[string]struct {
		elements []string
		rest     string
	}{
		`{"response":{"in":{"in":[1,{"a":[2]}]}},"x":3}`:           {[]string{"1", `{"a":[2]}`}, `{"response":{"in":{"in":[]}},"x":3}`},
		`{"metadata":{"output":{"in":[1]},"y":[5]},"z":null}`:      {[]string{"1"}, `{"metadata":{"output":{"in":[]},"y":[5]},"z":null}`},
		`{"response":null,"metadata":7}`:                           {nil, `{"response":null,"metadata":7}`},
		`{"response":{"in":{"in":"text"}}}`:                        {nil, `{"response":{"in":{"in":"text"}}}`},
		`{"response":{"in":{"in":{"a":[1]}}},"b":1}`:               {nil, `{"response":{"in":{"in":null}},"b":1}`},
		`{"response":[1,2,3],"b":1}`:                               {nil, `{"response":null,"b":1}`},
		`{"response":{"in":{"in":[]}},"big":12345678901234567890}`: {nil, `{"response":{"in":{"in":[]}},"big":12345678901234567890}`},
		`{}`: {nil, `{}`},
		`[]`: {nil, `null`},
	} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, doc) })
		var got []string
		var rest json.RawMessage
		err := c.Elements(background, Call{Path: "/x"}, Document{Lists: paths, Rest: &rest, Each: func(raw []byte) error {
			got = append(got, string(raw))
			return nil
		}})
		if err != nil {
			t.Errorf("%s: %v", doc, err)
		}
		diff(t, want.elements, got)
		diff(t, want.rest, string(rest))
	}
}

func TestACutDocumentIsNeverWhole(t *testing.T) {
	t.Parallel()
	doc := `{"id":"b1","results":[{"custom_id":"a"},{"custom_id":"b"}],"next":null}`
	for cut := range len(doc) {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, doc[:cut]) })
		err := c.Elements(background, Call{Path: "/x"}, Document{Lists: [][]string{{"results"}}, Each: func([]byte) error { return nil }})
		if code(err) != "busy truncated" {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func TestADocumentThatIsNoneIsAFault(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{`<html>`, `{"results":[nope]}`, `{"results":[1 2]}`, `{"results"}`} {
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, doc) })
		err := c.Elements(background, Call{Path: "/x"}, Document{Lists: [][]string{{"results"}}})
		diff(t, "unknown bad_answer", code(err))
	}
}

func TestAnElementWithoutEndIsNotHeld(t *testing.T) {
	t.Parallel()
	m := &meter{r: endless{}}
	_, err := io.Copy(io.Discard, m)
	diff(t, "large answer_too_large", code(err))
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestReadingStopsWhenItIsEnough(t *testing.T) {
	t.Parallel()
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"results":[`)
		for i := 0; r.Context().Err() == nil; i++ {
			if _, err := fmt.Fprintf(w, `{"custom_id":"c%d"},`, i); err != nil {
				return
			}
		}
	})
	seen := 0
	err := c.Elements(background, Call{Path: "/x"}, Document{Lists: [][]string{{"results"}}, Each: func([]byte) error {
		seen++
		return ErrEnough
	}})
	if err != nil || seen != 1 {
		t.Errorf("%d elements, %v", seen, err)
	}
	own := errors.New("disk full")
	err = c.Elements(background, Call{Path: "/x"}, Document{Lists: [][]string{{"results"}}, Each: func([]byte) error { return own }})
	if !errors.Is(err, own) || FaultOf(err) != nil {
		t.Errorf("error %v", err)
	}
}

func TestElementsBecomeLines(t *testing.T) {
	t.Parallel()
	var into sink
	into.WriteString("left over")
	l, err := NewLines(Part{Lines: 3}, &into)
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{`{"a":1}`, "{\n  \"a\": \"x y\"\r\n}", "{\"a\":\"\u2028\"}"} {
		if err := l.Write([]byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	diff(t, "", code(l.Close()))
	diff(t, "{\"a\":1}\n{\"a\":\"x y\"}\n{\"a\":\"\u2028\"}\n", into.String())
	short, _ := NewLines(Part{Lines: 2}, &into)
	diff(t, "busy truncated", code(short.Close()))
}

func FuzzADocumentIsReadOrRefused(f *testing.F) {
	f.Add(`{"id":"b1","results":[{"custom_id":"a"}],"next":null}`)
	f.Add(`{"results":{"results":[1]},"x":[[[[]]]]}`)
	f.Add(`[{"results":[1]}]`)
	f.Fuzz(func(t *testing.T, doc string) {
		d := Document{Lists: [][]string{{"results"}, {"a", "b"}}, Each: func(raw []byte) error {
			if !json.Valid(raw) {
				t.Errorf("element %q", raw)
			}
			return nil
		}}
		if rest, err := d.read(strings.NewReader(doc)); err == nil && !json.Valid(rest) {
			t.Errorf("the rest of %q is %q", doc, rest)
		}
	})
}
