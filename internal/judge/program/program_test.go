package program

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// script writes a shell script into a new folder and returns the folder.
func script(t *testing.T, text string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs sh")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "judge.sh"), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ran starts a script and returns the lines it wrote.
func ran(t *testing.T, ctx context.Context, text string, limit time.Duration, input string) ([]string, error) {
	t.Helper()
	r := &Runner{Env: func(name string) (string, bool) {
		if name == "PATH" {
			return os.Getenv("PATH"), true
		}
		return "leaked", name == "OPENAI_API_KEY" || name == "LANG"
	}}
	var lines []string
	err := r.Run(ctx, Start{Folder: script(t, text), Command: []string{"sh", "judge.sh"}, Limit: limit, Input: []byte(input),
		Line: func(line []byte) error {
			if len(lines) < 100 {
				lines = append(lines, string(line))
			}
			if string(line) == "stop" {
				return errors.New("enough")
			}
			return nil
		}})
	return lines, err
}

func TestAProgramReadsLinesAndWritesLines(t *testing.T) {
	t.Parallel()
	lines, err := ran(t, t.Context(), "while read l; do echo \"  $l!\"; echo; done; ls", time.Minute, "a\nb\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a!", "b!", "judge.sh"}, lines); d != "" {
		t.Error(d)
	}
}

func TestAProgramSeesNoKey(t *testing.T) {
	t.Parallel()
	lines, err := ran(t, t.Context(), "env", time.Minute, "")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lines, "\n")
	if strings.Contains(text, "OPENAI_API_KEY") || !strings.Contains(text, "LANG=leaked") ||
		!strings.Contains(text, "PYTHONIOENCODING=utf-8") {
		t.Error(text)
	}
}

func TestAProgramThatDoesNotEndWellIsACrash(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		limit time.Duration
		want  string
	}{
		"exit":  {"echo early; echo first >&2; echo why >&2; exit 3", time.Minute, `the program ended with exit status 3: "why"`},
		"slow":  {"echo early; sleep 600", 3 * time.Second, "the program was ended after 3s"},
		"line":  {"echo early; head -c 1100000 /dev/zero", time.Minute, "the program wrote a line of more than 1.0 MB"},
		"flood": {"echo early; yes $(printf %01000d 0)", time.Minute, "the program wrote more than 67.1 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, err := ran(t, t.Context(), c.text, c.limit, "")
			var crash *Crash
			if !errors.As(err, &crash) || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if len(lines) == 0 || lines[0] != "early" {
				t.Error("what it wrote before is lost")
			}
		})
	}
}

func TestTheLimitCountsFromTheStart(t *testing.T) {
	t.Parallel()
	_, err := ran(t, t.Context(), "sleep 600", 1, "")
	var crash *Crash
	if !errors.As(err, &crash) || err.Error() != "the program was ended after 1ns" {
		t.Errorf("got %v, want a program that was started and ended", err)
	}
}

func TestAStopIsNoCrash(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ran(t, ctx, "sleep 60", time.Minute, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var crash *Crash
	if _, err := ran(t, t.Context(), "echo stop; sleep 60", time.Minute, ""); err == nil || errors.As(err, &crash) ||
		!strings.Contains(err.Error(), "enough") {
		t.Error(err)
	}
}

func TestAProgramThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	dir := script(t, "")
	for command, want := range map[string]string{
		"./judge.sh":                      "",
		filepath.Join(dir, "judge.sh"):    "",
		"sh":                              "",
		"./other.sh":                      "there is no file ./other.sh in the study's folder",
		"./":                              "./ is a folder, not a program",
		"surely-no-program-of-this-name-": "there is no program surely-no-program-of-this-name- on the path",
	} {
		_, err := Find(dir, []string{command})
		if got := ""; err != nil && err.Error() != want || err == nil && want != got {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
	shell, err := Find("", []string{"sh"})
	if err != nil {
		t.Fatal(err)
	}
	// A link, not a file that was just written: that one may still be open in a process that another test is starting.
	if err := os.Symlink(shell, filepath.Join(dir, "shell")); err != nil {
		t.Fatal(err)
	}
	r := &Runner{Env: os.LookupEnv}
	if err := r.Run(t.Context(), Start{Folder: dir, Command: []string{"./shell", "judge.sh"}, Limit: time.Minute}); err != nil {
		t.Error(err)
	}
	if err := r.Run(t.Context(), Start{Folder: dir, Command: []string{"./other.sh"}}); err == nil {
		t.Error("a program that is not there was started")
	}
}
