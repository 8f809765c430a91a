// Package jsontext reads JSON: a tree with the position of every value, a strict parser, and a scanner of lists too
// long to hold.
package jsontext

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Document selects the parts of a document to read and the function that gets each. An error of a function ends the
// reading and is returned unchanged.
type Document struct {
	Lists [][]string                            // paths of the lists: the members to go down; an empty path: the document is a list
	Each  func(Element) error                   // is handed every element of the lists; nil: they are read over
	Other func(name string, value []byte) error // is handed every member of the document in turn, its lists emptied; nil: none
	Rest  *bytes.Buffer                         // takes the document with its lists emptied; nil: it is read over
	Max   int                                   // bytes of an element that are held at most; 0: any number

	Line, Col int // where the document begins, columns in bytes; 0 counts as 1
}

// Element is one element of a list.
type Element struct {
	Text      []byte // valid until Each returns
	TooLong   bool   // longer than the maximum: it was read over
	Line, Col int    // where it begins
}

// What can be wrong with a document beside its reader.
var (
	ErrCut   = fmt.Errorf("the document does not end: %w", io.ErrUnexpectedEOF)
	ErrAfter = errors.New("text follows the document")
	ErrJSON  = errors.New("not valid JSON")
)

// Error describes a fault of a document, or of its reader, and its position.
type Error struct {
	Line, Col int
	Err       error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Col, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Read reads a document to its end. It counts only brackets and quotes; parsers of elements and members check them, so
// that one malformed element does not hide those after it. A value in the place of a list, or on the way to one, that
// is neither an object nor a list is left in the rest; objects and other lists are replaced by null.
func Read(in io.Reader, d Document) error {
	w := walker{Document: d, scanner: scanner{in: bufio.NewReaderSize(in, 64<<10), line: max(1, d.Line), col: max(1, d.Col)}}
	if w.Rest == nil {
		w.Rest = new(bytes.Buffer)
		w.forget = true
	}
	if err := w.document(); err != nil {
		return err
	}
	switch _, err := w.next(); {
	case err == nil:
		return w.wrong(ErrAfter)
	case !errors.Is(err, ErrCut):
		return err
	}
	return nil
}

// walker is the reading of one document.
type walker struct {
	Document
	scanner
	forget bool // a member of the document that was handed out is not kept
}

func (w *walker) document() error {
	c, err := w.next()
	switch {
	case err != nil:
		return err
	case c == '{' && !w.at(nil):
		return w.object(nil)
	case c == '[':
		return w.list(nil)
	}
	return w.wrong(ErrJSON)
}

func (w *walker) at(path []string) bool {
	return slices.ContainsFunc(w.Lists, func(l []string) bool { return slices.Equal(l, path) })
}

func (w *walker) leads(path []string) bool {
	return slices.ContainsFunc(w.Lists, func(l []string) bool { return len(path) < len(l) && slices.Equal(l[:len(path)], path) })
}

// object reads an object on the way to a list.
func (w *walker) object(path []string) error {
	w.skip(1)
	w.Rest.WriteByte('{')
	c, err := w.next()
	for c != '}' && err == nil {
		if err = w.member(path); err == nil {
			c, err = w.next()
		}
		switch {
		case err != nil:
		case c == ',':
			w.skip(1)
			w.Rest.WriteByte(',')
		case c != '}':
			err = w.wrong(ErrJSON)
		}
	}
	if err != nil {
		return err
	}
	w.skip(1)
	w.Rest.WriteByte('}')
	return nil
}

// member reads a member of the object at path.
func (w *walker) member(path []string) error {
	start := w.Rest.Len()
	name, err := w.name()
	if err != nil {
		return err
	}
	value := w.Rest.Len()
	if err := w.value(append(slices.Clip(path), name)); err != nil || len(path) > 0 {
		return err
	}
	if w.Other != nil {
		if err := w.Other(name, w.Rest.Bytes()[value:]); err != nil {
			return err
		}
	}
	if w.forget {
		w.Rest.Truncate(start)
	}
	return nil
}

// name reads the name of a member, and its colon.
func (w *walker) name() (string, error) {
	if _, err := w.next(); err != nil {
		return "", err
	}
	text, end, err := w.cut(':', '}', 0)
	if err != nil {
		return "", err
	}
	var name string
	if end != ':' || json.Unmarshal(text, &name) != nil || text[0] != '"' {
		return "", w.wrong(ErrJSON)
	}
	w.Rest.Write(text)
	w.skip(1)
	w.Rest.WriteByte(':')
	return name, nil
}

// value reads the value of the member at path.
func (w *walker) value(path []string) error {
	c, err := w.next()
	list, leads := w.at(path), w.leads(path)
	switch {
	case err != nil:
		return err
	case c == '[' && (list || leads):
		return w.list(path)
	case c == '{' && leads && !list:
		return w.object(path)
	}
	text, _, err := w.cut(',', '}', 0)
	if err != nil {
		return err
	}
	if c == '{' && list {
		text = []byte("null")
	}
	w.Rest.Write(text)
	return nil
}

// list reads the elements of a list; where no list belongs, they are read over.
func (w *walker) list(path []string) error {
	each := w.Each
	if w.at(path) {
		w.Rest.WriteString("[]")
	} else {
		w.Rest.WriteString("null")
		each = nil
	}
	w.skip(1)
	c, err := w.next()
	for err == nil && c != ']' {
		e := Element{Line: w.line, Col: w.col}
		if e.Text, c, err = w.cut(',', ']', w.Max); err != nil {
			return err
		}
		e.TooLong = w.over
		if each != nil {
			if err := each(e); err != nil {
				return err
			}
		}
		if c == ',' {
			w.skip(1)
			_, err = w.next() // what follows a comma is an element, if an empty one
		}
	}
	if err != nil {
		return err
	}
	w.skip(1)
	return nil
}
