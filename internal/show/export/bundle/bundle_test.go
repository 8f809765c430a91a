package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/keep/store"
	"assay/internal/show/export/bundle"
)

func tables() map[string][]store.DumpRow {
	columns := []string{"no", "name", "score", "bytes", "none"}
	return map[string][]store.DumpRow{
		"items": {{Columns: columns, Values: []any{int64(1), "<é>\n\"", 0.5, []byte{0, 255}, nil}}},
		"verdicts": {{Columns: columns, Values: []any{int64(1), "", -1e300, []byte{}, nil}},
			{Columns: columns, Values: []any{int64(1 << 62), "x", 0.1, []byte("t"), nil}}},
	}
}

func bundled(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	err := bundle.WriteTables(&b, bundle.Manifest{Run: "r", Study: "s"}, func(name string) iter.Seq2[store.DumpRow, error] {
		return func(yield func(store.DumpRow, error) bool) {
			for _, r := range tables()[name] {
				if !yield(r, nil) {
					return
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func saved(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.assay")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestABundleGivesBackItsRows(t *testing.T) {
	t.Parallel()
	text := bundled(t)
	if text != bundled(t) {
		t.Error("the same rows give other bytes")
	}
	b, err := bundle.Open(saved(t, text))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	want := bundle.Manifest{Version: 1, Run: "r", Study: "s", Rows: map[string]int64{"items": 1, "verdicts": 2}}
	for _, name := range store.DumpTables() {
		want.Rows[name] += 0
		var got []store.DumpRow
		for r, err := range b.Rows(name) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if diff := cmp.Diff(tables()[name], got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(want, b.Manifest); diff != "" {
		t.Error(diff)
	}
}

func TestABundleWithOneOtherByteIsRefused(t *testing.T) {
	t.Parallel()
	text := bundled(t)
	name := saved(t, text)
	for i := range len(text) {
		other := []byte(text)
		other[i] ^= 1
		if err := os.WriteFile(name, other, 0o600); err != nil {
			t.Fatal(err)
		}
		if b, err := bundle.Open(name); err == nil {
			b.Close()
			t.Fatalf("byte %d of %d was changed, and nothing was said", i, len(text))
		}
	}
	for _, cut := range []string{text[:len(text)-1], text[1:], text + "0", ""} {
		if _, err := bundle.Open(saved(t, cut)); err == nil {
			t.Errorf("a bundle of %d bytes was taken for one of %d", len(cut), len(text))
		}
	}
	if _, err := bundle.Open(saved(t, strings.Repeat("no bundle ", 100))); !errors.Is(err, bundle.ErrNotBundle) {
		t.Errorf("another file: %v", err)
	}
}

// forged returns a zip with a good digest.
func forged(t *testing.T, entries map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range entries {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.SetComment("assay bundle, sha256 " + strings.Repeat("0", 64)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()[:b.Len()-64]
	sum := sha256.Sum256(text)
	return string(text) + hex.EncodeToString(sum[:])
}

func TestAStrangersBundleDoesNoHarm(t *testing.T) {
	t.Parallel()
	good := `{"version":1,"run":"r","rows":{"items":1}}`
	for name, c := range map[string]struct {
		entries map[string]string
		want    string
	}{
		"no manifest":  {map[string]string{"items.jsonl": ""}, "manifest.json"},
		"bad manifest": {map[string]string{"manifest.json": "{"}, "its manifest"},
		"newer":        {map[string]string{"manifest.json": `{"version":2}`}, "it has version 2"},
		"a path":       {map[string]string{"manifest.json": good, "../../etc/passwd": "x"}, "not part of a bundle"},
		"a table":      {map[string]string{"manifest.json": good, "claims.jsonl": ""}, "not part of a bundle"},
		"counts":       {map[string]string{"manifest.json": good, "items.jsonl": "[\"a\"]\n[1]\n[2]\n"}, "the manifest says 1"},
		"columns":      {map[string]string{"manifest.json": good, "items.jsonl": "[\"a\"]\n[1,2]\n"}, "2 values in 1 columns"},
		"values":       {map[string]string{"manifest.json": good, "items.jsonl": "[\"a\"]\n[[1]]\n"}, "a value of type"},
		"head":         {map[string]string{"manifest.json": good, "items.jsonl": "{}\n"}, "its columns"},
		"cut":          {map[string]string{"manifest.json": good, "items.jsonl": "[\"a\"]\n[1"}, "unexpected EOF"},
		"a bomb": {map[string]string{"manifest.json": good,
			"items.jsonl": "[\"a\"]\n" + strings.Repeat("[\""+strings.Repeat("a", 1<<20)+"\"]\n", 70)}, "unpacks to far more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := bundle.Open(saved(t, forged(t, c.entries)))
			if err == nil {
				defer b.Close()
				for _, e := range b.Rows("items") {
					if e != nil {
						err = e
					}
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func FuzzStrangersRowsDoNoHarm(f *testing.F) {
	f.Add("[\"a\",\"b\"]\n[1,null]\n[\"x\",{\"base64\":\"AA==\"}]\n")
	f.Add("[]\n[]\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := bundle.Open(saved(t, forged(t, map[string]string{"manifest.json": `{"version":1}`, "items.jsonl": text})))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for _, err := range b.Rows("items") {
			if err != nil {
				return
			}
		}
	})
}
