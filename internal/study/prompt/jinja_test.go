package prompt_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/assay"
	"assay/internal/study/prompt"
)

// TestTemplatesGiveWhatJinjaGives holds the package against testdata/jinja.json, which Jinja itself wrote (jinja.py).
func TestTemplatesGiveWhatJinjaGives(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/jinja.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, fields := range decodings(t, text) {
		var file struct {
			Cases []struct {
				Template, Want string
				Error          bool
			}
		}
		if err := json.Unmarshal(text, &file); err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Cases {
			got, err := render(c.Template, prompt.Values{Fields: fields})
			if c.Error != (err != nil) {
				t.Errorf("%s: %q: error %v, Jinja errs: %v", name, c.Template, err, c.Error)
			}
			if diff := cmp.Diff(c.Want, got); diff != "" {
				t.Errorf("%s: %q (-jinja +got):\n%s", name, c.Template, diff)
			}
		}
	}
}

// decodings returns the fields with their numbers in each of the forms that inputs may give.
func decodings(t *testing.T, text []byte) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for _, name := range []string{"float64", "json.Number", "int64"} {
		var file struct{ Fields map[string]any }
		dec := json.NewDecoder(bytes.NewReader(text))
		if name != "float64" {
			dec.UseNumber()
		}
		if err := dec.Decode(&file); err != nil {
			t.Fatal(err)
		}
		if name == "int64" {
			whole(file.Fields)
		}
		all[name] = file.Fields
	}
	return all
}

// whole turns json.Number into int64 where it can, else into float64, in place.
func whole(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = whole(v[k])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

// render parses and fills a template; problems are its error.
func render(template string, values prompt.Values) (string, error) {
	tmpl, problems := prompt.Parse(assay.Place{File: "t", Line: 1, Col: 1}, template)
	if len(problems) > 0 {
		return "", problems
	}
	out, err := tmpl.Render(nil, values, 0)
	return string(out), err
}
