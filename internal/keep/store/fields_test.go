package store

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, fields := range []map[string]any{
		{},
		{"text": "which stone?"},
		{"a": "", "ü": "…", "": "no name"},
		{"quote": `say "no"`, "path": `c:\x`, "lines": "one\ntwo", "tag": "<b>&"},
		{"n": int64(3), "x": 3.0, "y": 0.5, "big": int64(1) << 60, "no": nil, "yes": true},
		{"list": []any{"a", int64(1), map[string]any{"deep": 1.0}}, "text": "with a comma, a : and a }"},
	} {
		text, err := EncodeFields(fields)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := DecodeFields([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if d := cmp.Diff(fields, got); d != "" {
			t.Errorf("%s\n%s", text, d)
		}
	}
}

func FuzzPlainTexts(f *testing.F) {
	for _, text := range []string{`{"text":"which stone?"}`, `{"a":"","b":"x"}`, `{"a":"b"`, `{"a":1}`, `{"a":"b","a":"c"}`, `{"a":"b",}`,
		`{"a" :"b"}`, `{"a":"\n"}`, `{}`, `["a"]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := plainTexts([]byte(text))
		var want map[string]any
		if err := json.Unmarshal([]byte(text), &want); err != nil || !ok {
			return // the ledger holds no such thing, or it is read the long way
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q\n%s", text, d)
		}
	})
}
