// Package program runs a judging program: JSON lines in, JSON lines out, in bounded time and with bounded output.
package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	maxLine   = 1 << 20  // bytes of one line that a program may write
	maxOutput = 64 << 20 // bytes that one start of it may write
	maxWords  = 2 << 10  // bytes of its standard error that are kept
)

// Runner starts programs.
type Runner struct {
	// Env looks up a variable of the environment. Programs see only those variables that programs need to start: no key
	// gets into them.
	Env func(name string) (string, bool)
	// Instead runs what is started in another way than as a process; nil: as one.
	Instead func(ctx context.Context, s Start) error
}

// Start is one start of a program.
type Start struct {
	Folder  string // where it runs: that of its study
	Command []string
	Limit   time.Duration           // so long after its start it is ended, with all it started
	Input   []byte                  // the lines it reads
	Line    func(line []byte) error // takes each line it writes
}

// Crash is the error of a program that ran and did not end well; what it wrote before counts.
type Crash struct{ Why string }

// Error returns why the program failed.
func (c *Crash) Error() string { return "the program " + c.Why }

// errSlow is why a program that takes too long is ended.
var errSlow = errors.New("it takes too long")

// Run starts a program and waits for its end. A program that ran and did not end well is a *Crash.
func (r *Runner) Run(ctx context.Context, s Start) error {
	if r.Instead != nil {
		return r.Instead(ctx, s)
	}
	name, err := Find(s.Folder, s.Command)
	if err != nil {
		return err
	}
	asked := ctx
	ctx, cancel := context.WithCancelCause(asked)
	defer cancel(nil)
	c := exec.CommandContext(ctx, name, s.Command[1:]...)
	c.Dir, c.Env, c.Stdin = s.Folder, r.environment(), bytes.NewReader(s.Input)
	words := &tail{most: maxWords}
	c.Stderr = words
	aloneInGroup(c)
	c.WaitDelay = 2 * time.Second
	out, err := c.StdoutPipe()
	if err != nil {
		return fmt.Errorf("start %s: %w", s.Command[0], err)
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.Command[0], err)
	}
	defer time.AfterFunc(s.Limit, func() { cancel(errSlow) }).Stop()
	read := readLines(out, s.Line)
	if read != nil {
		cancel(read)
	}
	err = c.Wait()
	endGroup(c) // what it left behind
	var crash *Crash
	switch {
	case errors.As(read, &crash) || read == nil && err == nil:
		return read
	case context.Cause(ctx) == errSlow:
		return &Crash{Why: fmt.Sprintf("was ended after %s%s", s.Limit, words.quoted())}
	case asked.Err() != nil:
		return asked.Err()
	case read != nil:
		return fmt.Errorf("read from %s: %w", s.Command[0], read)
	}
	return &Crash{Why: fmt.Sprintf("ended with %s%s", err, words.quoted())}
}

// readLines hands out what a program writes, line by line.
func readLines(r io.Reader, take func([]byte) error) error {
	limited := &io.LimitedReader{R: r, N: maxOutput + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	for lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := take(line); err != nil {
				return err
			}
		}
		if limited.N <= 0 {
			return &Crash{Why: fmt.Sprintf("wrote more than %s", megabytes(maxOutput))}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return &Crash{Why: fmt.Sprintf("wrote a line of more than %s", megabytes(maxLine))}
	}
	if errors.Is(lines.Err(), os.ErrClosed) {
		return nil // it was ended; Wait returns why
	}
	return lines.Err()
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// Find returns the file that a command starts: on the path, or, where it has a folder in its name, in the study's.
func Find(folder string, command []string) (string, error) {
	name := command[0]
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, filepath.FromSlash(name))
		}
		info, err := os.Stat(name)
		switch {
		case err != nil:
			return "", fmt.Errorf("there is no file %s in the study's folder", command[0])
		case info.IsDir():
			return "", fmt.Errorf("%s is a folder, not a program", command[0])
		case info.Mode()&0o111 == 0 && filepath.Separator == '/':
			return "", fmt.Errorf("%s is not executable: chmod +x %s", command[0], command[0])
		}
		return name, nil
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no program %s on the path", name)
	}
	return found, nil
}

// environment returns what a program sees of the environment.
func (r *Runner) environment() []string {
	var out []string
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "SYSTEMROOT", "PYTHONPATH",
		"VIRTUAL_ENV"} {
		if v, ok := r.Env(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return append(out, "PYTHONIOENCODING=utf-8")
}

// tail keeps the end of what is written.
type tail struct {
	most int
	kept []byte
}

// Write keeps the last bytes.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - t.most; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(p), nil
}

// quoted returns the last line of it, for a message.
func (t *tail) quoted() string {
	text := strings.TrimSpace(string(t.kept))
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", text[strings.LastIndexByte(text, '\n')+1:])
}
