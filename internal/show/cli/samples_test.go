package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"assay/internal/show/cli"
	"assay/internal/show/cli/shell"
)

func TestEverySampleInTheHelpWorksWhenItIsTyped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"draft1.txt", "draft2.txt"} {
		text, err := os.ReadFile("testdata/docs/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) (int, string) {
		var out bytes.Buffer
		code := cli.Main(context.Background(), shell.World{
			Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: func(string) (string, bool) { return "", false },
			Now: time.Now, Disk: shell.Disk{Dir: dir},
		})
		return code, out.String()
	}
	typed := 0
	for _, command := range designed {
		_, help := run("help", command)
		_, samples, _ := strings.Cut(help, "\nExamples:\n")
		samples, _, _ = strings.Cut(samples, "\n\n")
		for line := range strings.Lines(samples) {
			line = strings.TrimSpace(line)
			if !strings.HasPrefix(line, "assay ") {
				continue // a list of examples
			}
			typed++
			if code, out := run(words(line)...); code != 0 {
				t.Errorf("%s: exit code %d\n%s", line, code, out)
			}
		}
	}
	if typed < 20 {
		t.Errorf("only %d samples were found in the help", typed)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) < 10 {
		t.Errorf("the samples wrote %v (%v)", left, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "start.html")); err != nil {
		t.Error(err)
	}
}

// words returns the arguments of a line as a shell takes them apart, without the program's name.
func words(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		out = append(out, m[1]+m[2])
	}
	return out[1:]
}
