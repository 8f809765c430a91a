package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestCommandsThatMessagesNameExist reads every text of this package and tries the commands in it: a hint that cannot be typed
// is worse than none.
func TestCommandsThatMessagesNameExist(t *testing.T) {
	t.Parallel()
	root := newRoot(&World{Stdout: io.Discard, Stderr: io.Discard})
	named := regexp.MustCompile(`\bassay((?: (?:[a-z][a-z-]*|--?[a-z-]+|[A-Z0-9…]+|\x00))+)`)
	tried := 0
	for _, text := range texts(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(m[1])
			c, rest, err := root.Find(words)
			if words[0] == "help" {
				c, rest, err = root.Find(words[1:])
			}
			switch {
			case text == welcome && words[0] == "asks", words[0][0] == '-', words[0] == "\x00":
				continue
			case err != nil || c == root && words[0] != "help":
				t.Errorf("no command %q, as in %q", strings.Join(words, " "), text)
				continue
			}
			tried++
			for _, word := range rest {
				if name, is := strings.CutPrefix(word, "--"); is && name != "help" && c.Flags().Lookup(name) == nil && root.PersistentFlags().Lookup(name) == nil {
					t.Errorf("%s has no flag --%s, as in %q", c.CommandPath(), name, text)
				}
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d commands were found in all texts: the search does not work", tried)
	}
}

// texts are the texts of this package; what is put into them stands as a zero byte.
func texts(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, is := textOf(e)
			if is {
				all = append(all, regexp.MustCompile(`%[a-z]`).ReplaceAllString(text, "\x00"))
			}
			return !is
		})
	}
	return all
}

// textOf is a literal, or literals and values put together.
func textOf(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, one := textOf(e.X)
		right, other := textOf(e.Y)
		if e.Op != token.ADD || !one && !other {
			return "", false
		}
		if !one {
			left = "\x00"
		}
		if !other {
			right = "\x00"
		}
		return left + right, true
	}
	return "", false
}
