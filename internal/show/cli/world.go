// Package cli is the command line: one file per command, and the only place where packages are wired together.
package cli

import (
	"context"
	"io"
	"net/http"
	"time"

	"assay/internal/send/engine"
	"assay/internal/send/traffic"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/term"
)

// World is everything outside the program. Commands touch nothing else, so that a test can be a whole session.
type World struct {
	Args     []string // without the program's name
	Env      func(name string) (string, bool)
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal term.Terminal
	Now      func() time.Time
	Disk     Disk
	HTTP     http.RoundTripper       // how providers are reached
	Browse   func(file string) error // shows a file in the user's browser; nil: there is none

	// For tests that stop the process or cannot wait for hours. The program leaves them empty.
	Around func(op string, call func() error) error         // wraps every ledger call, as store.Options.Around does
	Timing func(engine.Timing) engine.Timing                // makes other waits of the usual ones
	Sleep  func(ctx context.Context, d time.Duration) error // waits by the clock of Now

	verbose bool               // print every move
	wide    bool               // tables are not cut to the width of the terminal
	debug   *traffic.Exchanges // nil: exchanges with providers are not written down
	contact *traffic.Contact   // which providers answer
	typed   string             // the flags that lead to the home, as hints repeat them
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
