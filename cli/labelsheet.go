package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"assay"
	"assay/results"
)

// maxSheet is how much of one text a person is shown.
const maxSheet = 64 << 10

// printSheet shows what is to be judged. Every line is foreign text.
func printSheet(w *World, s results.Sheet) {
	rule := strings.Repeat("─", 72)
	fmt.Fprintln(w.Stdout, "\n"+rule)
	part := func(title, text string) {
		if strings.TrimSpace(text) == "" {
			return
		}
		fmt.Fprintf(w.Stdout, "%s\n%s\n", title, foreign(text))
	}
	part("ASKED", s.Asked)
	part("FIRST ANSWER", s.First)
	part("THEN SAID", s.Said)
	part("ANSWER TO JUDGE", s.Answer)
	part("WHICH IS BETTER IN", strings.TrimSpace(s.Trait+"\n"+s.Description))
	part("A", s.A)
	part("B", s.B)
	fmt.Fprintln(w.Stdout, rule)
}

// foreign is a text that is not ours, with its lines kept and everything that could steer a terminal shown as an escape. Each
// line stands behind a bar, so that no text can pose as ours.
func foreign(text string) string {
	if len(text) > maxSheet {
		text = text[:maxSheet] + "\n(cut: it is longer than a person can read)"
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = "│ " + assay.Clean(l, maxSheet)
	}
	return strings.Join(lines, "\n")
}

// keyboard reads one key after the other: single key presses on a terminal, else characters of the input, line ends aside.
type keyboard struct {
	in    *bufio.Reader
	file  *os.File // the terminal; nil: none
	echo  io.Writer
	seen  bool // a key has come, or the wish to stop
	ended bool // nothing more comes
}

func newKeyboard(w *World) *keyboard {
	k := &keyboard{in: bufio.NewReader(w.Stdin), echo: w.Stdout}
	if f, ok := w.Stdin.(*os.File); ok && w.Terminal.In {
		k.file = f
	}
	return k
}

// dumb reports whether keys were awaited and none ever came, as where there is no terminal.
func (k *keyboard) dumb() bool { return k.ended && !k.seen }

// read is the next key in small letters; empty where there is none any more, or Ctrl-C or Ctrl-D was pressed.
func (k *keyboard) read() (string, error) {
	if k.file != nil && k.in.Buffered() == 0 {
		was, err := term.MakeRaw(k.file.Fd())
		if err != nil {
			return "", fmt.Errorf("read a key: %w", err)
		}
		defer term.Restore(k.file.Fd(), was)
	}
	for {
		r, _, err := k.in.ReadRune()
		switch {
		case errors.Is(err, io.EOF):
			k.ended = true
			fmt.Fprint(k.echo, "\r\n")
			return "", nil
		case r == 3, r == 4:
			k.seen = true
			fmt.Fprint(k.echo, "\r\n")
			return "", nil
		case err != nil:
			return "", fmt.Errorf("read a key: %w", err)
		case r == '\n' || r == '\r' || r == ' ' || r == '\t':
			continue
		}
		k.seen = true
		key := strings.ToLower(string(r))
		fmt.Fprint(k.echo, assay.Clean(key, 8)+"\r\n")
		return key, nil
	}
}
