package backend

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"assay/internal/assay/jsontext"
	"assay/internal/simulator/rules"
	"assay/internal/simulator/spill"
)

// Split reads a document of the form {…,"key":[…],…} from the call's body and writes the elements of that array as lines
// to disk, so that it is never in memory whole. Every member goes to other in the order it comes, the array empty. A rejection
// names what is wrong with the document.
func (c *Call) Split(key string, limit int64,
	other func(key string, value json.RawMessage) *rules.Rejection) (spill.Blob, *rules.Rejection, error) {
	out, err := c.s.spill.Create("lines")
	if err != nil {
		return spill.Blob{}, nil, err
	}
	var line bytes.Buffer
	err = jsontext.Read(http.MaxBytesReader(c.Writer, c.Request.Body, limit), jsontext.Document{
		Lists: [][]string{{key}},
		Each: func(e jsontext.Element) error {
			line.Reset()
			if err := json.Compact(&line, e.Text); err != nil {
				return err
			}
			out.Add(line.Bytes())
			return nil
		},
		Other: func(name string, value []byte) error {
			switch {
			case !json.Valid(value):
				return fmt.Errorf("%s: %w", name, jsontext.ErrJSON)
			case name == key && string(value) != "[]":
				return fmt.Errorf("%s is no list", name)
			}
			if rej := other(name, value); rej != nil {
				return rej
			}
			return nil
		},
	})
	b, diskErr := out.Done(nil)
	return b, rejectionOf(err), diskErr
}

// rejectionOf returns the provider's rejection of a document that could not be read.
func rejectionOf(err error) *rules.Rejection {
	var rej *rules.Rejection
	var big *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &rej):
		return rej
	case errors.As(err, &big):
		return &rules.Rejection{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large",
			Message: "Request exceeds the maximum size."}
	}
	return rules.Invalid("", "invalid_json", "The request body is not valid JSON: %s", err)
}
