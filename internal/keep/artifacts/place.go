// Package artifacts keeps the raw bytes that were sent and received, in a folder or in a bucket of an object store.
//
// An artifact appears under its name only when it is whole, and never changes. Each writer writes on its own, so that two
// processes that both believe to hold a lease cannot harm each other. Names are checked. When a run is closed its artifacts
// are packed into seekable zstd, and every line can still be read by its offset.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"
)

// Shelf is where the files lie that clients of a gateway sent, under the name of a run that there is not.
const Shelf = "gateway"

// Shelves returns the names of runs that there are not.
func Shelves() []string { return []string{Shelf, Shown} }

// Place keeps the raw bytes of runs. Folder and Bucket are places, and pass one suite.
type Place interface {
	// Open opens a whole artifact, packed or not. One that is not there is fs.ErrNotExist; a place that cannot be reached
	// is another error. What is read later is read under the context.
	Open(ctx context.Context, run, name string) (File, error)
	// Sink opens an artifact under construction, with the most that an earlier writer left of it, on whatever machine.
	// What is written later is written under the context.
	Sink(ctx context.Context, run, name string) (Sink, error)
	// Log begins an artifact that grows. It outlives no process, and no context ends it: what is in hand is kept.
	Log(run, name string) (*Log, error)
	// List walks over what is kept of a run, whole or not, under names that begin so; "": all of it.
	List(ctx context.Context, run, begins string) iter.Seq2[Kept, error]
	// Runs walks over the runs of which anything is kept.
	Runs(ctx context.Context) iter.Seq2[string, error]
	// Remove takes one artifact away, in every form. One that is not there is no error.
	Remove(ctx context.Context, run, name string) error
	// Pack compresses the artifacts of a closed run, and removes what writers left unfinished. It may be stopped and called
	// again at any point.
	Pack(ctx context.Context, run string) error
	// Probe writes, reads and removes, so that a place that cannot be used is found out before money moves. It gives a
	// place without a mark an id (empty: none), and returns the id where the place has it, else the mark that it has:
	// processes that share a ledger compare it, because one that sees another place would look for bytes that are elsewhere.
	Probe(ctx context.Context, id string) (mark string, err error)
	// String returns the address of the place, without secrets.
	String() string
	Close() error
}

// File is a whole artifact, open for reading from any offset, packed or not. It is safe for concurrent use by ReadAt.
type File interface {
	io.ReadSeekCloser
	io.ReaderAt
	Size() int64
}

// Sink is an artifact under construction. What a cut download left in it can be continued.
type Sink interface {
	// Write appends. Begin comes first.
	io.Writer
	// Held returns how many bytes are there, and the validator that Begin was given for them.
	Held() (n int64, validator string)
	// Begin drops what is held beyond an offset and goes on from there; 0 starts again.
	Begin(offset int64, validator string) error
	// Size is how many bytes are there.
	Size() int64
	// Commit makes the artifact whole, and there for good. The sink is closed. An artifact that is there already is not
	// written again: with the same bytes that is no error, and with others it is.
	Commit() (Info, error)
	// Close keeps what is there for a later Sink of the same name.
	Close() error
	// Discard takes the unfinished artifact away.
	Discard() error
}

// Info describes a whole artifact.
type Info struct {
	Name   string
	Size   int64
	SHA256 string // lower-case hex
}

// Kept is an artifact in a place, by name.
type Kept struct {
	Name  string
	Bytes int64 // that it takes, packed or not
	Whole bool  // else writers left it unfinished
}

// Create begins an artifact anew.
func Create(ctx context.Context, p Place, run, name string) (Sink, error) {
	s, err := p.Sink(ctx, run, name)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(0, ""); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Line reads the bytes at an offset of an artifact.
func Line(ctx context.Context, p Place, run, name string, offset, length int64) ([]byte, error) {
	file, err := p.Open(ctx, run, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if offset < 0 || length < 0 || offset+length > file.Size() {
		return nil, fmt.Errorf("artifact %s of run %s: bytes %d to %d are not in it", name, run, offset, offset+length)
	}
	line := make([]byte, length)
	if _, err := file.ReadAt(line, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("artifact %s of run %s: %w", name, run, err)
	}
	return line, nil
}

// Names lists the whole artifacts of a run.
func Names(ctx context.Context, p Place, run string) ([]string, error) {
	var names []string
	for k, err := range p.List(ctx, run, "") {
		if err != nil {
			return nil, err
		}
		if k.Whole {
			names = append(names, k.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Bytes returns how many bytes the artifacts of a run take.
func Bytes(ctx context.Context, p Place, run string) (sum int64, err error) {
	for k, err := range p.List(ctx, run, "") {
		if err != nil {
			return 0, err
		}
		sum += k.Bytes
	}
	return sum, nil
}

var errOther = errors.New("another process has finished it with other bytes")

// Name spells any id as a file name: everything outside [A-Za-z0-9._-] is percent-encoded, and so is a leading dot.
func Name(id string) string {
	if id == "" {
		return "%"
	}
	var b strings.Builder
	for i := range len(id) {
		c := id[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' && i > 0
		if plain {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// place checks a run and a name, and joins them.
func place(run, name string) (string, error) {
	for _, s := range []string{run, name} {
		if s == "" || s[0] == '.' || len(s) > 200 ||
			strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-%") != "" {
			return "", fmt.Errorf("artifact %q of run %q: not a safe name", name, run)
		}
	}
	for _, suffix := range []string{packed, partial, marker} {
		if strings.HasSuffix(name, suffix) {
			return "", fmt.Errorf("artifact %q: names do not end in %s", name, suffix)
		}
	}
	return path.Join(run, name), nil
}
