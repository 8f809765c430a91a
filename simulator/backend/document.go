package backend

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"assay/simulator/bodies"
	"assay/simulator/spill"
)

// Split reads a document of the form {…,"key":[…],…} from the call's body and writes the elements of that array as lines
// to disk, so that it never stands in memory whole. Every other member goes to other, in the order it comes. A rejection
// says what is wrong with the document.
func (c *Call) Split(key string, limit int64, other func(key string, value json.RawMessage) *bodies.Rejection) (spill.Blob, *bodies.Rejection, error) {
	out, err := c.s.spill.Create("lines")
	if err != nil {
		return spill.Blob{}, nil, err
	}
	sp := &splitter{dec: json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, limit)), out: out}
	err = sp.object(key, other)
	b, diskErr := out.Done(nil)
	return b, rejectionOf(err), diskErr
}

type splitter struct {
	dec *json.Decoder
	out *spill.LineWriter
	buf bytes.Buffer
}

// rejectionOf is what the provider says to a document that could not be read.
func rejectionOf(err error) *bodies.Rejection {
	var rej *bodies.Rejection
	var big *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rej):
		return rej
	case errors.As(err, &big):
		return &bodies.Rejection{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: "Request exceeds the maximum size."}
	}
	return bodies.Invalid("", "invalid_json", "The request body is not valid JSON: %s", err)
}

func (sp *splitter) object(key string, other func(string, json.RawMessage) *bodies.Rejection) error {
	if err := sp.delim('{'); err != nil {
		return err
	}
	for sp.dec.More() {
		t, err := sp.dec.Token()
		if err != nil {
			return err
		}
		if t == key {
			if err := sp.array(); err != nil {
				return err
			}
		}
		var v json.RawMessage
		if t != key {
			if err := sp.dec.Decode(&v); err != nil {
				return err
			}
		}
		if rej := other(fmt.Sprint(t), v); rej != nil {
			return rej
		}
	}
	return sp.delim('}')
}

func (sp *splitter) array() error {
	if err := sp.delim('['); err != nil {
		return err
	}
	var v json.RawMessage
	for sp.dec.More() {
		v = v[:0]
		if err := sp.dec.Decode(&v); err != nil {
			return err
		}
		sp.buf.Reset()
		if err := json.Compact(&sp.buf, v); err != nil {
			return err
		}
		sp.out.Add(sp.buf.Bytes())
	}
	return sp.delim(']')
}

func (sp *splitter) delim(want json.Delim) error {
	t, err := sp.dec.Token()
	if err != nil {
		return err
	}
	if t != want {
		return fmt.Errorf("want %q, got %v", want, t)
	}
	return nil
}
