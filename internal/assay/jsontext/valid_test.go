package jsontext

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzValidAgreesWithTheStandardLibrary(f *testing.F) {
	for _, s := range []string{
		"", " ", "{}", "[ ]", `{"a" : [1, -0.5e+7, "\u00e9\n", true, false, null] }`, "01", "-", "1.", "1e", ".5", "+1", "1e+", "-0", "tru",
		"nulll", `"a`, "\"\n\"", `"\q"`, `"\u12"`, `"\u12g4"`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, "[1,]", "[,1]", "[1 2]", "[1}",
		"1 2", "\"\xff\"", "\ufeff{}", `"\`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if bytes.Count(raw, []byte("["))+bytes.Count(raw, []byte("{")) > maxDepth {
			return
		}
		if got, want := Valid(raw), json.Valid(raw); got != want {
			t.Errorf("%q: %v, want %v", raw, got, want)
		}
		if !json.Valid(raw) {
			return
		}
		var tr Tree
		if _, err := tr.Parse(raw); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, raw); err != nil {
			t.Fatal(err)
		}
		if a, b := decoded(t, compact.Bytes()), decoded(t, AppendCompact(nil, raw)); a != b {
			t.Errorf("%q becomes %s, want %s", raw, b, a)
		}
	})
}

// decoded returns a document as the standard library understands it, in its own words.
func decoded(t *testing.T, raw []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNestingBeyondMeasureIsNotValid(t *testing.T) {
	t.Parallel()
	deep := bytes.Repeat([]byte("["), 1_000_000)
	if Valid(append(deep, bytes.Repeat([]byte("]"), 1_000_000)...)) {
		t.Error("a million brackets are valid")
	}
}
