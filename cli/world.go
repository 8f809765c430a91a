// Package cli is the command line: one file per command, and the only place where rooms are wired together.
package cli

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"assay/engine"
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

	verbose bool       // tell every move
	debug   *exchanges // nil: exchanges with providers are not written down
	contact *contact   // which providers answer
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
type Disk struct{ Dir string }

// Path is a name the user typed, as the file system knows it.
func (d Disk) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(d.Dir, name)
}

// Folder is the file system of a study: names are relative to its folder, and may lead out of it, as the study's author
// wrote them.
func (d Disk) Folder(name string) fs.FS { return folder(d.Path(name)) }

type folder string

func (f folder) Open(name string) (fs.File, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(f), filepath.FromSlash(name))
	}
	return os.Open(name)
}

// WriteNew writes a file that must not exist yet, with the folders above it.
func (d Disk) WriteNew(name string, text []byte) error {
	f, err := d.Create(name, os.O_EXCL)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// Create opens a file for writing, with the folders above it, readable by its owner alone. Flag adds to the usual ones:
// os.O_EXCL for a file that must not exist, os.O_TRUNC to start anew.
func (d Disk) Create(name string, flag int) (*os.File, error) {
	full := d.Path(name)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(full, os.O_WRONLY|os.O_CREATE|flag, 0o600)
}

// Exists tells whether there is something under a name.
func (d Disk) Exists(name string) bool {
	_, err := os.Stat(d.Path(name))
	return err == nil
}

func (d Disk) isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
