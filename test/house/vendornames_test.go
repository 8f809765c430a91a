package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"assay/internal/study/catalog"
)

// impartial packages, and those below them, name no vendor: what differs between vendors is a row of the catalogue.
var impartial = []string{"show/cli", "send/engine", "send/script", "send/planner", "send/batchrun", "send/batchfile", "show/web",
	"show/report", "send/workspace", "find/results"}

// vendorExamples are texts of an impartial package that name a vendor to show what may be typed: the file, and how the
// text begins. The Example of a command, and the list of examples that tests type, may name any.
var vendorExamples = map[string][]string{
	"internal/show/cli/batch/batch.go": {"  assay batch write --provider openai"},
	"internal/show/cli/gateway.go":     {"Serve OpenAI's", "Serves OpenAI's", "provider, as in", "and one file"}, // whose API it speaks
	"internal/show/cli/prices.go":      {"  - {vendor: openai, model: gpt-5", "Lists prices in US dollars"},
	"internal/show/cli/sim.go":         {"a fault rule, such as 'openai create"},
	"internal/show/cli/samples.go":     {""},
}

// everydayWords are names of vendors that sentences are full of: such a name counts only where it is alone.
var everydayWords = []string{"together"}

func isImpartial(pkg string) bool {
	return slices.ContainsFunc(impartial, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

func TestNoVendorIsNamedOutsideTheCatalogue(t *testing.T) {
	t.Parallel()
	names := vendorNames()
	for _, s := range readPackages(t) {
		if s.test || !isImpartial(s.pkg) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.KeyValueExpr:
				key, ok := n.Key.(*ast.Ident)
				return !ok || key.Name != "Example"
			case *ast.Ident:
				if name := namedBy(names, n.Name); name != "" {
					t.Errorf("%s: %s names the vendor %s: make it a field of the catalogue's rows", s.fset.Position(n.Pos()), n.Name, name)
				}
			case *ast.BasicLit:
				if name := saidIn(names, s.name, n); name != "" {
					t.Errorf("%s: %s names the vendor %s: make it a field of the catalogue's rows", s.fset.Position(n.Pos()), n.Value, name)
				}
			}
			return true
		})
	}
}

func TestTheVendorRuleSeesNamesAndLeavesWordsAlone(t *testing.T) {
	t.Parallel()
	names := vendorNames()
	for id, want := range map[string]string{
		"ShapeOpenAI": "openai", "openAIFile": "openai", "CarrierVertex": "vertex", "xaiLine": "xai", "together": "together",
		"geminiResult": "gemini", "maxAims": "", "Compatible": "", "inVertices": "", "gathered": "",
	} {
		if got := namedBy(names, id); got != want {
			t.Errorf("identifier %s: %q, want %q", id, got, want)
		}
	}
	for text, want := range map[string]string{
		`"openai"`: "openai", `"such as openai/gpt-5"`: "openai", `"Vertex needs a project"`: "vertex",
		`"Vertex AI: the project"`: "vertex", `"together"`: "together", `"Together AI has none"`: "together", "`vllm`": "vllm",
		`"openai-compatible"`: "openai", `"they are told together"`: "", `"vertices"`: "", `"a maxai word"`: "",
	} {
		if got := saidIn(names, "internal/show/cli/x.go", &ast.BasicLit{Kind: token.STRING, Value: text}); got != want {
			t.Errorf("text %s: %q, want %q", text, got, want)
		}
	}
}

// vendorName is a name that the rule looks for.
type vendorName struct {
	name, title string
	word        *regexp.Regexp // the name as a word of a text
}

func vendorNames() []vendorName {
	var out []vendorName
	for _, v := range catalog.Default().Vendors() {
		if v.Name != catalog.Compatible { // its name has another in it
			out = append(out, vendorName{v.Name, v.Title, regexp.MustCompile(`(?i)(^|[^a-z])` + regexp.QuoteMeta(v.Name) + `($|[^a-z])`)})
		}
	}
	return out
}

// namedBy returns the vendor that an identifier names by one or several of its words.
func namedBy(names []vendorName, id string) string {
	low := strings.ToLower(id)
	for _, v := range names {
		for at := 0; at+len(v.name) <= len(low); at++ {
			end := at + len(v.name)
			begins := at == 0 || unicode.IsUpper(rune(id[at])) || !unicode.IsLetter(rune(id[at-1]))
			ends := end == len(low) || !unicode.IsLower(rune(id[end]))
			if begins && ends && low[at:end] == v.name {
				return v.name
			}
		}
	}
	return ""
}

// saidIn returns the vendor that a text names as a word.
func saidIn(names []vendorName, file string, lit *ast.BasicLit) string {
	text, err := strconv.Unquote(lit.Value)
	if lit.Kind != token.STRING || err != nil {
		return ""
	}
	if slices.ContainsFunc(vendorExamples[file], func(begin string) bool { return strings.HasPrefix(text, begin) }) {
		return ""
	}
	for _, v := range names {
		if slices.Contains(everydayWords, v.name) {
			if text == v.name || strings.Contains(text, v.title) {
				return v.name
			}
		} else if v.word.MatchString(text) {
			return v.name
		}
	}
	return ""
}
