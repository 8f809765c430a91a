package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// calledByOthers are methods that the standard library calls by their names.
var calledByOthers = []string{"MarshalJSON", "MarshalText", "GoString", "LogValue", "Sys"}

// TestFunctionsAreNotForTestsAlone looks for functions that only tests name. It goes by names alone, so that one use of a method is one of
// all methods of that name; scripts/proof follows every call.
func TestFunctionsAreNotForTestsAlone(t *testing.T) {
	t.Parallel()
	all := slices.DeleteFunc(readPackages(t), func(s source) bool { return s.test })
	functions, methods := map[string]bool{}, map[string]bool{}
	for _, name := range calledByOthers {
		methods[name] = true
	}
	for _, s := range all {
		named(s, functions, methods)
	}
	for _, name := range namedInTemplates(t) {
		methods[name] = true
	}
	for _, s := range all {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name == "main" || f.Name.Name == "init" || f.Name.Name == "_" {
				continue
			}
			if f.Recv == nil && !functions[s.pkg+"."+f.Name.Name] || f.Recv != nil && !methods[f.Name.Name] {
				t.Errorf("%s: only tests name %s: use it, delete it, or move it into the tests", s.fset.Position(f.Pos()), f.Name.Name)
			}
		}
	}
}

// named adds what a file names: functions by their package, of this one or of one that it imports, and methods wherever they are.
func named(s source, functions, methods map[string]bool) {
	own := map[*ast.Ident]bool{} // what a declaration names is not used by that
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			own[n.Name] = true
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, name := range m.Names {
					methods[name.Name] = true
				}
			}
		case *ast.SelectorExpr:
			methods[n.Sel.Name] = true
			if x, ok := n.X.(*ast.Ident); ok {
				if pkg := packageOf(imported(s, x.Name)); pkg != "" {
					functions[pkg+"."+n.Sel.Name] = true
				}
			}
		case *ast.Ident:
			if !own[n] {
				functions[s.pkg+"."+n.Name] = true
			}
		}
		return true
	})
}

// namedInTemplates returns the fields and methods that pages name.
func namedInTemplates(t *testing.T) (all []string) {
	t.Helper()
	pages, err := filepath.Glob("internal/*/*/*/*/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatal(err, "no templates")
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range templateName.FindAllSubmatch(text, -1) {
			all = append(all, string(m[1]))
		}
	}
	return all
}

var templateName = regexp.MustCompile(`\.([A-Z]\w*)`)
