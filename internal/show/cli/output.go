package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"assay/internal/show/cli/term"
)

// output is a file that appears only when it is whole; without a name it takes nothing, and - is standard output.
type output struct {
	io.Writer
	file *os.File
	name string
	n    int64
}

func newOutput(w *World, name string) (*output, error) {
	switch name {
	case "":
		return &output{Writer: io.Discard}, nil
	case "-":
		return &output{Writer: w.Stdout}, nil
	}
	full := w.Disk.Path(name)
	f, err := w.Disk.Create(full+".part", os.O_TRUNC)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return &output{Writer: f, file: f, name: full}, nil
}

// rawOut is standard output for what programs read: on a terminal, what would steer it is written as an escape.
func (w *World) rawOut() io.Writer {
	if w.Terminal.Out {
		return &term.Harmless{To: w.Stdout}
	}
	return w.Stdout
}

// Write counts what is written.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.n += int64(n)
	return n, err
}

// commit gives the file its name. An empty file of errors would say that there are some: it is not made.
func (o *output) commit() error {
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

// discard takes away a file that did not become whole.
func (o *output) discard() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
	}
}
