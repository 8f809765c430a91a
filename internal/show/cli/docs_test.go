package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/examples"
	"assay/internal/show/cli"
	"assay/internal/show/cli/term"
)

// block is one fenced block of a page.
type block struct {
	kind  string
	line  int // of its first line
	lines []string
}

// blocksOf returns the fenced blocks of a page.
func blocksOf(text string) []block {
	var out []block
	open := false
	for i, line := range strings.Split(text, "\n") {
		kind, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && !open:
			open = true
			out = append(out, block{kind: kind, line: i + 2})
		case fence:
			open = false
		case open:
			last := &out[len(out)-1]
			last.lines = append(last.lines, line)
		}
	}
	return out
}

// pagesOf returns the pages that people read: README and docs.
func pagesOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"../../../README.md", "../../../docs/*.md", "../../../docs/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			out[strings.TrimPrefix(name, "../../../")] = string(text)
		}
	}
	return out
}

// commandsOf returns the lines of a block on which assay is typed, each with what the page says it prints.
func commandsOf(b block) (out []struct {
	command string
	printed []string
}) {
	for _, line := range b.lines {
		typed := line
		if b.kind == "console" {
			var is bool
			if typed, is = strings.CutPrefix(line, "$ "); !is {
				if len(out) > 0 {
					out[len(out)-1].printed = append(out[len(out)-1].printed, line)
				}
				continue
			}
		}
		typed, _, _ = strings.Cut(typed, " #")
		for command := range strings.SplitSeq(typed, ";") {
			command = strings.Replace(strings.TrimSpace(command), "go run ./cmd/assay", "assay", 1)
			if strings.HasPrefix(command, "assay ") || command == "assay" {
				out = append(out, struct {
					command string
					printed []string
				}{command: command})
			}
		}
	}
	return out
}

// reader types the commands of one page: in a folder with the examples and a few files that pages name, with a simulator in place of all
// providers.
func reader(t *testing.T) *newcomer {
	t.Helper()
	c := newNewcomer(t, "start")
	for _, e := range examples.All() {
		if err := os.CopyFS(filepath.Join(c.dir, "examples", e.Name), e.FS); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(c.dir, os.DirFS("testdata/docs")); err != nil {
		t.Fatal(err)
	}
	return c
}

// stays are commands that wait for a person or go on until they are stopped: their flags are read, and no more.
var stays = []string{"view", "gateway", "worker", "sim", "label", "adopt", "resolve"}

// typeIt types a command of a page, and returns what it printed. What would ask is answered with yes.
func (c *newcomer) typeIt(command string) (int, string) {
	command, _, _ = strings.Cut(command, " | ")
	command, _, _ = strings.Cut(command, " > ")
	if local := "http://localhost:8000/v1"; strings.Contains(command, local) { // a server of one's own: here it wants a key
		command = strings.ReplaceAll(command, local, c.env["OPENAI_BASE_URL"]) + " --key-env OPENAI_API_KEY"
	}
	args := words(strings.ReplaceAll(command, `"`, "'"))
	sends := len(args) > 0 && (slices.Contains([]string{"run", "judge", "retry", "redo"}, args[0]) ||
		len(args) > 1 && args[0] == "batch" && slices.Contains([]string{"submit", "retry"}, args[1]))
	switch {
	case len(args) > 0 && (slices.Contains(stays, args[0]) || slices.Contains(args, "--pilot") || slices.Contains(args, "--watch") ||
		regexp.MustCompile(`\b(RUN|KEY|SEGMENT|BATCH|HOST)\b`).MatchString(command)):
		args = append(args, "--help")
	case sends && !slices.Contains(args, "--yes") && !slices.Contains(args, "-y"):
		args = append(args, "--yes")
	}
	var out bytes.Buffer
	w := worldIn(c.dir, &out, &out, args...)
	w.Env, w.Timing, w.Terminal = func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }, hurry,
		term.Terminal{Out: true, Width: 80}
	return cli.Main(c.t.Context(), w), out.String()
}

// ids are the names of runs and requests: they differ from run to run.
var (
	ids     = regexp.MustCompile(`\b[a-z0-9]{10}\b`)
	figures = regexp.MustCompile(` *([-+$]?[0-9][0-9.,]*|━*●━*)`)
)

// TestEveryCommandOfThePagesWorksWhenItIsTyped types every line that begins with assay in a sh or console block, page by page, from top
// to bottom. What a console block shows below a command is printed by it, in that order; a line … stands for any lines. A comment "exit
// code 3" says that the command ends so.
func TestEveryCommandOfThePagesWorksWhenItIsTyped(t *testing.T) {
	t.Parallel()
	typed := 0
	for page, text := range pagesOf(t) {
		commands, begins := 0, false
		for _, b := range blocksOf(text) {
			if b.kind == "sh" || b.kind == "console" {
				for _, it := range commandsOf(b) {
					commands++
					begins = begins || strings.HasPrefix(it.command, "assay run ") || strings.HasPrefix(it.command, "assay batch ")
				}
			}
		}
		if commands == 0 {
			continue
		}
		typed += commands
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			c := reader(t)
			if !begins { // a page about a run that is there
				c.run(0, "run", "study.yaml", "--yes", "--limit", "2")
			}
			for _, b := range blocksOf(text) {
				if b.kind != "sh" && b.kind != "console" {
					continue
				}
				for _, it := range commandsOf(b) {
					code, out := c.typeIt(it.command)
					want := 0
					if strings.Contains(strings.Join(b.lines, "\n"), it.command+"  # exit code 3") {
						want = 3
					}
					if strings.Contains(it.command, " --once") && code == 3 && strings.Contains(out, "the run goes on (assay resume") {
						want = 3 // a job that is not done yet: the clock decides
					}
					if code != want {
						t.Errorf("%s:%d: %s: exit code %d, want %d\n%s", page, b.line, it.command, code, want, out)
					}
					shows(t, fmt.Sprintf("%s:%d", page, b.line), it.command, it.printed, out)
				}
			}
		})
	}
	if typed < 10 {
		t.Errorf("%d commands were found", typed)
	}
}

// shows holds what a page says that a command prints against what it printed: of a rehearsal the words, since a digit, and the bar of it,
// may differ with the request that happens to go first.
func shows(t *testing.T, where, command string, want []string, got string) {
	t.Helper()
	plain := func(text string) string { return ids.ReplaceAllString(text, "ID") }
	if strings.Contains(command, "--rehearse") {
		plain = func(text string) string { return figures.ReplaceAllString(ids.ReplaceAllString(text, "ID"), "#") }
	}
	left := strings.Split(plain(got), "\n")
	for _, line := range want {
		if strings.TrimSpace(line) == "" || line == "…" {
			continue
		}
		i := slices.Index(left, plain(line))
		if i < 0 {
			t.Errorf("%s: the command does not print, after what stands above it:\n%s\nbut:\n%s", where, line, got)
			return
		}
		left = left[i+1:]
	}
}
