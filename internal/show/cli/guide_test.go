package cli

import (
	"slices"
	"testing"

	"assay/internal/send/provider/providertest"
	"assay/internal/show/cli/shell"
	"assay/internal/study/catalog"
)

// docs/dev/add-a-provider.md promises that a provider of its making shows in these lists.
func TestAProviderMadeByTheGuideShowsInKeysAndModels(t *testing.T) {
	t.Parallel()
	g := providertest.ReadGuide(t, "../../..")
	cat := g.Catalog(t)
	name := g.Field(t, "internal/send/provider/apis/apis.go", "{")
	row, _ := cat.Vendor(name)
	w := &shell.World{Env: func(v string) (string, bool) { return "a-key-of-papaya", slices.Contains(row.KeyEnv, v) }}
	keys := keyStates(w, cat)
	i := slices.IndexFunc(keys, func(k keyState) bool { return k.Provider == name })
	if i < 0 || keys[i].State != "set ("+row.KeyEnv[0]+")" || keys[i].Host == "" {
		t.Errorf("keys: %+v", keys)
	}
	models, err := modelsOf(cat, name)
	if err != nil || !slices.ContainsFunc(models, func(m catalog.Model) bool {
		return m.Name == g.Field(t, "internal/send/provider/apis/contract_test.go", "Model: ")
	}) {
		t.Errorf("models: %+v, %v", models, err)
	}
	if _, err := modelsOf(catalog.Default(), name); err == nil {
		t.Errorf("%s is invented, and there", name)
	}
}
