package cli

import (
	"errors"
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
	"github.com/spf13/pflag"

	"assay/internal/show/cli/shell"
)

// TestCommandsThatTextsNameCanBeTyped reads every text of the program, its pages and its documents, and holds each command in it against
// the real ones: a hint that cannot be typed is worse than none. What is put into a text stands as a zero byte.
func TestCommandsThatTextsNameCanBeTyped(t *testing.T) {
	t.Parallel()
	tried := map[string]int{}
	for _, s := range sources(t) {
		for _, c := range s.commands() {
			if err := typed(c); err != nil {
				t.Errorf("%s: %s: %v", s.file, strings.ReplaceAll(strings.Join(c.words, " "), "\x00", "…"), err)
			}
			tried[s.kind]++
		}
	}
	for kind, least := range map[string]int{".go": 140, ".html": 3, ".md": 200} {
		if tried[kind] < least {
			t.Errorf("%d commands were found in texts of %s, want %d: the search does not work", tried[kind], kind, least)
		}
	}
}

// The test above finds what is wrong.
func TestACommandThatCannotBeTypedIsFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"`assay resme \x00`", "`assay batch sumbit FILE`", "assay resume --proced", "`assay status \x00 \x00`", "`assay plan --show 1`",
		"`assay resume \x00 --budget`", "`assay resume --interval soon`", "assay compare RUN", "`assay help resme`",
	} {
		found := source{kind: ".go", text: text}.commands()
		if len(found) != 1 || typed(found[0]) == nil {
			t.Errorf("%q: %+v is taken for a command", text, found)
		}
	}
	for _, text := range []string{
		"`assay resume \x00 --budget AMOUNT`", "assay status \x00 --segments, then assay resolve", "assay retry \x00",
		"assay sql \"SELECT 1\"", "`assay analyse --by lane,branch`", "assay asks many models",
		"`assay export [RUN...] --format FORMAT --out DIR`", "`assay report [RUN] --out report.html [--format html|md] [--examples N]`",
	} {
		for _, c := range (source{kind: ".go", text: text}).commands() {
			if err := typed(c); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

// spoken is a command as a text names it.
type spoken struct {
	words []string
	whole bool // the text says where it ends
}

// typed parses a command as if it were typed, and runs nothing.
func typed(n spoken) error {
	root := newRoot(&shell.World{Stdout: io.Discard, Stderr: io.Discard})
	words := n.words
	if words[0] == "help" {
		if len(words) == 1 || !n.whole || placeholder(words[1]) || words[1] == "--all" {
			return nil
		}
		words, n.whole = words[1:], false
	}
	c, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err
	case c == root:
		return errors.New("no such command")
	case c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") && !placeholder(rest[0]):
		return errors.New("no such command of " + c.Name())
	}
	args, err := arguments(c, rest, n.whole)
	if err != nil || c.Args == nil || !n.whole && len(args) == 0 {
		return err
	}
	if n.whole && len(args) == 0 && len(rest) == 0 { // the name of the command alone, as one speaks of it
		return nil
	}
	return c.Args(c, args)
}

// arguments returns what follows a command, without its flags. Where a text does not say how far it goes, it ends before the first
// word that is neither a flag nor put in.
func arguments(c *cobra.Command, rest []string, whole bool) (args []string, err error) {
	c.InheritedFlags() // merges those of the program
	for i := 0; i < len(rest); i++ {
		word := rest[i]
		if !strings.HasPrefix(word, "-") || word == "-" {
			if !whole && !placeholder(word) {
				break
			}
			args = append(args, word)
			continue
		}
		name, value, has := strings.Cut(word, "=")
		var f *pflag.Flag
		if long, is := strings.CutPrefix(name, "--"); is {
			f = c.Flags().Lookup(long)
		} else if len(name) == 2 {
			f = c.Flags().ShorthandLookup(name[1:])
		}
		switch {
		case name == "--help" || name == "-h":
			continue
		case f == nil:
			return nil, errors.New("no flag " + name)
		case f.NoOptDefVal != "" && !has:
			continue
		case !has && i+1 == len(rest):
			if whole && len(args) > 0 || len(rest) > 1 { // `--budget` alone is how one speaks of it
				return nil, errors.New(name + " wants a value")
			}
			return args, nil
		case !has:
			i++
			value = rest[i]
		}
		if !placeholder(value) {
			if err := f.Value.Set(value); err != nil {
				return nil, errors.New(name + ": " + err.Error())
			}
		}
	}
	return args, nil
}

// placeholder reports whether a word stands for what is put in: RUN, [RUN…], N, or a value of the program.
func placeholder(word string) bool {
	return strings.ContainsAny(word, "\x00$<") || regexp.MustCompile(`^\[?[A-Z][A-Z0-9_./:-]*…?\]?…?$`).MatchString(word)
}

// source is a text that people read.
type source struct{ file, kind, text string }

// commands returns those that a text names: in quotes, on a line of their own in a block, or after the program's name.
func (s source) commands() []spoken {
	var out []spoken
	text := s.text
	if s.kind == ".md" {
		for _, m := range regexp.MustCompile("(?s)\n```(?:sh|console)?\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(m[1], "\\\n", " ")) {
				line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
				if words, is := strings.CutPrefix(line, "assay "); is {
					out = append(out, spoken{shellWords(words), true})
				}
			}
		}
		text = regexp.MustCompile("(?s)\n```.*?\n```").ReplaceAllString(text, "\n")
	}
	quoted := regexp.MustCompile("`assay ([^`]+)`")
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		out = append(out, spoken{shellWords(m[1]), true})
	}
	if s.kind == ".md" {
		return out
	}
	bare := regexp.MustCompile(`\bassay((?: (?:[a-z][a-z-]*|--?[a-z-]+|\[?[A-Z][A-Z0-9…]*\]?|\x00))+)`)
	for _, m := range bare.FindAllStringSubmatch(quoted.ReplaceAllString(text, ""), -1) {
		if words := strings.Fields(m[1]); !slices.Contains(told(), words[0]) && !placeholder(words[0]) {
			out = append(out, spoken{words, false})
		}
	}
	return out
}

// told returns the words that follow the program's name where a text tells something about it.
func told() []string {
	return []string{"asks", "carries", "from", "that", "study", "key", "takes", "holds"}
}

// shellWords returns the words of a line as a shell takes them apart, up to a comment, a pipe or a further command.
func shellWords(line string) []string {
	var out []string
	// of two words, the first
	line = regexp.MustCompile(`\|\S+`).ReplaceAllString(strings.NewReplacer("[", "", "]", "", "...", "…").Replace(line), "")
	for _, m := range regexp.MustCompile(`((?:'[^']*'|"(?:\\.|[^"])*"|[^\s'"])+)`).FindAllString(line, -1) {
		if m == "|" || m == "&&" || m == ">" || m == "&" || strings.HasPrefix(m, "#") {
			break
		}
		word := strings.NewReplacer("'", "", `"`, "").Replace(m)
		end := strings.HasSuffix(word, ";")
		if word = strings.TrimSuffix(word, ";"); word != "" {
			out = append(out, word)
		}
		if end {
			break
		}
	}
	return out
}

// sources returns the texts of the program, its pages and its documents.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir("../../..", func(path string, e fs.DirEntry, err error) error {
		kind := filepath.Ext(path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (slices.Contains([]string{"testdata", "bench", "img"}, e.Name()) ||
			strings.HasPrefix(e.Name(), ".") && len(e.Name()) > 2):
			return fs.SkipDir
		case kind == ".go" && !strings.HasSuffix(path, "_test.go"):
			for _, text := range textsOf(t, path) {
				all = append(all, source{path, kind, text})
			}
		case kind == ".html", kind == ".md":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if kind == ".html" { // what is put in
				text = regexp.MustCompile(`(?s)\{\{.*?\}\}`).ReplaceAll(text, []byte("\x00"))
				text = regexp.MustCompile(`<code>(assay [^<]*)</code>`).ReplaceAll(text, []byte("`$1`"))
			}
			all = append(all, source{path, kind, string(text)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// textsOf returns the texts of a file; what is put into them stands as a zero byte.
func textsOf(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		text, is := textOf(e)
		if is {
			all = append(all, regexp.MustCompile(`%(\[[0-9]+\])?[a-z]`).ReplaceAllString(text, "\x00"))
		}
		return !is
	})
	return all
}

// textOf returns a literal, or literals and values put together.
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
