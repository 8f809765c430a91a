package worlds

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// compile builds the worlds with all mutants in one program, each asleep: the function that a mutant breaks is there once sound and once
// for each of them, and the variable WORLDS_MUTANT decides at every call which one runs. With WORLDS_REACH it notes whose function was
// called, in variables, as no package of the program is to know of this.
func compile(t *testing.T, all []mutant) (binary string) {
	t.Helper()
	dir := t.TempDir()
	replace, packages := map[string]string{}, map[string]string{}
	put := func(file string, text []byte) {
		there, err := filepath.Abs(filepath.Join(root, file))
		here := filepath.Join(dir, fmt.Sprintf("%d.go", len(replace)))
		if err = errors.Join(err, os.WriteFile(here, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		replace[there] = here
	}
	for file, numbers := range byFile(all) {
		text, name, err := switched(all, file, numbers)
		if err != nil {
			t.Fatalf("%s: %s", file, err)
		}
		put(file, text)
		packages[filepath.Dir(file)] = name
	}
	for folder, name := range packages {
		put(filepath.Join(folder, "worlds_mutant.go"), []byte(strings.ReplaceAll(switchText, "NAME", name)))
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	overlay := filepath.Join(dir, "overlay.json")
	if err = errors.Join(err, os.WriteFile(overlay, list, 0o600)); err != nil {
		t.Fatal(err)
	}
	binary = filepath.Join(dir, "worlds.test")
	out, err := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-c", "-o", binary, "-overlay", overlay, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("it does not compile: %s\n%s", err, out)
	}
	return binary
}

// switchText is a file of each package with mutants.
const switchText = `package NAME

import "os"

func worldsMutant(n string) bool {
	if os.Getenv("WORLDS_REACH") != "" && os.Getenv("WORLDS_REACHED_"+n) == "" {
		os.Setenv("WORLDS_REACHED_"+n, "1")
	}
	return os.Getenv("WORLDS_MUTANT") == n
}
`

func byFile(all []mutant) map[string][]int {
	files := map[string][]int{}
	for i, m := range all {
		files[m.file] = append(files[m.file], i)
	}
	return files
}

// switched returns a file with its mutants in it, and the name of its package.
func switched(all []mutant, file string, numbers []int) ([]byte, string, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, "", err
	}
	name, funcs, err := functions(text)
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	out.Write(text)
	added := map[string][]int{}
	for _, i := range numbers {
		broken, err := all[i].mutated(root)
		if err != nil {
			return nil, "", err
		}
		at := bytes.Index(text, []byte(all[i].old))
		_, others, err := functions(broken)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", all[i].name, err)
		}
		mine, theirs := around1(funcs, at, len(all[i].old)), around1(others, at, len(all[i].new))
		if mine == nil || theirs == nil || mine.name != theirs.name {
			return nil, "", fmt.Errorf("%s: it is not within one function", all[i].name)
		}
		fmt.Fprintf(&out, "\n%s\n", theirs.renamed(fmt.Sprintf("Mutant%d", i)))
		added[mine.name] = append(added[mine.name], i)
	}
	whole := out.Bytes()
	for _, f := range slices.Backward(funcs) { // from the last on, so that offsets stay true
		if of := added[f.name]; len(of) > 0 {
			whole = slices.Concat(whole[:f.from], []byte(f.dispatcher(of)+"\n\n"+f.renamed("Sound")), whole[f.to:])
		}
	}
	whole, err = format.Source(whole)
	return whole, name, err
}

// function is one of a file, by its bytes.
type function struct {
	name     string // with that of its receiver
	decl     *ast.FuncDecl
	text     string
	from, to int
	fset     *token.FileSet
	file     []byte
}

func functions(text []byte) (pkg string, all []*function, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			one := &function{decl: fn, fset: fset, file: text, from: fset.Position(fn.Pos()).Offset, to: fset.Position(fn.End()).Offset}
			one.text, one.name = string(text[one.from:one.to]), fn.Name.Name
			if fn.Recv != nil {
				one.name = one.source(fn.Recv.List[0].Type) + "." + one.name
			}
			all = append(all, one)
		}
	}
	return f.Name.Name, all, nil
}

// around1 returns the function that some bytes of a file are part of.
func around1(all []*function, at, length int) *function {
	for _, f := range all {
		if f.from < at+max(length, 1) && at < f.to {
			return f
		}
	}
	return nil
}

func (f *function) source(n ast.Node) string {
	return string(f.file[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset])
}

// renamed returns the function under a longer name.
func (f *function) renamed(suffix string) string {
	end := f.fset.Position(f.decl.Name.End()).Offset - f.from
	return f.text[:end] + suffix + f.text[end:]
}

// dispatcher returns a function of the same name that calls one of the mutants, or the sound one.
func (f *function) dispatcher(numbers []int) string {
	var b strings.Builder
	b.WriteString("func ")
	callee := f.decl.Name.Name
	if f.decl.Recv != nil {
		fmt.Fprintf(&b, "(self %s) ", f.source(f.decl.Recv.List[0].Type))
		callee = "self." + callee
	}
	b.WriteString(f.decl.Name.Name)
	if p := f.decl.Type.TypeParams; p != nil {
		b.WriteString(f.source(p))
	}
	var params, args []string
	for _, p := range f.decl.Type.Params.List {
		for range max(1, len(p.Names)) {
			arg := fmt.Sprintf("p%d", len(args))
			params = append(params, arg+" "+f.source(p.Type))
			if _, many := p.Type.(*ast.Ellipsis); many {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	fmt.Fprintf(&b, "(%s) ", strings.Join(params, ", "))
	give := ""
	if r := f.decl.Type.Results; r != nil {
		give = "return "
		var types []string
		for _, p := range r.List {
			for range max(1, len(p.Names)) {
				types = append(types, f.source(p.Type))
			}
		}
		fmt.Fprintf(&b, "(%s) ", strings.Join(types, ", "))
	}
	b.WriteString("{\n")
	for _, n := range numbers { // all are asked, so that each is noted as reached
		fmt.Fprintf(&b, "m%d := worldsMutant(\"%d\")\n", n, n)
	}
	b.WriteString("switch {\n")
	for _, n := range numbers {
		fmt.Fprintf(&b, "case m%d:\n%s%sMutant%d(%s)\n", n, give, callee, n, strings.Join(args, ", "))
	}
	fmt.Fprintf(&b, "default:\n%s%sSound(%s)\n}\n}", give, callee, strings.Join(args, ", "))
	return b.String()
}
