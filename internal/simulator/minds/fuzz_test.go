package minds

import (
	"assay/internal/assay"
	"assay/internal/judge"
	"assay/internal/simulator/dice"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// Whatever a judge is shown and asked for, it replies, and where a schema is given, with JSON.
func FuzzJudges(f *testing.F) {
	shown := judge.Fence(written(40)) + "\n" + judge.Fence(written(60))
	for _, ask := range []string{
		"<T>A</T> or <T>B</T>", "Model: A|B|equal", `{"score": 0, 1 or 2, "l": "no_flip", "soft_flip" or "explicit_flip"}`,
		`{"c": true or false, "p": a number from 0 (x) to 1}`, `{"a`, `{"a": "b|c"}{`, "", "from 5 to 1e999", "[[DATA a: b]]\n[[END",
		`{"x": -, "y": 1e400, 00}`, "Rate it -3 to 99999999999999999999", "a, b or a, / or |", "yes/no/",
	} {
		f.Add(shown+ask, "")
		f.Add(ask+shown, `{"type":"object","properties":{"l":{"minimum":1e320,"type":"integer"},"m":{"minimum":-1e308,"maximum":1e308}}}`)
		f.Add(ask+shown, `{"type":"object","properties":{"a":{"enum":[1,2,null]},"b":{"type":"integer","minimum":1e300},"c":{"type":"number"},"d":{"type":"boolean"},"e":{"$ref":"#"}}}`)
	}
	f.Fuzz(func(t *testing.T, prompt, schema string) {
		q := &Question{Messages: []assay.Message{{Role: assay.RoleUser, Text: prompt}}, Draw: dice.Hash(0, prompt)}
		if json.Valid([]byte(schema)) && strings.HasPrefix(schema, "{") {
			q.Schema = []byte(schema)
		}
		a, ok := Judges{Noise: 5}.judge(q)
		again, _ := Judges{Noise: 5}.judge(q)
		if !reflect.DeepEqual(a, again) || a.Refused || ok && a.Text == "" {
			t.Fatalf("%q, then %q", a.Text, again.Text)
		}
		if ok && q.Schema != nil && !json.Valid([]byte(a.Text)) {
			t.Fatalf("not JSON: %s", a.Text)
		}
		q.Weigh = true
		if a, ok := (Judges{Noise: 5}).judge(q); ok && a.Text == "" {
			t.Fatal("a judge whose words are weighed says nothing")
		}
	})
}
