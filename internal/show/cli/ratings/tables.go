// Package ratings has the commands for tables of votes and labels that no study made.
package ratings

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/find/tables"
	"assay/internal/show/cli/shell"
)

// Table makes the command `assay table`.
func Table(w *shell.World) *cobra.Command {
	c := &cobra.Command{Use: "table", GroupID: shell.GroupTools,
		Short: "Rank items, or print rates and agreement, from a CSV file without a study"}
	shell.Group(c, rankCommand(w), rateCommand(w), agreeCommand(w))
	return c
}

// openTable opens a table of votes, labels or answers; - is standard input. The caller closes the closer.
func openTable(w *shell.World, name string) (*tables.Table, io.Closer, error) {
	if name == "-" {
		t, err := tables.Open(w.Stdin, shownName(name))
		return t, io.NopCloser(nil), err
	}
	f, err := w.Disk.Open(name)
	if err != nil {
		return nil, nil, shell.Unread(err, "", "%s: read the table: %s", name, assay.FileReason(err))
	}
	t, err := tables.Open(f, name)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return t, f, nil
}

// shownName returns what problems call a file.
func shownName(name string) string {
	if name == "-" {
		return "stdin"
	}
	return name
}

// columnNames are the names that a command gives to the columns it reads, and what --columns calls them in the file.
type columnNames map[string]string

// check reports a name that the command does not have.
func (c columnNames) check(known ...string) error {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !slices.Contains(known, name) {
			return shell.Usage(assay.Choices(name, known), "--columns: no column is called %q", name)
		}
	}
	return nil
}

// of returns what the file calls a column.
func (c columnNames) of(name string) string {
	if own, ok := c[name]; ok {
		return own
	}
	return name
}

// ifThere returns what the file calls a column that it may lack; empty when it does. One that --columns names must be there,
// and one that it names as nothing is not read.
func (c columnNames) ifThere(t *tables.Table, name string) string {
	if own, ok := c[name]; ok {
		return own
	}
	if t.Has(name) {
		return name
	}
	return ""
}

// warnAll prints warnings about a file.
func warnAll(w *shell.World, file string, warnings []string) {
	for _, what := range warnings {
		fmt.Fprintln(w.Stderr, assay.Problem{Place: assay.Place{File: file}, What: what, Warning: true})
	}
}

// listed are names one after the other.
func listed[S ~string](names []S, separator string) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return strings.Join(all, separator)
}
