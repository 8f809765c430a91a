package export

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"assay/internal/find/results"
	"assay/internal/find/results/rows"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store"
	"assay/internal/show/export/folder"
	"assay/internal/study/catalog"
)

// Format is one form of results: how runs are written in it, and how its files are read back.
type Format struct {
	Name   string // of what is written; empty: it is only read
	Import string // of what is read: the system whose files these are

	// Write writes runs into a folder.
	Write func(ctx context.Context, t *folder.Tree, runs []Run) error
	// WriteJSON writes runs into a folder of JSON documents. Nil: the format has one form.
	WriteJSON func(ctx context.Context, t *folder.Tree, runs []Run) error
	// WriteFile writes the answers of runs as one file. Nil: the format is a folder.
	WriteFile func(ctx context.Context, w io.Writer, runs []Run) error
	// Read hands on what files hold. It returns ErrNothing where they hold nothing of the format.
	Read func(ctx context.Context, from From, to *Sink) error

	Writes, Reads string // one line each for a list of formats; empty: a table
}

// Run is one run to be written.
type Run struct {
	store.Run
	Results *results.Reader
	Raw     artifacts.Place // what providers sent; nil: it is not there, as in a bundle
	Version string          // of the program that writes it; empty: not known
}

// Rows returns the rows of the run.
func (r Run) Rows(ctx context.Context) (*rows.Reader, error) { return rows.Of(ctx, r.Results, r.Run) }

// From names the files that are read.
type From struct {
	Files   fs.FS
	File    string   // this one alone; empty: all of them
	Folders []string // these alone; none: all
	Run     string   // of tables that hold several runs, this one; empty: the only one

	Lane    string            // of rows that name none; of results of batches, of all
	Columns map[string]string // of one table: under which name it has a column of ours

	// Of results of batches alone.
	Sources  []Source
	Requests *Source         // what was sent; nil: it is not known
	Vendor   *catalog.Vendor // whose results they are; nil: recognised
}

var (
	// ErrNothing is the error for files that hold nothing of a format.
	ErrNothing = errors.New("nothing of this kind is there")
	// ErrRuns is the error for tables with several runs, of which one is to be named.
	ErrRuns = errors.New("the tables hold several runs")
	// ErrFile is the error for one file where a format is a folder.
	ErrFile = errors.New("it is not a folder")
)

// NoStageError is the error for runs of which no stage can be written in a format.
type NoStageError struct{ Lacks string }

func (e *NoStageError) Error() string { return "no stage of these runs " + e.Lacks }

// Names returns the files that are read: the one that is given, else those of the folder with these endings.
func (f From) Names(endings ...string) ([]string, error) {
	if f.File != "" {
		return []string{f.File}, nil
	}
	var names []string
	for _, ending := range endings {
		more, err := FilesUnder(f.Files, ending)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// Source is a file that is read from front to back.
type Source struct {
	Name string
	Open func() (io.ReadCloser, error)
}
