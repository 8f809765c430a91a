package term

import (
	"os"

	"github.com/charmbracelet/x/term"
)

// Terminal names which of the standard streams a person looks at.
type Terminal struct {
	In, Out, Err bool
	Width        int                        // columns of it; 0: unknown
	Height       int                        // lines of it; 0: unknown
	Size         func() (width, height int) // how large it is now; nil: Width and Height stay
}

// Of looks at the process's standard streams.
func Of(in, out, err *os.File) Terminal {
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

// Current returns how large the terminal is now; 0: unknown.
func (t Terminal) Current() (width, height int) {
	if t.Size != nil {
		if width, height = t.Size(); width > 0 && height > 0 {
			return width, height
		}
	}
	return t.Width, t.Height
}

// Draws reports whether lines on standard error can be drawn over each other, where $TERM is this.
func (t Terminal) Draws(kind string) bool { return t.Err && kind != "dumb" }
