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
		{"quote": `say "no"`, "path": `c:\x`, "lines": "one\ntwo", "nul": "a\x00b", "tag": "<b>&"},
		{"n": int64(3), "x": 3.0, "y": 0.5, "big": int64(1) << 60, "no": nil, "yes": true},
		{"long": json.Number("123456789012345678901"), "huge": json.Number("1e999")},
		{"list": []any{"a", int64(1), map[string]any{"deep": 1.0}}, "text": "with a comma, a : and a }"},
	} {
		text, err := EncodeFields(fields)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeFields(FieldsParser(), []byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if d := cmp.Diff(fields, got); d != "" {
			t.Errorf("%s\n%s", text, d)
		}
	}
}
