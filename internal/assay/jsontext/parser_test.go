package jsontext_test

import (
	"errors"
	"testing"

	"assay/internal/assay/jsontext"
)

func TestAHalfNumberIsAFaultWhereItsDigitIsMissing(t *testing.T) {
	t.Parallel()
	for text, at := range map[string]int{"-": 1, "1.": 2, "1.x": 2, "2e": 2, "2e+": 3, "[1, -]": 5} {
		var fault *jsontext.SyntaxError
		if v, err := jsontext.NewParser().Parse([]byte(text)); !errors.As(err, &fault) || fault.At != at {
			t.Errorf("%s: %v, %v, want a fault at %d", text, v, err, at)
		}
	}
	for text, want := range map[string]any{"-0": int64(0), "12": int64(12), "1.0": 1.0, "2e3": 2000.0} {
		if got, err := jsontext.NewParser().Parse([]byte(text)); got != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestCharactersThatSplitLinesForSomeReadersAreEscaped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a\u0085b": `"a\u0085b"`, "a\u2028b": `"a\u2028b"`, "a\u2029b": `"a\u2029b"`, "a\u2027b": "\"a\u2027b\""} {
		if got := string(jsontext.AppendString(nil, text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
