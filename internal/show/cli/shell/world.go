// Package shell holds what all commands share: the world outside, the flags that lead to a home, a study or a
// provider, questions, files and exit codes.
package shell

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"time"

	"assay/internal/assay"
	"assay/internal/keep/hub"
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
	Typed    io.Reader // the same at prompts: it ends when the program is to
	Stdout   io.Writer
	Stderr   io.Writer
	Terminal term.Terminal
	Now      func() time.Time
	Disk     Disk
	HTTP     http.RoundTripper       // how providers are reached
	Browse   func(file string) error // shows a file in the user's browser; nil: there is none

	workspace.Seams                                            // for tests; the program leaves them empty
	Ports           func(address string) (net.Listener, error) // likewise; nil: those of this machine

	Verbose bool               // print every move
	Wide    bool               // tables are not cut to the width of the terminal
	Debug   *traffic.Exchanges // nil: exchanges with providers are not written down
	Contact *traffic.Contact   // which providers answer
	typed   string             // the flags that lead to the home, as hints repeat them
	torn    func(error) bool   // reports whether an error is that of a connection to PostgreSQL; nil: there is none
}

// Disk is the file system as seen from the working folder.
type Disk = workspace.Disk

// Datasets has names that begin with hf:// be read, and kept in the usual home.
func (w *World) Datasets(ctx context.Context) {
	w.Disk.Hub = &hub.Hub{Context: ctx, Env: w.Env, HTTP: w.HTTP, Tell: func(file string, size int64) {
		fmt.Fprintf(w.Stderr, "%s: %s are fetched\n", file, assay.Size(size))
	}}
	w.KeepDatasets("")
}

// KeepDatasets names the home of datasets; empty: the usual one.
func (w *World) KeepDatasets(home string) {
	w.Disk.Hub.Dir = func() string { return filepath.Join(workspace.Place{Home: home}.Dir(w.Workspace()), "hub") }
}

// Workspace returns the world as far as runs need it.
func (w *World) Workspace() *workspace.World {
	return &workspace.World{
		Env: w.Env, Now: w.Now, Disk: w.Disk, HTTP: w.HTTP, Exchanges: w.Debug, Contact: w.Contact, Seams: w.Seams,
	}
}

// Listen listens at an address.
func (w *World) Listen(address string) (net.Listener, error) {
	ports := w.Ports
	if ports == nil {
		ports = func(address string) (net.Listener, error) { return net.Listen("tcp", address) }
	}
	on, err := ports(address)
	if err != nil {
		return nil, &ExitError{Code: ExitFailed, Err: fmt.Errorf("listen: %w", err), Hint: "--listen 127.0.0.1:0 takes a free port"}
	}
	return on, nil
}

// Clock returns the clock of the world.
func (w *World) Clock() engine.Clock { return w.Workspace().Clock() }

// IsSet reports whether a variable is set.
func (w *World) IsSet(name string) bool { return w.Workspace().IsSet(name) }

// Draws reports whether progress can be drawn in place.
func (w *World) Draws() bool {
	kind, _ := w.Env("TERM")
	return w.Terminal.Draws(kind)
}

// Colours reports whether the terminal shows colours, and the user wants them.
func (w *World) Colours() bool {
	kind, _ := w.Env("TERM")
	none, _ := w.Env("NO_COLOR")
	return term.Colours(kind, none)
}

// OutWidth returns how wide lines on standard output may be; 0: as wide as they are.
func (w *World) OutWidth() int {
	if !w.Terminal.Out || w.Wide {
		return 0
	}
	width, _ := w.Terminal.Current()
	return width
}

// ErrWidth returns the same for standard error.
func (w *World) ErrWidth() int {
	if !w.Terminal.Err || w.Wide {
		return 0
	}
	width, _ := w.Terminal.Current()
	return width
}

// Say prints sentences on standard output, on a terminal broken between words.
func (w *World) Say(text string) error {
	_, err := fmt.Fprint(w.Stdout, term.Broken(text, w.OutWidth()))
	return err
}

// Warn prints a line on standard error.
func (w *World) Warn(line string) { fmt.Fprintln(w.Stderr, line) }

// RawOut is standard output for what programs read: on a terminal, what would steer it is written as an escape.
func (w *World) RawOut() io.Writer {
	if w.Terminal.Out {
		return &term.Harmless{To: w.Stdout}
	}
	return w.Stdout
}

// Version returns the module's version, with commit and day of it where the build knows them.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	return VersionOf(info)
}

// VersionOf returns the version in the build information of a binary.
func VersionOf(info *debug.BuildInfo) string {
	var commit, date string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			commit = s.Value[:12]
		case s.Key == "vcs.time" && len(s.Value) >= 10:
			date = s.Value[:10]
		}
	}
	if commit == "" {
		return info.Main.Version
	}
	return fmt.Sprintf("%s (commit %s, %s)", info.Main.Version, commit, date)
}
