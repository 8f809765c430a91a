package state

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/send/workspace"
	"assay/internal/show/cli/shell"
	"assay/internal/show/cli/term"
)

// listFlags are those of the commands that list what one home holds, or several.
type listFlags struct {
	home      shell.HomeFlags
	all       bool
	rehearsal bool
	json      bool
	watch     bool
	interval  time.Duration
	limit     int
}

// usualListed is how many rows a list has where --limit is not given.
const usualListed = 100

func (f *listFlags) register(c *cobra.Command, what string) {
	f.home.Register(c)
	c.Flags().BoolVar(&f.all, "all-homes", false, "list those of every home in and below this folder, and of its own")
	c.Flags().BoolVar(&f.rehearsal, "rehearsal", false, "list those of the rehearsals")
	c.Flags().BoolVar(&f.json, "json", false, fmt.Sprintf(`print JSON: {"%s":[…]}`, what))
	c.Flags().BoolVar(&f.watch, "watch", false, "print the list again after every change, until nothing in it is open")
	c.Flags().DurationVar(&f.interval, "interval", 2*time.Second, "between two looks with --watch")
	c.Flags().IntVar(&f.limit, "limit", usualListed, "at most so many, the newest; 0: all")
}

func (f *listFlags) check() error {
	if f.limit < 0 {
		return shell.Usage("0 lists all", "--limit: want 0 or more, got %d", f.limit)
	}
	if f.interval <= 0 {
		return shell.Usage("such as 2s", "--interval: want a time above 0")
	}
	return nil
}

// listedHome is one of the homes that are listed.
type listedHome struct {
	at   *shell.Home
	name string // as the list calls it; empty: there is only one
}

// homes opens what is listed: the home of this folder, those at and below the paths, or all. The caller closes them.
func (f *listFlags) homes(ctx context.Context, w *shell.World, paths []string) ([]listedHome, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	if len(paths) == 0 && !f.all {
		h, err := (&shell.SqlFlags{Home: f.home, Rehearsal: f.rehearsal}).Open(ctx, w)
		return []listedHome{{at: h}}, err
	}
	if f.home.Home != "" || f.home.DB != "" {
		return nil, shell.Usage("leave them out", "--home and --db name one ledger, --all-homes and paths several")
	}
	places, err := f.places(w, paths)
	if err == nil && len(places) == 0 && !f.rehearsal { // as with one home: rehearsals where there has been nothing else
		f.rehearsal = true
		if places, err = f.places(w, paths); len(places) > 0 {
			fmt.Fprintln(w.Stderr, "REHEARSAL: these are the ledgers of the rehearsals")
		}
	}
	switch {
	case shell.ExitCode(err) == shell.ExitUsage:
		return nil, err
	case err != nil:
		return nil, shell.Usage("", "look for homes: %s", assay.FileReason(err))
	case len(places) == 0:
		return nil, shell.Usage("a home is a folder assay-data with a ledger.db in it", "there is no home in or below %s",
			cmp.Or(strings.Join(paths, ", "), "this folder"))
	}
	var out []listedHome
	for _, p := range places {
		h, err := shell.HomeFlags{Place: p}.OpenHome(ctx, w, f.rehearsal)
		if err != nil {
			closeAll(out)
			return nil, err
		}
		name, err := filepath.Rel(w.Disk.Dir, p.Home)
		if err != nil {
			name = p.Home
		}
		out = append(out, listedHome{h, name})
	}
	return out, nil
}

func (f *listFlags) places(w *shell.World, paths []string) ([]workspace.Place, error) {
	var places []workspace.Place
	var err error
	if f.all {
		places, err = workspace.AllHomes(w.Workspace(), workspace.Rehearsal(f.rehearsal))
	}
	for _, path := range paths {
		found, lost := workspace.HomesUnder(w.Workspace(), path, workspace.Rehearsal(f.rehearsal))
		if errors.Is(lost, fs.ErrNotExist) {
			return nil, shell.Usage("of one run: assay jobs --run RUN, assay status RUN", "there is no folder %q to look for homes in",
				path)
		}
		err = cmp.Or(err, lost)
		places = append(places, found...)
	}
	return places, err
}

func closeAll(homes []listedHome) {
	for _, h := range homes {
		h.at.Close()
	}
}

// knownStudy wants a study that a run is of. Where no run is, there is nothing to list of any.
func knownStudy(ctx context.Context, homes []listedHome, name string) error {
	if name == "" {
		return nil
	}
	var have []string
	for _, h := range homes {
		all, err := h.at.Ledger.Reader.Runs(ctx, "")
		if err != nil {
			return err
		}
		for _, r := range all {
			if r.Study == name {
				return nil
			}
			if !slices.Contains(have, r.Study) {
				have = append(have, r.Study)
			}
		}
	}
	if len(have) == 0 {
		return nil
	}
	return shell.Usage(shell.NearOrAll(name, have), "--study: no run is of a study %q", name)
}

// list prints a list once, or with --watch again after every change until nothing in it is open. Draw writes it whole.
func (f *listFlags) list(ctx context.Context, w *shell.World, draw func(out io.Writer) (open bool, err error)) error {
	if !f.watch {
		_, err := draw(w.Stdout)
		return err
	}
	var screen *term.Screen
	if w.Draws() && !f.json {
		screen = term.NewScreen(w.Stderr)
	}
	for last := ""; ; {
		var text bytes.Buffer
		open, err := draw(&text)
		if err != nil {
			return err
		}
		if open && screen != nil {
			width, height := w.Terminal.Current()
			err = screen.Draw(nil, term.Fitting(strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"), width, height))
		} else {
			err = printChanged(w, screen, text.String(), last)
		}
		if err != nil || !open {
			return err
		}
		last = text.String()
		if err := w.Clock().Sleep(ctx, f.interval); err != nil {
			return err
		}
	}
}

// printChanged prints a text that stays, in place of what was drawn, where it is not the last one.
func printChanged(w *shell.World, screen *term.Screen, text, last string) error {
	if screen != nil {
		if err := screen.Draw(nil, nil); err != nil {
			return err
		}
		last = ""
	}
	if text == last {
		return nil
	}
	_, err := io.WriteString(w.Stdout, text)
	return err
}

// notAll prints that a list is not whole.
func (f *listFlags) notAll(w *shell.World, more bool) {
	if more {
		fmt.Fprintf(w.Stderr, "the newest %d; --limit 0 lists all\n", f.limit)
	}
}
