// Package cli is the command line: one file per command, and the only place where packages are wired together.
package cli

import (
	"context"
	"io"
	"net/http"
	"time"

	"assay/engine"
	"assay/workspace"
)

// World is everything outside the program. Commands touch nothing else, so that a test can be a whole session.
type World struct {
	Args     []string // without the program's name
	Env      func(name string) (string, bool)
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal Terminal
	Now      func() time.Time
	Disk     Disk
	HTTP     http.RoundTripper // how providers are reached

	// For tests that stop the process or cannot wait for hours. The program leaves them empty.
	Around func(op string, call func() error) error         // wraps every ledger call, as store.Options.Around does
	Timing func(engine.Timing) engine.Timing                // makes other waits of the usual ones
	Sleep  func(ctx context.Context, d time.Duration) error // waits by the clock of Now

	verbose bool                 // print every move
	debug   *workspace.Exchanges // nil: exchanges with providers are not written down
	contact *workspace.Contact   // which providers answer
}

// Terminal says which of the standard streams a person looks at.
type Terminal struct {
	In, Out, Err bool
	Width        int                        // columns of it; 0: unknown
	Height       int                        // lines of it; 0: unknown
	Size         func() (width, height int) // how large it is now; nil: Width and Height stay
}

func (t Terminal) size() (width, height int) {
	if t.Size != nil {
		if width, height = t.Size(); width > 0 && height > 0 {
			return width, height
		}
	}
	return t.Width, t.Height
}

// Disk is the file system as seen from the working folder.
type Disk = workspace.Disk

// workspace is the world as far as runs need it.
func (w *World) workspace() *workspace.World {
	return &workspace.World{
		Env: w.Env, Now: w.Now, Disk: w.Disk, HTTP: w.HTTP, Exchanges: w.debug, Contact: w.contact, Around: w.Around, Timing: w.Timing, Sleep: w.Sleep,
	}
}

func (w *World) clock() engine.Clock { return w.workspace().Clock() }

func (w *World) isSet(name string) bool { return w.workspace().IsSet(name) }
