// Package parts writes what a message holds beside plain text (pictures, documents, sounds, calls of tools and their results), and
// the tools themselves, in the form of each dialect.
package parts

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/assay/jsontext"
)

// Writer appends parts to a body under way.
type Writer struct {
	B    []byte
	Wire *assay.Wire
	Err  error // the first part that cannot be written: it names what the API has no place for

	root  []byte // the schema that is being written, for its references
	depth int    // of the node of it
}

func (w *Writer) fail(err error) {
	if w.Err == nil {
		w.Err = err
	}
}

func noPlace(param string) error { return &NoPlaceError{param} }

// NoPlaceError is that an API has no place for something of a request.
type NoPlaceError struct{ Param string }

// Error says so.
func (e *NoPlaceError) Error() string { return "this API has no place for " + e.Param }

// name writes a member's name, with the comma before it.
func (w *Writer) name(name string) {
	if w.B[len(w.B)-1] != '{' {
		w.B = append(w.B, ',')
	}
	w.B = append(w.B, '"')
	w.B = append(w.B, name...)
	w.B = append(w.B, '"', ':')
}

// item separates an element of a list from the one before it, if there is one.
func (w *Writer) item() {
	if w.B[len(w.B)-1] != '[' {
		w.B = append(w.B, ',')
	}
}

func (w *Writer) raw(s string) { w.B = append(w.B, s...) }

func (w *Writer) quoted(s string) { w.B = jsontext.AppendString(w.B, s) }

// member writes a member of an object inside a part, unless it is empty.
func (w *Writer) member(name, value string) {
	if value != "" {
		w.name(name)
		w.quoted(value)
	}
}

// appender is a Writer as a writer of plain characters.
type appender Writer

func (a *appender) Write(p []byte) (int, error) {
	a.B = append(a.B, p...)
	return len(p), nil
}

// base64 appends the bytes of a medium, encoded, without a copy of them.
func (w *Writer) base64(m *assay.Media) {
	w.B = slices.Grow(w.B, int(m.Base64())+1)
	e := base64.NewEncoder(base64.StdEncoding, (*appender)(w))
	w.fail(errors.Join(w.read(m, e), e.Close()))
}

// read copies the bytes of a medium.
func (w *Writer) read(m *assay.Media, to io.Writer) error {
	if m.Open == nil {
		return fmt.Errorf("%s: its bytes are not here", nameOf(m))
	}
	r, err := m.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", nameOf(m), err)
	}
	n, err := io.Copy(to, r)
	err = errors.Join(err, r.Close())
	if err == nil && m.Size > 0 && n != m.Size {
		err = fmt.Errorf("it has %d bytes now, not %d", n, m.Size)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", nameOf(m), err)
	}
	return nil
}

func nameOf(m *assay.Media) string { return strings.TrimSpace(string(m.Kind) + " " + m.Name) }

// dataURL appends the address of a medium, or its bytes in the form of one.
func (w *Writer) dataURL(m *assay.Media) {
	if m.Open == nil {
		w.quoted(m.URL)
		return
	}
	w.raw(`"data:`)
	w.B = jsontext.AppendText(w.B, m.Type)
	w.raw(";base64,")
	w.base64(m)
	w.raw(`"`)
}

// noMedia refuses a medium that an API has no form for.
func (w *Writer) noMedia(m *assay.Media, what string) {
	w.fail(noPlace(strings.TrimSpace(string(m.Kind) + " " + what)))
}

// AppendUpper appends the capitals of s, as Google's enums are spelled. It leaves all but letters alone.
func AppendUpper[S ~string | ~[]byte](dst []byte, s S) []byte {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// IsWord reports whether s consists of letters alone, so that its capitals are the same word.
func IsWord[S ~string | ~[]byte](s S) bool {
	for i := range len(s) {
		if !letter(s[i]) {
			return false
		}
	}
	return len(s) > 0
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
