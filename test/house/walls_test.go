package house

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A package that grows past these has two subjects: cut it in two.
const (
	maxFiles    = 25
	maxSiblings = 3.5 // other files of its package that a file refers to, on average
	maxMethods  = 70  // of one type
)

func TestPackagesHaveWalls(t *testing.T) {
	t.Parallel()
	byPackage := map[string][]source{}
	for _, s := range readPackages(t) {
		if !s.test {
			byPackage[s.pkg] = append(byPackage[s.pkg], s)
		}
	}
	find := exported(t)
	for pkg, files := range byPackage {
		got := wallsOf(t, pkg, files, find)
		if got.files > maxFiles {
			t.Errorf("package %s has %d files, at most %d", pkg, got.files, maxFiles)
		}
		if got.siblings > maxSiblings+0.05 {
			t.Errorf("a file of package %s refers to %.1f others on average, at most %.1f: what belongs together wants a "+
				"package of its own", pkg, got.siblings, maxSiblings)
		}
		if got.methods > maxMethods {
			t.Errorf("a type of package %s has %d methods, at most %d", pkg, got.methods, maxMethods)
		}
		t.Logf("%-24s %3d files  %.1f siblings  circle of %d  %d methods", pkg, got.files, got.siblings, got.circle, got.methods)
	}
}

// walls is how a package is cut.
type walls struct {
	files    int
	siblings float64
	circle   int // the largest set of files each of which refers to all others by some way
	methods  int // of the type that has most
}

// wallsOf measures one package. A file refers to another if it uses a name, a method or a field that is declared there.
func wallsOf(t *testing.T, pkg string, files []source, find types.Importer) walls {
	t.Helper()
	var parsed []*ast.File
	for _, s := range files {
		if !strings.HasSuffix(s.name, "_other.go") && !strings.HasSuffix(s.name, "_windows.go") {
			parsed = append(parsed, s.file)
		}
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: find, Error: func(error) {}}
	checked, err := conf.Check(pkg, files[0].fset, parsed, info)
	if checked == nil {
		t.Fatal(err)
	}
	refers := map[string]map[string]bool{}
	at := func(p token.Pos) string { return files[0].fset.Position(p).Filename }
	for id, obj := range info.Uses {
		if from, to := at(id.Pos()), at(obj.Pos()); obj.Pkg() == checked && from != to {
			if refers[from] == nil {
				refers[from] = map[string]bool{}
			}
			refers[from][to] = true
		}
	}
	sum := 0
	for _, to := range refers {
		sum += len(to)
	}
	return walls{files: len(files), siblings: float64(sum) / float64(len(parsed)), circle: largestCircle(refers),
		methods: mostMethods(checked)}
}

func mostMethods(pkg *types.Package) int {
	most := 0
	for _, name := range pkg.Scope().Names() {
		if obj, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok {
			most = max(most, types.NewMethodSet(types.NewPointer(obj.Type())).Len())
		}
	}
	return most
}

// largestCircle returns the size of the largest set of files that reach each other.
func largestCircle(refers map[string]map[string]bool) int {
	reaches := map[string]map[string]bool{}
	for from := range refers {
		seen := map[string]bool{}
		for next := []string{from}; len(next) > 0; {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			for to := range refers[at] {
				if !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		reaches[from] = seen
	}
	largest := 0
	for from := range reaches {
		n := 0
		for to := range reaches[from] {
			if reaches[to][from] {
				n++
			}
		}
		largest = max(largest, n)
	}
	return largest
}

// exported imports packages from what the compiler wrote of them.
func exported(t *testing.T) types.Importer {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		where[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file := where[path]
		if file == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(filepath.Clean(file))
	})
}
