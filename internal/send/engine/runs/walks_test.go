package runs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay/internal/keep/store/clients"
	"assay/internal/keep/store/read"
	"assay/internal/keep/store/runs"
	"assay/internal/keep/store/sending"
)

// TestNothingIsWrittenWhileRowsAreRead keeps writes out of loops over rows of the ledger: a loop keeps a connection, and a write
// in it waits for another one.
func TestNothingIsWrittenWhileRowsAreRead(t *testing.T) {
	t.Parallel()
	walks, writes := map[string]bool{}, map[string]bool{}
	for m := range methods(reflect.TypeFor[*read.Reader](), reflect.TypeFor[*read.Pages]()) {
		if m.Type.NumOut() == 1 && strings.HasPrefix(m.Type.Out(0).String(), "iter.Seq2") {
			walks[m.Name] = true
		}
	}
	for m := range methods(reflect.TypeFor[*sending.Store](), reflect.TypeFor[*sending.Leases](), reflect.TypeFor[*sending.Limits](),
		reflect.TypeFor[*sending.Importer](), reflect.TypeFor[*runs.Store](), reflect.TypeFor[*clients.Store](),
		reflect.TypeFor[*read.Reuse]()) {
		writes[m.Name] = true
	}
	if !walks["SegmentAnswers"] || !writes["SetCanary"] || writes["SegmentAnswers"] {
		t.Fatalf("walks %v, writes %v", walks, writes)
	}
	loops := 0
	err := filepath.WalkDir("../..", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			loop, ok := n.(*ast.RangeStmt)
			if !ok || !calls(loop.X, walks) {
				return true
			}
			loops++
			if calls(loop.Body, writes) {
				t.Errorf("%s: a loop over rows writes", name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if loops < 5 {
		t.Errorf("%d loops over rows were found", loops)
	}
}

// methods walks over the methods of some faces of the ledger.
func methods(faces ...reflect.Type) iter.Seq[reflect.Method] {
	return func(yield func(reflect.Method) bool) {
		for _, face := range faces {
			for i := range face.NumMethod() {
				if !yield(face.Method(i)) {
					return
				}
			}
		}
	}
}

// calls reports whether a piece of code calls a method of one of these names.
func calls(n ast.Node, names map[string]bool) bool {
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if s, ok := c.Fun.(*ast.SelectorExpr); ok && names[s.Sel.Name] {
				found = true
			}
		}
		return true
	})
	return found
}
