package inspect

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/folder"
)

// A log with more samples than a plain zip may have is read by others, and neither its samples nor its directory are held. It runs
// alone, for it measures what is held.
func TestALogOf70000SamplesIsWrittenWithoutBeingHeld(t *testing.T) {
	tree, err := folder.NewTree(filepath.Join(t.TempDir(), "logs"), folder.Keep)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newLogFile(tree, "log", Zip)
	if err != nil {
		t.Fatal(err)
	}
	const samples = 70_000
	var before, after runtime.MemStats
	long := strings.Repeat("x", 200)
	for i := range samples {
		if i == 1000 { // what every log needs is there
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		text := fmt.Appendf(nil, `{"id":"%s%d"}`, long, i)
		if err := f.add(fmt.Sprintf("samples/%s%d_epoch_1.json", long, i), text, text); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 { // names alone have 15 MB
		t.Errorf("%d bytes more are held after %d samples", grown, samples)
	}
	if err := f.close([]byte(`{"version":2}`)); err != nil {
		t.Fatal(err)
	}
	if err := tree.Commit(); err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(filepath.Join(tree.Name, "log.eval"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if len(z.File) != samples+2 {
		t.Fatalf("%d members", len(z.File))
	}
	for _, i := range []int{0, samples - 1, samples, samples + 1} {
		in, err := z.File[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in) // which looks at size and checksum
		if err != nil {
			t.Fatal(err)
		}
		if i < samples && string(text) != fmt.Sprintf(`{"id":"%s%d"}`, long, i) ||
			i == samples && bytes.Count(text, []byte("\n{")) != samples {
			t.Errorf("member %s: %.60s", z.File[i].Name, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(tree.Name, "*")); err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v (%v)", left, err)
	}
}

// The ledger holds 0 for tokens of the cache and of reasoning that a reply did not mention: none of them is written as 0.
func TestTokensThatNoReplyGaveAreLeftOutOfLogs(t *testing.T) {
	t.Parallel()
	n := func(n int64) *int64 { return &n }
	usd := func(x float64) *float64 { return &x }
	used := usageByName{}
	var first *usage
	for _, c := range []struct {
		row       rows.Answer
		want, sum string
	}{
		{rows.Answer{}, `null`, `{}`},
		{rows.Answer{InputTokens: n(9)}, `null`, `{}`},
		{rows.Answer{InputTokens: n(9), OutputTokens: n(2)}, `{"input_tokens":9,"output_tokens":2,"total_tokens":11}`,
			`{"m":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}`},
		{rows.Answer{InputTokens: n(9), CachedTokens: n(0), Write5m: n(0), Write1h: n(0), OutputTokens: n(0), Reasoning: n(0),
			Cost: usd(0), Price: usd(0)}, `{"input_tokens":9,"output_tokens":0,"total_tokens":9,"total_cost":0}`,
			`{"m":{"input_tokens":18,"output_tokens":2,"total_tokens":20}}`},
		{rows.Answer{InputTokens: n(9), CachedTokens: n(4), Write5m: n(0), Write1h: n(3), OutputTokens: n(2), Reasoning: n(1)},
			`{"input_tokens":2,"output_tokens":2,"total_tokens":11,"input_tokens_cache_write":3,"input_tokens_cache_read":4,"reasoning_tokens":1}`,
			`{"m":{"input_tokens":20,"output_tokens":4,"total_tokens":31,"input_tokens_cache_write":3,"input_tokens_cache_read":4,"reasoning_tokens":1}}`},
		{rows.Answer{InputTokens: n(5), CachedTokens: n(5), OutputTokens: n(1), Reasoning: n(1)},
			`{"input_tokens":0,"output_tokens":1,"total_tokens":6,"input_tokens_cache_read":5,"reasoning_tokens":1}`,
			`{"m":{"input_tokens":20,"output_tokens":5,"total_tokens":37,"input_tokens_cache_write":3,"input_tokens_cache_read":9,"reasoning_tokens":2}}`},
	} {
		one := usageIn(&c.row)
		used.add("m", one)
		for want, v := range map[string]any{c.want: one, c.sum: used} {
			if got, err := json.Marshal(v); err != nil || string(got) != want {
				t.Errorf("%s (%v), want %s", got, err, want)
			}
		}
		if first == nil {
			first = one
		}
	}
	if got, err := json.Marshal(first); err != nil || string(got) != `{"input_tokens":9,"output_tokens":2,"total_tokens":11}` {
		t.Errorf("a sum changed its part: %s (%v)", got, err)
	}
}

func TestNumbersThatAreNoneAreReadAsNothing(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"a":NaN,"b":-Infinity,"c":[Infinity,-1]}`: `{"a":null,"b":null,"c":[null,-1]}`,
		`{"NaN":"NaN \" Infinity"}`:                 `{"NaN":"NaN \" Infinity"}`,
		`"\`:                                        `"\`, `"NaN`: `"NaN`, "": "", "-": "-", `"\\"NaN`: `"\\"null`,
	} {
		if got := string(export.StrictJSON([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

// A zip that unpacks to far more than it is is not read on, however small its members are.
func TestAZipThatUnpacksToTooMuchIsNotReadOn(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 3 {
		m, err := w.Create(fmt.Sprint("samples/", i, ".json"))
		if err == nil {
			_, err = m.Write(bytes.Repeat([]byte(" "), 1000))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	budget := int64(2500)
	var got []error
	for _, f := range z.File {
		_, err := unpack(f, &budget)
		got = append(got, err)
	}
	if got[0] != nil || got[1] != nil || !errors.Is(got[2], errBomb) {
		t.Errorf("%v", got)
	}
}
