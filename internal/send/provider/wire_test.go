package provider

import (
	"encoding/json"
	"testing"
	"time"
)

func TestTimesAreReadInEverySpelling(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		`1794744000`: at, `1794744000.7`: at, `"1794744000"`: at, `1794744000000`: at, `"2026-11-15T12:00:00Z"`: at,
		`"2026-11-15T13:00:00+01:00"`: at, `"2026-11-15T12:00:00.5Z"`: at.Add(500 * time.Millisecond),
		`null`: {}, `""`: {}, `0`: {}, `-1`: {}, `"soon"`: {}, `{}`: {}, `[1]`: {}, `1e300`: {}, `true`: {},
	} {
		got := Moment{time.Now()}
		if err := json.Unmarshal([]byte(text), &got); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
}

func TestCountsAreReadInEverySpelling(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Number{`7`: 7, `"7"`: 7, `7.0`: 7, `-1`: -1, `"-1"`: -1, `null`: 0, `""`: 0, `"many"`: 0, `{}`: 0,
		`1e30`: 0, `[]`: 0} {
		got := Number(99)
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
}

func TestTextsAndLabelsAreReadWhateverTheyAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Text{`"a\n"`: "a\n", `null`: "", `7`: "7", `{"a":1}`: `{"a":1}`, `true`: "true"} {
		got := Text("before")
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: got %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]Labels{
		`{"a":"b","c":7,"d":null}`: {"a": "b"}, `null`: {}, `[]`: nil, `"x"`: nil, `{}`: {},
	} {
		var got Labels
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		diff(t, want, got)
	}
}

func FuzzWireTypesNeverFail(f *testing.F) {
	f.Add([]byte(`{"m":1794744000,"n":"7","l":{"a":"b"},"t":[1]}`))
	f.Add([]byte(`{"m":"2026-11-15T12:00:00Z","n":1e400,"l":[],"t":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v struct {
			M Moment
			N Number
			L Labels
			T Text
		}
		if err := json.Unmarshal(b, &v); err != nil && json.Valid(b) && b[0] == '{' {
			t.Errorf("%s: %v", b, err)
		}
	})
}
