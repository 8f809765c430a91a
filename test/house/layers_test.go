package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// layers is the map of the code: a package imports lower layers only. Change map and reason in the same commit, and
// docs/dev/map.md with them.
var layers = map[string]int{
	"assay": -1, "study/prompt/lex": -1, "study/prompt/syntax": 0, "find/stats": 0,
	"find/stats/checked": 1, "find/stats/drift": 1, "find/stats/variance": 1, "assay/jsontext": -1, "examples": 0, "keep/objects": 0,
	"keep/hub":      0,
	"assay/csvtext": 0, "study/media": 0, "study/declare": 1, "study/catalog": 1, "study/decode": 0, "study/studyfile": 3,
	"send/dialect": 1, "send/dialect/asked": 1, "send/dialect/parts": 0, "send/dialect/likely": 0, "send/inlay": 1,
	"study/prompt": 1, "study/expr": 1, "study/inputs": 1, "keep/store": 1, "keep/store/db": 1,
	"find/tables": 1, "find/invoices": 1,
	"show/notify": 1, "send/ratelimit": 1, "judge/program": 1, "study/tokens": 1, "keep/artifacts": 1, "show/serve": 1, "show/hooks": 0,
	"show/thumb":    1,
	"show/cli/term": 1, "study/adaptive": 1, "keep/store/read": 2, "keep/store/state": 2, "study": 2, "judge": 2, "study/pairs": 2,
	"find/analysis": 2, "send/provider": 2, "study/convert": 2, "show/report/plot": 3,
	"show/report/richtext": 1, "show/report": 4, "show/report/figures": 5,
	"show/report/words": 5, "show/report/pages": 6, "find/analysis/gather": 3, "find/analysis/answers": 4, "find/analysis/talks": 4,
	"find/analysis/contests": 4, "find/analysis/methods": 5, "keep/store/sending": 3, "keep/store/runs": 3, "keep/store/clients": 3,
	"study/plan": 3, "study/edit": 3, "send/provider/apis": 3, "send/batchfile": 3, "study/plan/check": 4, "study/plan/estimate": 4,
	"keep/ledger": 4, "send/learned": 4, "keep/backup": 0, "keep/inventory": 5, "send/origin": 5,
	"send/engine": 4, "send/engine/hold": 5, "send/engine/reconcile": 6, "send/engine/batch": 7, "send/engine/live": 6,
	"send/engine/stage": 6, "send/engine/runs": 8,
	"send/process": 0, "send/traffic": 4, "send/workers": 15,
	"send/script/again": 3, "send/script/rubric": 3, "send/script/rounds": 4, "send/script/snapshot": 4, "send/script/stages": 5,
	"send/script/answers": 6, "send/script/conditions": 6, "send/script/verdicts": 7, "send/script/people": 7, "send/script": 8,
	"send/batchrun":     5,
	"send/locks":        5,
	"find/results":      9,
	"find/results/rows": 10, "find/results/labels": 10, "find/results/grid": 10, "find/results/runs": 10,
	"send/dispatch/local": 9, "send/dispatch/river": 9,
	"find/results/findings": 11, "show/export": 11,
	"find/results/document": 12, "find/results/trend": 12, "send/planner": 12,
	"show/export/folder": 1, "show/export/table": 2,
	"show/export/inspect": 12, "show/export/speceval": 12, "show/export/pairwise": 12, "show/export/sycobench": 12,
	"show/export/bundle": 12, "show/export/studyfolder": 12, "find/results/quotes": 13, "show/export/formats": 13,
	"send/workspace/earlier": 13, "send/workspace": 14,
	"show/web/memo": 0, "show/web/guard": 0, "show/web/site": 11, "show/web/people": 12, "show/web/answers": 12, "show/web/progress": 12,
	"show/web/found": 14, "show/web": 15,
	"show/gateway/openai": 6, "show/gateway/answers": 7, "show/gateway/drive": 15,
	"show/gateway":   16,
	"show/cli/shell": 15, "show/cli/quote": 16, "show/cli/ratings": 16, "show/cli/reading": 16, "show/cli/progress": 16,
	"show/cli/state": 17, "show/cli/driving": 18, "show/cli/planning": 19, "show/cli/batch": 19,
	"show/cli":  20,
	"cmd/assay": 21, "scripts/testsum": 18, "scripts/catalog": 18,
	"simulator/dice": 0, "simulator/eyes": 0, "simulator/minds": 1, "simulator/rules": 1, "simulator/spill": 1,
	"simulator/fault": 1, "simulator/bodies": 2, "simulator/backend": 3,
	"simulator/rates": 3,
	"simulator/wire":  4, "simulator": 5,
}

// quiet packages do no I/O of their own: files come as fs.FS or iterators, clock and randomness as arguments.
var quiet = []string{
	"assay", "find/stats", "assay/jsontext", "assay/csvtext", "study/catalog", "send/dialect", "send/dialect/asked", "send/dialect/parts",
	"send/dialect/likely",
	"study/prompt", "study/media", "study/prompt/lex",
	"study/prompt/syntax", "study/expr", "study", "study/decode", "study/studyfile", "judge", "study/pairs", "find/analysis",
	"study/plan", "study/plan/check",
	"study/plan/estimate", "study/edit", "study/declare", "study/convert",
	"find/tables", "find/invoices", "send/ratelimit", "study/tokens", "study/adaptive", "find/analysis/gather", "find/analysis/answers",
	"find/analysis/talks", "find/analysis/contests", "find/analysis/methods", "simulator/dice", "simulator/eyes", "simulator/minds",
	"simulator/fault",
}

const (
	maxFileLines     = 400
	maxFunctionLines = 80
	maxColumns       = 140 // a tab has 4
)

// source is one parsed Go file.
type source struct {
	pkg, name string
	test      bool // a _test.go file, or any file of a *test package
	fset      *token.FileSet
	file      *ast.File
	lines     int
	text      string
}

// readPackages returns all files of the module, in a slice of the caller's own.
func readPackages(t *testing.T) []source {
	t.Helper()
	all, err := tree()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(all)
}

var tree = sync.OnceValues(func() ([]source, error) {
	var all []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isModule(name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := strings.TrimPrefix(path.Dir(filepath.ToSlash(name)), "internal/")
		all = append(all, source{
			pkg: pkg, name: name, fset: fset, file: file,
			test:  strings.HasSuffix(name, "_test.go") || testPackage(pkg),
			lines: strings.Count(string(text), "\n"), text: string(text),
		})
		return nil
	})
	return all, err
})

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// testPackage reports whether a package exists for tests alone: its name, or that of a folder above it, ends in "test".
func testPackage(pkg string) bool {
	return slices.ContainsFunc(strings.Split(pkg, "/"), func(part string) bool { return strings.HasSuffix(part, "test") })
}

// packageOf returns the package that an import path names, or "" for what is not ours.
func packageOf(importPath string) string {
	rest, ours := strings.CutPrefix(importPath, "assay/")
	if !ours {
		return ""
	}
	return strings.TrimPrefix(rest, "internal/")
}

func TestEveryPackageStandsInALayer(t *testing.T) {
	t.Parallel()
	for _, s := range readPackages(t) {
		if _, ok := layers[s.pkg]; !ok && !testPackage(s.pkg) {
			t.Errorf("%s: package %q is in no layer: give it one in layers_test.go and docs/dev/map.md", s.name, s.pkg)
		}
	}
}

func TestImportsGoDown(t *testing.T) {
	t.Parallel()
	for _, s := range readPackages(t) {
		if s.test {
			continue
		}
		for _, imp := range imports(s) {
			pkg := packageOf(imp)
			if pkg == "" {
				continue
			}
			if layers[pkg] >= layers[s.pkg] || testPackage(pkg) {
				t.Errorf("%s: package %s (layer %d) imports %s (layer %d)", s.name, s.pkg, layers[s.pkg], pkg, layers[pkg])
			}
		}
	}
}

func TestQuietPackagesDoNoIO(t *testing.T) {
	t.Parallel()
	for _, s := range readPackages(t) {
		if s.test || !slices.Contains(quiet, s.pkg) {
			continue
		}
		for _, imp := range imports(s) {
			if loud(imp) {
				t.Errorf("%s: quiet package %s imports %s", s.name, s.pkg, imp)
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if name := loudCall(s, call); name != "" {
					t.Errorf("%s: quiet package %s calls %s: take it as an argument", s.fset.Position(call.Pos()), s.pkg, name)
				}
			}
			return true
		})
	}
}

func loud(imp string) bool {
	if imp == "net/url" || imp == "net/netip" {
		return false
	}
	top, _, _ := strings.Cut(imp, "/")
	return slices.Contains([]string{"os", "net", "database", "syscall", "log"}, top) ||
		slices.Contains([]string{"math/rand", "crypto/rand", "io/ioutil"}, imp)
}

// loudCall names a call to the wall clock or to global randomness.
func loudCall(s source, call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	switch imported(s, pkg.Name) {
	case "time":
		if slices.Contains([]string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
			sel.Sel.Name) {
			return "time." + sel.Sel.Name
		}
	case "math/rand/v2":
		if !slices.Contains([]string{"New", "NewPCG", "NewChaCha8", "NewZipf"}, sel.Sel.Name) {
			return "rand." + sel.Sel.Name
		}
	}
	return ""
}

func TestEveryPackageSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for _, s := range readPackages(t) {
		if strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		said[s.pkg] = said[s.pkg] || s.file.Doc != nil
	}
	for pkg, ok := range said {
		if !ok {
			t.Errorf("package %s: no package doc line", pkg)
		}
	}
}

func TestFilesAndFunctionsStayShort(t *testing.T) {
	t.Parallel()
	for _, s := range readPackages(t) {
		if strings.HasSuffix(s.name, "_test.go") {
			continue
		}
		if s.lines > maxFileLines {
			t.Errorf("%s: %d lines, at most %d", s.name, s.lines, maxFileLines)
		}
		for _, decl := range s.file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: function %s has %d lines, at most %d", s.fset.Position(fn.Pos()), fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

// TestLinesStayShort leaves out lines with raw texts: SQL, tags of fields, what tests type.
func TestLinesStayShort(t *testing.T) {
	t.Parallel()
	for _, s := range readPackages(t) {
		raw := rawLines(s)
		for i, line := range strings.Split(s.text, "\n") {
			n := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
			if n > maxColumns && !raw[i+1] {
				t.Errorf("%s:%d: %d columns, at most %d", s.name, i+1, n, maxColumns)
			}
		}
	}
}

// rawLines returns the numbers of the lines on which a raw text begins, goes on or ends.
func rawLines(s source) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && strings.HasPrefix(lit.Value, "`") {
			for i := s.fset.Position(lit.Pos()).Line; i <= s.fset.Position(lit.End()).Line; i++ {
				lines[i] = true
			}
		}
		return true
	})
	return lines
}

func imports(s source) []string {
	var all []string
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			all = append(all, p)
		}
	}
	return all
}

// imported returns the path behind a package name in a file, or "".
func imported(s source, name string) string {
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		local := path.Base(p)
		if local == "v2" {
			local = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == name {
			return p
		}
	}
	return ""
}
