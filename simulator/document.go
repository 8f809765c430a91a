package simulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
)

// split reads a document of the form {…,"key":[…],…} from the call's body and writes the elements of that array as lines
// to disk, so that it never stands in memory whole. Every other member goes to other, in the order it comes. A rejection
// says what is wrong with the document.
func (c *call) split(key string, limit int64, other func(key string, value json.RawMessage) *Rejection) (blob, *Rejection, error) {
	out := blob{path: c.s.spill.path("lines")}
	f, err := os.OpenFile(out.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return blob{}, nil, err
	}
	sp := &splitter{dec: json.NewDecoder(http.MaxBytesReader(c.w, c.r.Body, limit)), out: f}
	err = sp.object(key, other)
	err = cmp.Or(err, f.Close())
	out.size = sp.size
	return out, sp.rejection(err), sp.diskErr
}

type splitter struct {
	dec     *json.Decoder
	out     io.Writer
	size    int64
	buf     bytes.Buffer
	diskErr error
}

// rejection tells what the provider says to a document that could not be read.
func (sp *splitter) rejection(err error) *Rejection {
	var rej *Rejection
	var big *http.MaxBytesError
	switch {
	case err == nil || sp.diskErr != nil:
		return nil
	case errors.As(err, &rej):
		return rej
	case errors.As(err, &big):
		return &Rejection{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: "Request exceeds the maximum size."}
	}
	return invalid("", "invalid_json", "The request body is not valid JSON: %s", err)
}

func (sp *splitter) object(key string, other func(string, json.RawMessage) *Rejection) error {
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
		sp.buf.WriteByte('\n')
		n, err := sp.out.Write(sp.buf.Bytes())
		sp.size += int64(n)
		if err != nil {
			sp.diskErr = err
			return err
		}
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
