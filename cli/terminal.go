package cli

import (
	"os"

	"github.com/charmbracelet/x/term"
)

// TerminalOf looks at the process's standard streams.
func TerminalOf(in, out, err *os.File) Terminal {
	t := Terminal{In: term.IsTerminal(in.Fd()), Out: term.IsTerminal(out.Fd()), Err: term.IsTerminal(err.Fd())}
	seen := out
	if t.Err {
		seen = err
	}
	t.Size = func() (width, height int) {
		width, height, failed := term.GetSize(seen.Fd())
		if failed != nil {
			return 0, 0
		}
		return width, height
	}
	t.Width, t.Height = t.Size()
	return t
}
