package fault

import (
	"strings"
	"testing"
	"time"
)

var (
	someVendors = []string{"openai", "groq", "gemini"}
	start       = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
)

func TestRulesThatAreWrongSayWhatWasMeant(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"openai create":                     "want VENDOR KIND ACTION",
		"opnai create drop":                 "did you mean openai?",
		"openai crate drop":                 "did you mean create?",
		"openai create drop-replay":         "did you mean drop-reply?",
		"openai check drop-reply=3":         "takes no value",
		"openai create missing":             "missing does not fit create (it fits fetch, check)",
		"openai create 200":                 "is no error",
		"openai create 429=soon":            "want a duration",
		"openai fetch missing=0":            "at least 1",
		"openai create expire=half":         "want a percentage",
		"openai create drop sometimes":      "unknown limit",
		"openai create drop x0":             "number of times",
		"openai create drop 120%":           "want a percentage",
		"openai create drop for=ever":       "invalid duration",
		"openai create unheard-of-thing-at": "one of 429",
	} {
		_, err := Parse(text, someVendors)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLimitsSayWhichCallsARuleStrikes(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{
		"":           "xxxxxx",
		"once":       "x.....",
		"x2":         "xx....",
		"nth=3":      "..x...",
		"after=4":    "....xx",
		"after=1 x2": ".xx...",
		"for=3s":     "xxx...",
		"0%":         "......",
		"100%":       "xxxxxx",
	} {
		r, err := Parse("openai ask 500 "+limit, someVendors)
		if err != nil {
			t.Fatal(err)
		}
		b := NewBook(1, []Rule{r}, start)
		got := ""
		for i := range 6 {
			b.Strike("groq", Ask, start) // other calls do not count
			b.Strike("openai", List, start)
			mark := "."
			if len(b.Strike("openai", Ask, start.Add(time.Duration(i)*time.Second))) > 0 {
				mark = "x"
			}
			got += mark
		}
		if got != want {
			t.Errorf("%q: %s, want %s", limit, got, want)
		}
	}
	r, _ := Parse("openai ask 500 30%", someVendors)
	b := NewBook(1, []Rule{r}, start)
	n := 0
	for range 1000 {
		n += len(b.Strike("openai", Ask, start))
	}
	if n < 240 || n > 360 {
		t.Errorf("30%% struck %d of 1000 calls", n)
	}
}

func FuzzParseRule(f *testing.F) {
	for _, t := range []string{"openai create drop-reply once", "* ask 429=30s 20%", "gemini fetch truncate=10% x3 after=2", "a b c",
		"openai check state= for=1s", "openai create 500 x"} {
		f.Add(t)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text, someVendors)
		if err != nil {
			return
		}
		again, err := Parse(r.String(), someVendors)
		if err != nil || again.String() != r.String() {
			t.Fatalf("%q reads as %q, %v", text, again, err)
		}
	})
}
