package cli

import (
	"os"

	"github.com/charmbracelet/x/term"
)

// TerminalOf looks at the process's standard streams.
func TerminalOf(in, out, err *os.File) Terminal {
	t := Terminal{In: term.IsTerminal(in.Fd()), Out: term.IsTerminal(out.Fd()), Err: term.IsTerminal(err.Fd())}
	if t.Out {
		if width, _, err := term.GetSize(out.Fd()); err == nil {
			t.Width = width
		}
	}
	return t
}
