package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"assay/internal/show/cli/shell"
)

// TestEveryHintIsTyped wants each command that the program and its pages advise, with the same flags, in a session or a test that types
// it: one that only parses may still do nothing.
func TestEveryHintIsTyped(t *testing.T) {
	t.Parallel()
	root := newRoot(&shell.World{Stdout: io.Discard, Stderr: io.Discard})
	elsewhere := []string{
		"assay resolve --adopt",   // typed in worlds whenever `assay status` prints it
		"assay worker --programs", // needs PostgreSQL and a program that another worker may not run
	}
	typed := map[string][][]string{} // by command: the flags of each time
	for _, words := range typedInTests(t) {
		if name, flags, ok := shape(root, words); ok {
			typed[name] = append(typed[name], flags)
		}
	}
	seen, hints := map[string]bool{}, 0
	for _, s := range sources(t) {
		if s.kind == ".md" || strings.HasSuffix(s.file, "cli/samples.go") { // another test types what help has
			continue
		}
		for _, c := range s.commands() {
			name, flags, ok := shape(root, c.words)
			key := strings.Join(append([]string{name}, flags...), " ")
			if !ok || seen[key] || slices.Contains(elsewhere, key) {
				continue
			}
			seen[key] = true
			hints++
			if !slices.ContainsFunc(typed[name], func(had []string) bool {
				return !slices.ContainsFunc(flags, func(f string) bool { return !slices.Contains(had, f) })
			}) {
				t.Errorf("%s: `%s` is typed in no session and no test", s.file, key)
			}
		}
	}
	if hints < 60 || len(typed) < 30 {
		t.Errorf("%d hints and %d commands were found: the search does not work", hints, len(typed))
	}
}

// shape returns the command among the words of a line, and the names of its flags.
func shape(root *cobra.Command, words []string) (name string, flags []string, ok bool) {
	c, rest, err := root.Find(words)
	if err != nil || !c.HasParent() {
		return "", nil, false
	}
	for _, word := range rest {
		flag, _, _ := strings.Cut(word, "=")
		switch {
		case flag == "-y":
			flag = "--yes"
		case flag == "-h", flag == "--help", flag == "-", !strings.HasPrefix(flag, "-"):
			continue
		}
		flags = append(flags, flag)
	}
	slices.Sort(flags)
	return c.CommandPath(), slices.Compact(flags), true
}

// typedInTests returns the words of every command that a session types, or a Go test passes as texts.
func typedInTests(t *testing.T) (all [][]string) {
	t.Helper()
	line := regexp.MustCompile(`^(?:! )?(?:exits \d+ |exec assay |assay |background |\[.*\] assay )+(.*)`)
	for _, root := range []string{"testdata/script", "../../../test", "."} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			switch {
			case strings.HasSuffix(path, ".txtar"), strings.HasSuffix(path, ".txt"):
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				for l := range strings.Lines(string(text)) {
					if m := line.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
						all = append(all, shellWords(m[1]))
					}
				}
			case strings.HasSuffix(path, "_test.go"):
				all = append(all, passed(t, path)...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// passed returns the texts that stand one after another in a call or a list of a test; what is no literal is a value.
func passed(t *testing.T, path string) (all [][]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		var list []ast.Expr
		switch n := n.(type) {
		case *ast.CallExpr:
			list = n.Args
		case *ast.CompositeLit:
			list = n.Elts
		}
		var words []string
		for _, e := range list {
			word := "VALUE"
			if text, is := e.(*ast.BasicLit); is && text.Kind == token.STRING {
				word, _ = strconv.Unquote(text.Value)
			} else if len(words) == 0 {
				continue
			}
			words = append(words, word)
		}
		if len(words) > 0 {
			all = append(all, words)
			if strings.HasPrefix(words[0], "assay ") || strings.Contains(words[0], " ") {
				all = append(all, strings.Fields(strings.TrimPrefix(words[0], "assay ")))
			}
		}
		return true
	})
	return all
}
