package batchfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"assay/internal/assay"
	"assay/internal/send/dialect"
	"assay/internal/study/catalog"
)

// Writer writes requests as a provider's lines, into as many files as its limits demand.
type Writer struct {
	Limits catalog.Limits
	Create func(n int) (io.WriteCloser, error) // opens the n-th file, from 1

	Files []Written // those that are whole, once Close has been called

	out  *bufio.Writer
	file io.WriteCloser
	now  Written
	line []byte
}

// Written describes one file.
type Written struct {
	Requests int
	Bytes    int64
}

// Add writes one request under its author's id.
func (w *Writer) Add(id string, req *assay.Request) error {
	var err error
	if nameless(req.Wire.Carrier) {
		w.line, err = dialect.AppendBody(append(w.line[:0], `{"request":`...), req)
		w.line = append(w.line, '}')
	} else {
		w.line, err = dialect.AppendLine(w.line[:0], id, req)
	}
	if err != nil {
		return fmt.Errorf("write request %q: %w", id, err)
	}
	w.line = append(w.line, '\n')
	if most := w.Limits.LineBytes; most > 0 && int64(len(w.line)) > most {
		return fmt.Errorf("write request %q: it has %d bytes, the provider takes %d", id, len(w.line), most)
	}
	if w.file != nil && !w.fits() {
		if err := w.finish(); err != nil {
			return err
		}
	}
	if w.file == nil {
		if w.file, err = w.Create(len(w.Files) + 1); err != nil {
			return err
		}
		w.out, w.now = bufio.NewWriterSize(w.file, 1<<20), Written{}
	}
	w.now.Requests, w.now.Bytes = w.now.Requests+1, w.now.Bytes+int64(len(w.line))
	_, err = w.out.Write(w.line)
	return err
}

func (w *Writer) fits() bool {
	l := w.Limits
	return (l.Requests == 0 || w.now.Requests < l.Requests) && (l.Bytes == 0 || w.now.Bytes+int64(len(w.line)) <= l.Bytes)
}

func (w *Writer) finish() error {
	err := errors.Join(w.out.Flush(), w.file.Close())
	w.file = nil
	if err != nil {
		return fmt.Errorf("finish file %d: %w", len(w.Files)+1, err)
	}
	w.Files = append(w.Files, w.now)
	return nil
}

// Close finishes the last file.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	return w.finish()
}
