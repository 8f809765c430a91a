package shell

import (
	"assay/internal/assay"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Output is a file that appears only when it is whole; without a name it takes nothing, and - is standard output.
type Output struct {
	io.Writer
	file *os.File
	name string
	n    int64
}

// NewOutput begins a file of that name.
func NewOutput(w *World, name string) (*Output, error) {
	switch name {
	case "":
		return &Output{Writer: io.Discard}, nil
	case "-":
		return &Output{Writer: w.Stdout}, nil
	}
	full := w.Disk.Path(name)
	f, err := w.Disk.Create(full+".part", os.O_TRUNC)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &Output{Writer: f, file: f, name: full}, nil
}

// Write counts what is written.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.n += int64(n)
	return n, err
}

// Commit gives the file its name. An empty file of errors would say that there are some: it is not made.
func (o *Output) Commit() error {
	if o.file == nil {
		return nil
	}
	f := o.file
	o.file = nil
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if o.n == 0 && strings.HasSuffix(o.name, ".errors.jsonl") {
		_ = os.Remove(o.name) // of an earlier collect, which is not true any more
		return os.Remove(f.Name())
	}
	return os.Rename(f.Name(), o.name)
}

// Discard takes away a file that did not become whole.
func (o *Output) Discard() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}

// MaxTableRows is as much as a person reads in a table.
const MaxTableRows = 1000

// Encoder writes one JSON object per line to standard output.
func Encoder(w *World) *json.Encoder {
	e := json.NewEncoder(w.Stdout)
	e.SetEscapeHTML(false)
	return e
}

// Shortened returns a key as tables show it.
func Shortened(key string) string {
	k, err := assay.ParseKey(key)
	if err != nil {
		return key
	}
	return k.Short()
}

// Heading prints the head of a part.
func Heading(out io.Writer, title string) error {
	_, err := fmt.Fprintf(out, "\n--- %s\n", assay.Clean(title, 300))
	return err
}

// ShortMoment returns a moment in a table; nothing where it is not known.
func ShortMoment(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// Named returns the coordinates of a request besides stage, lane and item, in words.
func Named(at assay.Coordinates) string {
	var b strings.Builder
	switch {
	case at.Against != "" && at.Lane == "":
		fmt.Fprintf(&b, " against %q", at.Against)
	case at.Against != "":
		fmt.Fprintf(&b, ", %s against %s", at.Lane, at.Against)
	case at.Judge != "":
		fmt.Fprintf(&b, ", judges %s", at.Lane)
	}
	for name, value := range assay.AllCoordinates().But("stage", "source", "item", "lane", "against", "judge").Texts(&at) {
		fmt.Fprintf(&b, ", %s %q", name, value)
	}
	if at.Turn > 1 {
		fmt.Fprintf(&b, ", turn %d", at.Turn)
	}
	if at.Draw > 1 {
		fmt.Fprintf(&b, ", draw %d", at.Draw)
	}
	return b.String()
}
