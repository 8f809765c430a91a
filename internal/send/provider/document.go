package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
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
	rest, err := doc.read(resp.Body)
	var own callerError
	var large *assay.Fault
	switch {
	case errors.As(err, &own) && own.error == ErrEnough:
		return nil
	case errors.As(err, &own):
		return own.error
	case errors.As(err, &large):
		return fmt.Errorf("read the answer: %w", large)
	case err != nil:
		return c.cutDocument(ctx, resp, err)
	}
	if doc.Rest == nil {
		return nil
	}
	return c.accept(resp, rest, doc.Rest)
}

// read hands out the elements; what it returns is the document without them.
func (d Document) read(body io.Reader) ([]byte, error) {
	in := &meter{r: body}
	var rest bytes.Buffer
	err := jsontext.Read(in, jsontext.Document{
		Lists: d.Lists, Rest: &rest,
		Each: func(e jsontext.Element) error {
			in.n = 0
			switch {
			case !json.Valid(e.Text):
				return jsontext.ErrJSON
			case d.Each == nil:
				return nil
			}
			if err := d.Each(e.Text); err != nil {
				return callerError{err}
			}
			return nil
		},
		Other: func(_ string, value []byte) error {
			in.n = 0
			switch {
			case !json.Valid(value):
				return jsontext.ErrJSON
			case rest.Len() > maxAnswer:
				return tooLarge(maxAnswer)
			}
			return nil
		},
	})
	return rest.Bytes(), err
}

// cutDocument distinguishes a document that ends early, which is worth another try, from an invalid one.
func (c *Client) cutDocument(ctx context.Context, resp *http.Response, err error) error {
	if (errors.Is(err, jsontext.ErrJSON) || errors.Is(err, jsontext.ErrAfter)) && ctx.Err() == nil {
		return c.answerError(resp, "answer cannot be read", err)
	}
	var wrong *jsontext.Error
	if errors.As(err, &wrong) {
		err = wrong.Err
	}
	return c.transportError(ctx, resp.Request, err)
}

// callerError marks an error of Each, so that it is not taken for one of the connection.
type callerError struct{ error }

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
	return &assay.Fault{Class: assay.FaultLarge, Code: "answer_too_large", Message: fmt.Sprintf("a single value is over %d bytes", limit)}
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
