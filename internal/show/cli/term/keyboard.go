package term

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"

	"assay/internal/assay"
)

// Keyboard reads one key after the other: single key presses on a terminal, else characters of the input, line ends aside.
type Keyboard struct {
	in    *bufio.Reader
	file  *os.File // the terminal; nil: none
	echo  io.Writer
	seen  bool // a key has come, or the wish to stop
	ended bool // nothing more comes
}

// NewKeyboard reads keys from the input and shows them on the output.
func (t Terminal) NewKeyboard(in io.Reader, out io.Writer) *Keyboard {
	k := &Keyboard{in: bufio.NewReader(in), echo: out}
	if f, ok := in.(*os.File); ok && t.In {
		k.file = f
	}
	return k
}

// Silent reports whether keys were awaited and none ever came, as where there is no terminal.
func (k *Keyboard) Silent() bool { return k.ended && !k.seen }

// Read returns the next key in small letters; empty where there is none any more, or Ctrl-C or Ctrl-D was pressed.
func (k *Keyboard) Read() (string, error) {
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
