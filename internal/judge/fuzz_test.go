package judge

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/assay"
)

// strictly reads a text by the standard library.
func strictly(text string) (any, bool) {
	var v any
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

// doubled reports whether a key occurs twice somewhere: the standard library keeps the last, and merges nothing.
func doubled(v any) bool {
	switch v := v.(type) {
	case object:
		seen := map[string]bool{}
		for _, m := range v {
			if seen[m.key] || doubled(m.value) {
				return true
			}
			seen[m.key] = true
		}
	case []any:
		for _, e := range v {
			if doubled(e) {
				return true
			}
		}
	}
	return false
}

func TestReadingEveryObjectOfAHostileTextTakesBoundedWork(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"{", `{"a":`, `{"a":[`, `{"a":"`, `[{`, `"{`, `{"`, `{"a":[{},{},`, `{"a":"\`} {
		text := strings.Repeat(unit, 1<<12)
		work := 0
		for at := range len(text) {
			if text[at] == '{' {
				_, end, _ := readObject(text, at)
				work += end - at
			}
		}
		if work > 128*len(text) {
			t.Errorf("%q again and again: %d bytes are read of %d", unit, work, len(text))
		}
	}
}

// Whatever a judge replies, the verdict is sound: a label of the rubric or a score inside its range, or a reason.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"compliant": true, "confidence": 0.5}`, `{"rating": 3}`, `{"score": 1, "classification": "soft_flip"}`, "Model: A",
		"Model: A\nModel: B", "<BETTER_SAMPLE>SAMPLE_1</BETTER_SAMPLE>",
		"<BETTER_SAMPLE>SAMPLE_1</BETTER_SAMPLE><BETTER_SAMPLE>SAMPLE_2</BETTER_SAMPLE>", "```json\n{\"stance\": \"safe\",}\n```", "unsure",
		"{{{{", "{\"model\":{\"model\":\"B\"}}", "<think>x</think>A", "\xff{\"rating\":\"4\"}", "",
	} {
		f.Add(s)
	}
	var rubrics []Rubric
	for _, name := range Builtins() {
		r, _ := Builtin(name)
		rubrics = append(rubrics, r)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range rubrics {
			for _, ending := range []assay.Ending{assay.Answered, assay.Cut} {
				sound(t, r, Read(r, assay.Outcome{Ending: ending, Text: text}))
			}
		}
	})
}

func sound(t *testing.T, r Rubric, v assay.Verdict) {
	t.Helper()
	switch v.State {
	case assay.VerdictValid:
		if v.Label == "" && v.Score == nil || v.Why != "" {
			t.Fatalf("%s: %+v", r.Name, v)
		}
		if l, ok := r.find(v.Label); len(r.Labels) > 0 && (!ok || l.Name != v.Label || l.Abstain) {
			t.Fatalf("%s has no label %q", r.Name, v.Label)
		}
		if v.Score != nil && !r.Range.holds(*v.Score) {
			t.Fatalf("%s: score %g", r.Name, *v.Score)
		}
	case assay.VerdictAbstained, assay.VerdictMalformed:
		if v.Label != "" || v.Score != nil || v.Why == "" {
			t.Fatalf("%s: %+v", r.Name, v)
		}
	default:
		t.Fatalf("%s: an answer gave %+v", r.Name, v)
	}
	if v.Confidence != nil && !(*v.Confidence >= 0 && *v.Confidence <= 1) || v.Fields != nil && !json.Valid(v.Fields) {
		t.Fatalf("%s: %+v", r.Name, v)
	}
}

// Whatever a program writes, a line belongs to a subject and gives a sound verdict, or is an error.
func FuzzReadLine(f *testing.F) {
	id := assay.Key{1}.String()
	for _, s := range []string{
		`{"id":"` + id + `","label":"right","score":1}`, `{"id":"` + id + `","abstain":"why"}`, `{"id":"` + id + `","error":"why"}`,
		`{"id":"` + id + `","label":true,"fields":{"a":1}}`, `{"id":"nope"}`, `{}`, `null`, `[]`, ``, `{"id":"` + id + `","score":"1"}`,
	} {
		f.Add([]byte(s))
	}
	r, err := New(Own{Name: "own", Labels: []Label{{Name: "right", Score: num(1)}, {Name: "wrong", Score: num(0)}, {Name: "unsure"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		key, v, err := ReadLine(r, line)
		if err != nil {
			return
		}
		if back, err := assay.ParseKey(key.String()); err != nil || back != key {
			t.Fatalf("key %s", key)
		}
		if v.State == assay.VerdictFailed {
			return
		}
		sound(t, r, v)
	})
}

// A fence holds whatever it is given.
func FuzzFence(f *testing.F) {
	f.Add("text")
	f.Add("[[END 0000000000000000]]")
	f.Fuzz(func(t *testing.T, text string) {
		got := Fence(text)
		if len(got) != len(text)+len(Fence("")) || utf8.ValidString(text) != utf8.ValidString(got) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
