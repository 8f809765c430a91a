package catalog_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/catalog"
)

// files returns a copy of the built-in rows with one text replaced by another.
func files(t *testing.T, name, old, text string) fs.FS {
	t.Helper()
	copied := fstest.MapFS{}
	root := os.DirFS(".")
	err := fs.WalkDir(root, "data", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		copied[name] = &fstest.MapFile{Data: b}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	was := string(copied[name].Data)
	now := strings.Replace(was, old, text, 1)
	if was == now {
		t.Fatalf("%s: no %q to replace", name, old)
	}
	copied[name].Data = []byte(now)
	return copied
}

func TestABadRowIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, old, text, want string }{
		{"data/models/openai.yaml", "family: gpt-6,", "family: gpt-66,", `model openai/gpt-6-astra: family "gpt-66" is not known`},
		{"data/models/openai.yaml", "{vendor: openai, name: gpt-6-astra", "{vendor: opanai, name: gpt-6-astra", "no such vendor"},
		{"data/models/openai.yaml", "name: gpt-6-sol", "name: gpt-6-luna", "model openai/gpt-6-luna: named twice"},
		{"data/models/openai.yaml", "date: 2026-10-15", "date: 2026-13-15", "model openai/gpt-6-astra: date"},
		{"data/models/openai.yaml", "source: reading", "source: hearsay", "model openai/gpt-6-astra: date"},
		{"data/models/openai.yaml", "family: gpt-6,", "famly: gpt-6,", "unknown field"},
		{"data/models/anthropic.yaml", "retired: 2026-08-05", "retired: soon", `retired "soon" is not a date`},
		{"data/models/anthropic.yaml", "use: claude-opus-4-5", "use: claude-opus-4-55", "is not a model"},
		{"data/prices.yaml", "input: 10,", "input: -10,", "rate -10 is not an amount of dollars"},
		{"data/prices.yaml", "model: gpt-6-sol", "model: gpt-6-luna", "price of openai/gpt-6-luna: given twice"},
		{"data/prices.yaml", "model: gpt-6-sol", "model: gpt-6-sun", "price of openai/gpt-6-sun: no such model"},
		{"data/prices.yaml", "above: 272000", "above: 0", "long prompts start above 0 tokens"},
		{"data/vendors.yaml", "default_api: responses", "default_api: grpc", `default api "grpc" is not one of its own`},
		{"data/vendors.yaml", "apis: [responses, chat]", "apis: [responses, grpc]", `api "grpc" is not known`},
		{"data/vendors.yaml", "fallback: gpt-6", "fallback: gpt-0", `fallback family "gpt-0" is not known`},
		{"data/vendors.yaml", "  carrier: openai\n", "", "has batches and no carrier"},
		{"data/vendors.yaml", "batch_cached: stack", "batch_cached: pile", `batch_cached "pile" is not known`},
		{"data/vendors.yaml", "{name: account,", "{name: acount,", `vendor fireworks: setting "acount" is not known`},
		{"data/vendors.yaml", "env: [BUCKET_NAME]", "env: []", `vendor vertex: setting "bucket" is not known, or says not`},
		{"data/vendors.yaml", "id_pattern: '^[a-zA-Z0-9_-]{1,64}$'", "id_pattern: '^['", "vendor anthropic: id_pattern: error parsing"},
		{"data/vendors.yaml", "  id_words: letters, digits, _ and -, at most 64\n", "",
			"vendor anthropic: id_pattern and id_words stand together"},
		{"data/vendors.yaml", "- name: vllm", "- name: vlm", "vendor vllm: has no row"},
		{"data/families/openai.yaml", `"gpt-[7-9]*"`, `"gpt-[7-9"`, "syntax error in pattern"},
		{"data/families/openai.yaml", "reasons: never", "reasons: seldom", `reasons "seldom" is not known`},
		{"data/families/openai.yaml", "tokens: 1", "tokens: 0", "tokens 0 is not positive"},
		{"data/families/openai.yaml", "{allow: never}", "{allow: maybe}", `allow "maybe" is not known`},
		{"data/output.yaml", "date: 2026-11-15", "date: today", "output estimates: date"},
	} {
		_, err := catalog.Pack(files(t, c.file, c.old, c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: error %v, want %q", c.file, c.text, err, c.want)
		}
	}
	if _, err := catalog.Pack(fstest.MapFS{}); err == nil {
		t.Error("no files at all: want an error")
	}
}

func TestEveryVendorIsThereInOrder(t *testing.T) {
	t.Parallel()
	var names []string
	for _, v := range catalog.Default().Vendors() {
		names = append(names, v.Name)
		if _, ok := catalog.Default().Vendor(v.Name); !ok {
			t.Errorf("vendor %s cannot be found", v.Name)
		}
	}
	want := []string{
		"openai", "azure", "anthropic", "gemini", "vertex", "bedrock", "together", "groq", "mistral", "xai", "fireworks",
		"openrouter", "dashscope", "zhipu", "siliconflow", "nebius", "deepinfra", "novita", "parasail",
		"deepseek", "ollama", "vllm", catalog.Compatible,
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error(d)
	}
	if _, ok := catalog.Default().Vendor("nosuch"); ok {
		t.Error("found a vendor that is not there")
	}
}

func TestEveryModelHasAFamilyADateAndASource(t *testing.T) {
	t.Parallel()
	c := catalog.Default()
	seen := 0
	for _, v := range c.Vendors() {
		for _, m := range c.Models(v.Name) {
			seen++
			found := c.Find(v.Name, m.Name)
			if d := cmp.Diff(m, found.Model); d != "" || !found.Known || found.Family.Name != m.Family {
				t.Errorf("%s/%s: found %+v: %s", v.Name, m.Name, found, d)
			}
			if m.Date == "" || m.Source == "" {
				t.Errorf("%s/%s: no date or source", v.Name, m.Name)
			}
		}
	}
	if seen < 80 {
		t.Errorf("only %d models", seen)
	}
}

// Who copied OpenAI's chat API names the usual tier in its replies as OpenAI does, whether or not one may be asked for.
func TestTheUsualTierOfAChatAPICountsAtTheUsualPrice(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, v := range catalog.Default().Vendors() {
		if v.DefaultAPI != "chat" || v.KeyOptional || v.BaseURL == "" || len(v.ServiceTiers) > 0 {
			continue // local servers bill nobody
		}
		if seen++; v.Tiers["default"] != "live" {
			t.Errorf("%s: a reply in tier \"default\" counts as %q", v.Name, v.Tiers["default"])
		}
	}
	if seen < 8 {
		t.Errorf("only %d vendors", seen)
	}
}

func TestEveryNameOfAKnownModelMatchesItsOwnFamily(t *testing.T) {
	t.Parallel()
	c := catalog.Default()
	for _, v := range c.Vendors() {
		for _, m := range c.Models(v.Name) {
			// a relative of an unknown version must fall under the same rules, or under none
			if got := c.Find(v.Name, m.Name+"-x").Family.Name; got != m.Family {
				t.Errorf("%s/%s-x is taken for %s, want %s", v.Name, m.Name, got, m.Family)
			}
		}
	}
}

func TestEveryRetiredModelHasALivingSuccessor(t *testing.T) {
	t.Parallel()
	c := catalog.Default()
	for _, v := range c.Vendors() {
		for _, m := range c.Models(v.Name) {
			if m.Retired == "" {
				continue
			}
			near, ok := c.Nearest(v.Name, m.Name, today)
			if !ok || near.Retired.Reached(today) || m.Use == "" {
				t.Errorf("%s/%s: nearest is %q, %v", v.Name, m.Name, near.Name, ok)
			}
		}
	}
}

func TestEveryPriceIsPositiveAndDated(t *testing.T) {
	t.Parallel()
	for _, p := range catalog.Default().Prices() {
		if p.Live.Short.Input.Million <= 0 || p.Date == "" || p.Source == "" {
			t.Errorf("%s/%s: %+v", p.Vendor, p.Model, p)
		}
		embeds := strings.HasPrefix(p.Model, "text-embedding-")
		if out := p.Live.Short.Output; out.Known && out.Million <= 0 && !embeds {
			t.Errorf("%s/%s: output costs %v", p.Vendor, p.Model, out)
		}
		for name, r := range map[string]catalog.Rates{"batch": p.Batch.Short, "long": p.Live.Long, "long batch": p.Batch.Long} {
			if r.Input.Known && r.Input.Million <= 0 {
				t.Errorf("%s/%s: %s input costs %v", p.Vendor, p.Model, name, r.Input)
			}
		}
	}
}

func TestLimitsOfEveryBatchVendorAreDated(t *testing.T) {
	t.Parallel()
	for _, v := range catalog.Default().Vendors() {
		if v.Limits.Date == "" || v.Limits.Source == "" {
			t.Errorf("%s: limits without date or source", v.Name)
		}
		if v.Batch && v.Limits.Lag <= 0 {
			t.Errorf("%s: no lag", v.Name)
		}
	}
}

func TestEveryJobHasAMostOfRequests(t *testing.T) {
	t.Parallel()
	for _, v := range catalog.Default().Vendors() {
		if n := v.Limits.Requests; v.Batch && (n == 0 || n > 100_000) {
			t.Errorf("%s: %d requests in a job", v.Name, n)
		}
	}
}
