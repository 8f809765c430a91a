package apis_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"assay/internal/send/provider"
	"assay/internal/send/provider/apis"
	"assay/internal/send/provider/providertest"
	"assay/internal/study/catalog"
)

const (
	root     = "../../../.."
	list     = "internal/send/provider/apis/apis.go"
	contract = "internal/send/provider/apis/contract_test.go"
	own      = "internal/send/provider/apis/mango.go"
)

func TestTheGuideNamesFilesThatAreThere(t *testing.T) {
	t.Parallel()
	g := providertest.ReadGuide(t, root)
	for _, name := range []string{list, contract, own, "internal/study/catalog/data/vendors.yaml",
		"internal/study/catalog/data/prices.yaml", "internal/simulator/wire/wire.go", "internal/send/dialect/carrier.go",
		"internal/assay/wire.go"} {
		if !strings.Contains(strings.Join(g.Files, " "), name) {
			t.Errorf("the guide does not name %s", name)
		}
	}
	for _, name := range g.Files {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
		if invented := strings.HasSuffix(name, "/mango.go"); invented == (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// opener returns how the guide's line of the list opens its vendor: as the vendor of the list does that is opened by the same function.
func opener(t *testing.T, line string) func(provider.Config) (provider.Account, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, list))
	if err != nil {
		t.Fatal(err)
	}
	entry := regexp.MustCompile(`\{("[a-z]+"|catalog\.Compatible), (open\w+)\}`)
	said := entry.FindStringSubmatch(line)
	if said == nil {
		t.Fatalf("the guide's line of the list: %q", line)
	}
	for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
		kind := strings.Trim(m[1], `"`)
		if kind == "catalog.Compatible" {
			kind = catalog.Compatible
		}
		for _, e := range apis.Vendors() {
			if m[2] == said[2] && e.Kind == kind {
				return e.Open
			}
		}
	}
	t.Fatalf("no vendor is opened by %s", said[2])
	return nil
}

func TestAProviderMadeByTheGuideKeepsTheContract(t *testing.T) {
	t.Parallel()
	g := providertest.ReadGuide(t, root)
	s := providertest.Subject{
		Kind: g.Field(t, contract, "Kind: "), Model: g.Field(t, contract, "Model: "), Sim: g.Field(t, contract, "Sim: "),
		Catalog: g.Catalog(t), Open: opener(t, g.Code[list]),
	}
	if name := g.Field(t, list, "{"); name != s.Kind {
		t.Errorf("the list has %s, the contract %s", name, s.Kind)
	}
	if m := s.Catalog.Find(s.Kind, s.Model); !m.Known {
		t.Errorf("the catalogue does not know %s/%s", s.Kind, s.Model)
	}
	if _, ok := s.Catalog.Price(s.Kind, s.Model); !ok {
		t.Errorf("the catalogue has no price of %s/%s", s.Kind, s.Model)
	}
	t.Run("live", func(t *testing.T) { t.Parallel(); providertest.RunLive(t, s) })
	t.Run("batch", func(t *testing.T) { t.Parallel(); providertest.RunBatch(t, s) })
}

// The file of the guide's other vendor is in this package for the length of one compilation.
func TestTheFileOfTheGuideCompiles(t *testing.T) {
	t.Parallel()
	g := providertest.ReadGuide(t, root)
	dir := t.TempDir()
	code, overlay := filepath.Join(dir, "mango.go"), filepath.Join(dir, "overlay.json")
	at, err := filepath.Abs("mango.go")
	if err != nil {
		t.Fatal(err)
	}
	text := g.Code[own] + "\nvar (\n\t_ = openMango\n\t_ provider.Finder = (*mango)(nil)\n\t_ provider.Lister = (*mango)(nil)\n)\n"
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {at: code}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{code: []byte(text), overlay: replace} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
