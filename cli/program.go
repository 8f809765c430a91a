package cli

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

	"assay"
	"assay/plan"
	"assay/store"
	"assay/waves"
)

const (
	programLine   = 1 << 20  // bytes of one line that a program may write
	programOutput = 64 << 20 // bytes that one start of it may write
	programWords  = 2 << 10  // bytes of its complaints that are kept
)

// programs runs the programs of rubrics in the folder of their study. They see nothing of the environment but what
// programs need to start: no key gets into it.
func programs(w *World) func(ctx context.Context, run store.Run, p waves.Program) error {
	return func(ctx context.Context, run store.Run, p waves.Program) error {
		name, err := findProgram(run.Folder, p.Command)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, p.Limit)
		defer cancel()
		c := exec.CommandContext(ctx, name, p.Command[1:]...)
		c.Dir, c.Env, c.Stdin = run.Folder, plainEnv(w), bytes.NewReader(p.Input)
		words := &tail{most: programWords}
		c.Stderr = words
		aloneInGroup(c)
		c.WaitDelay = 2 * time.Second
		out, err := c.StdoutPipe()
		if err != nil {
			return fmt.Errorf("start %s: %w", p.Command[0], err)
		}
		if err := c.Start(); err != nil {
			return fmt.Errorf("start %s: %w", p.Command[0], err)
		}
		read := readLines(out, p.Line)
		if read != nil {
			cancel()
		}
		err = c.Wait()
		endGroup(c) // what it left behind
		var crash *waves.Crash
		switch {
		case errors.As(read, &crash) || read == nil && err == nil:
			return read
		case ctx.Err() == context.DeadlineExceeded:
			return &waves.Crash{Why: fmt.Sprintf("was ended after %s%s", p.Limit, words.quoted())}
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return &waves.Crash{Why: fmt.Sprintf("ended with %s%s", err, words.quoted())}
		}
		return fmt.Errorf("read from %s: %w", p.Command[0], read)
	}
}

// readLines hands out what a program writes, line by line.
func readLines(r io.Reader, take func([]byte) error) error {
	limited := &io.LimitedReader{R: r, N: programOutput + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 64<<10), programLine)
	for lines.Scan() {
		if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
			if err := take(line); err != nil {
				return err
			}
		}
		if limited.N <= 0 {
			return &waves.Crash{Why: fmt.Sprintf("wrote more than %s", plan.Size(programOutput))}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return &waves.Crash{Why: fmt.Sprintf("wrote a line of more than %s", plan.Size(programLine))}
	}
	if errors.Is(lines.Err(), os.ErrClosed) {
		return nil // it was ended; Wait tells why
	}
	return lines.Err()
}

// findProgram is the file that a command starts: on the path, or, where it has a folder in its name, in the study's.
func findProgram(folder string, command []string) (string, error) {
	name := command[0]
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, filepath.FromSlash(name))
		}
		if info, err := os.Stat(name); err != nil || info.IsDir() || info.Mode()&0o111 == 0 && filepath.Separator == '/' {
			return "", fmt.Errorf("%s is no program that can be started", command[0])
		}
		return name, nil
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no program %s on the path", name)
	}
	return found, nil
}

// plainEnv is what a program is told of the environment.
func plainEnv(w *World) []string {
	var out []string
	for _, name := range []string{"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "TEMP", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV"} {
		if v, ok := w.Env(name); ok {
			out = append(out, name+"="+v)
		}
	}
	return append(out, "PYTHONIOENCODING=utf-8")
}

// checkPrograms adds a problem for every program that a rubric names and that is not there.
func checkPrograms(w *World, d *plan.Input, folder string, add func(at assay.Place, hint, format string, args ...any)) {
	for i := range d.Study.Stages {
		st := &d.Study.Stages[i]
		r := d.Study.RubricOf(st)
		if r == nil || len(r.Command) == 0 {
			continue
		}
		if _, err := findProgram(folder, r.Command); err != nil {
			add(r.Where.Key("command"), "install it, or name it by its path from the study's folder", "stage %s: %s", st.Name, err)
		}
	}
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

// quoted is the last line of it, for a message.
func (t *tail) quoted() string {
	text := strings.TrimSpace(string(t.kept))
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", text[strings.LastIndexByte(text, '\n')+1:])
}
