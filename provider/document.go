package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"assay"
)

// Document is a JSON answer with a long list in it, read without holding the list.
type Document struct {
	Lists [][]string         // paths of the lists: the members to go down; what is no list there is left alone
	Each  func([]byte) error // is handed every element; nil: they are read over. ErrEnough ends the reading
	Rest  any                // takes the document without the lists; nil: it is read over
}

// ErrEnough is returned by Each when the rest of the document does not matter.
var ErrEnough = errors.New("enough")

// maxElement bounds what is held at a time: one element, or everything but the elements.
const maxElement = 256 << 20

// Elements makes the call and reads the document. A document that is cut is an error, however many elements came.
func (c *Client) Elements(ctx context.Context, call Call, doc Document) error {
	resp, err := c.Do(ctx, call)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	w := &walker{doc: doc, in: &meter{r: resp.Body}}
	w.dec = json.NewDecoder(w.in)
	w.dec.UseNumber()
	err = w.value(nil)
	var own callerError
	var large *assay.Fault
	switch {
	case errors.As(err, &own) && own.error == ErrEnough:
		return nil
	case errors.As(err, &own):
		return own.error
	case errors.As(err, &large):
		return err
	case err != nil:
		return c.cutDocument(ctx, resp, err)
	}
	if doc.Rest == nil {
		return nil
	}
	return c.accept(resp, w.rest.Bytes(), doc.Rest)
}

// cutDocument tells a document that ends early, which is worth another try, from one that is none.
func (c *Client) cutDocument(ctx context.Context, resp *http.Response, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) && ctx.Err() == nil {
		return c.answerError(resp, "answer cannot be read", err)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return c.transportError(ctx, resp.Request, err)
}

// callerError marks an error of Each, so that it is not taken for one of the connection.
type callerError struct{ error }

// walker copies a document into rest, all but its lists.
type walker struct {
	doc  Document
	in   *meter
	dec  *json.Decoder
	rest bytes.Buffer
}

// value reads the next value, which stands at path. Only what leads to a list is taken apart.
func (w *walker) value(path []string) error {
	switch {
	case w.at(path):
		return w.list()
	case w.leads(path):
		return w.object(path)
	}
	var raw json.RawMessage
	if err := w.dec.Decode(&raw); err != nil {
		return err
	}
	return w.keep(raw)
}

func (w *walker) at(path []string) bool {
	return slices.ContainsFunc(w.doc.Lists, func(l []string) bool { return slices.Equal(l, path) })
}

func (w *walker) leads(path []string) bool {
	return slices.ContainsFunc(w.doc.Lists, func(l []string) bool {
		return len(path) < len(l) && slices.Equal(l[:len(path)], path)
	})
}

// object reads the object on the way to a list. Another value in its place is kept as it is.
func (w *walker) object(path []string) error {
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	if tok != json.Delim('{') {
		return w.other(tok)
	}
	w.rest.WriteByte('{')
	for first := true; w.dec.More(); first = false {
		key, err := w.dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if !first {
			w.rest.WriteByte(',')
		}
		if err := w.scalar(name); err != nil {
			return err
		}
		w.rest.WriteByte(':')
		if err := w.value(append(slices.Clip(path), name)); err != nil {
			return err
		}
	}
	w.rest.WriteByte('}')
	_, err = w.dec.Token()
	return err
}

// list hands out the elements and leaves an empty list behind.
func (w *walker) list() error {
	tok, err := w.dec.Token()
	if err != nil {
		return err
	}
	if tok != json.Delim('[') {
		return w.other(tok)
	}
	for w.dec.More() {
		var raw json.RawMessage
		if err := w.dec.Decode(&raw); err != nil {
			return err
		}
		w.in.n = 0
		if w.doc.Each == nil {
			continue
		}
		if err := w.doc.Each(raw); err != nil {
			return callerError{err}
		}
	}
	w.rest.WriteString("[]")
	_, err = w.dec.Token()
	return err
}

// other keeps a value of which the first token is read already.
func (w *walker) other(tok json.Token) error {
	d, ok := tok.(json.Delim)
	if !ok {
		return w.scalar(tok)
	}
	for w.dec.More() { // an object or a list where none belongs: read over
		var raw json.RawMessage
		if d == '{' {
			if _, err := w.dec.Token(); err != nil {
				return err
			}
		}
		if err := w.dec.Decode(&raw); err != nil {
			return err
		}
	}
	w.rest.WriteString("null")
	_, err := w.dec.Token()
	return err
}

func (w *walker) scalar(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return w.keep(b)
}

func (w *walker) keep(raw []byte) error {
	w.in.n = 0
	if w.rest.Len()+len(raw) > maxAnswer {
		return tooLarge(maxAnswer)
	}
	w.rest.Write(raw)
	return nil
}

// meter stops a value that has no end.
type meter struct {
	r io.Reader
	n int64
}

// Read counts the bytes since the last value.
func (m *meter) Read(p []byte) (int, error) {
	if m.n > maxElement {
		return 0, tooLarge(maxElement)
	}
	n, err := m.r.Read(p)
	m.n += int64(n)
	return n, err
}

func tooLarge(limit int64) error {
	return fmt.Errorf("read the answer: %w", &assay.Fault{
		Class: assay.FaultLarge, Code: "answer_too_large", Message: fmt.Sprintf("a single value is over %d bytes", limit),
	})
}

// Lines writes the elements of documents as the lines of a part.
type Lines struct {
	part Part
	into Sink
	n    int64
	buf  bytes.Buffer
}

// NewLines begins a part anew: a list that comes in documents cannot be continued.
func NewLines(part Part, into Sink) (*Lines, error) {
	if err := into.Begin(0, ""); err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return &Lines{part: part, into: into}, nil
}

// Write writes one element, on one line.
func (l *Lines) Write(raw []byte) error {
	l.buf.Reset()
	if bytes.ContainsAny(raw, "\n\r") {
		if err := json.Compact(&l.buf, raw); err != nil {
			return fmt.Errorf("write element %d: %w", l.n+1, err)
		}
	} else {
		l.buf.Write(raw)
	}
	l.buf.WriteByte('\n')
	l.n++
	if _, err := l.into.Write(l.buf.Bytes()); err != nil {
		return fmt.Errorf("write what was fetched: %w", err)
	}
	return nil
}

// Close holds the number of lines against what the part should have.
func (l *Lines) Close() error {
	if l.part.Lines > 0 && l.n != l.part.Lines {
		return fmt.Errorf("fetch: %w", &assay.Fault{
			Class: assay.FaultBusy, Code: "truncated", Message: fmt.Sprintf("got %d of %d lines", l.n, l.part.Lines),
		})
	}
	return nil
}
