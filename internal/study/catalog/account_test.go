package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/study/catalog"
)

func TestVendorsAreKnownByWhatPeopleCallThem(t *testing.T) {
	t.Parallel()
	for word, want := range map[string][]string{
		"claude": {"anthropic"}, "Grok": {"xai"}, "google": {"gemini", "vertex"}, "ChatGPT": {"openai"}, "openai": nil, "": nil,
	} {
		if diff := cmp.Diff(want, catalog.Default().Called(word)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", word, diff)
		}
	}
	for _, v := range catalog.Default().Vendors() {
		for _, word := range v.AlsoCalled {
			if _, taken := catalog.Default().Vendor(word); taken {
				t.Errorf("%s is also called %s, which is another vendor", v.Name, word)
			}
		}
	}
}

func TestHeadersAreSecretUnlessARowSaysThatTheyAreOpen(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"anthropic-version": true, "OpenAI-Beta": true, "X-Goog-Upload-Command": true, "x-goog-api-key": false, "authorization": false,
		"x-api-key": false, "": false,
	} {
		if got := catalog.Default().OpenHeader(name); got != want {
			t.Errorf("%q is open: %v", name, got)
		}
	}
	if diff := cmp.Diff([]string{"ABSK", "AIza", "bedrock-api-key-", "fw_", "gsk_", "sk-", "tgp_", "xai-", "ya29."},
		catalog.Default().KeyForms()); diff != "" {
		t.Errorf("forms of keys (-want +got):\n%s", diff)
	}
}

func TestIDsAndModelsAreHeldAgainstTheRows(t *testing.T) {
	t.Parallel()
	c := catalog.Default()
	strict, _ := c.Vendor("anthropic")
	for id, want := range map[string]bool{"a-1_B": true, "a b": false, "ü": false, "": false} {
		if got := strict.IDs().MatchString(id); got != want {
			t.Errorf("id %q is taken: %v", id, got)
		}
	}
	if free, _ := c.Vendor("openai"); free.IDs() != nil {
		t.Error("a vendor without a pattern has one")
	}
	fireworks, _ := c.Vendor("fireworks")
	openai, _ := c.Vendor("openai")
	for _, x := range []struct {
		v     catalog.Vendor
		model string
		want  bool
	}{{fireworks, "accounts/me/models/mine", true}, {fireworks, "mine", false}, {openai, "gpt-4.1", true}, {openai, "accounts/x", false}} {
		if got := c.Serves(x.v, x.model); got != x.want {
			t.Errorf("%s serves %s: %v", x.v.Name, x.model, got)
		}
	}
}
