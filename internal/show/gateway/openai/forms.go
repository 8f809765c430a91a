package openai

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"assay/internal/assay"
)

// List is a page of things, newest first.
type List[T any] struct {
	Object  string  `json:"object"`
	Data    []T     `json:"data"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
	HasMore bool    `json:"has_more"`
}

// Paging reads how much of a list is wanted.
func Paging(q url.Values, usual, most int) (limit int, after string, err error) {
	limit = usual
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > most {
			return 0, "", Wrong(http.StatusBadRequest, "invalid_value", "limit", "'limit' must be between 1 and %d.", most)
		}
	}
	return limit, q.Get("after"), nil
}

// ReadJSON reads a body that is one JSON object.
func ReadJSON(body io.ReadCloser, most int64, into any) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(nil, body, most))
	if err != nil {
		return nil, CutOff(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) && kind.Field != "" {
			return nil, Wrong(http.StatusBadRequest, "invalid_type", kind.Field, "Invalid type for '%s': got %s.", kind.Field, kind.Value)
		}
		return nil, Wrong(http.StatusBadRequest, "", "", "We could not parse the JSON body of your request: %s.",
			assay.Clean(err.Error(), 200))
	}
	return text, nil
}

// MaxFile is how many bytes an uploaded file has at most.
const MaxFile = 200 << 20

// TooLarge returns the error for a file of more bytes.
func TooLarge() error {
	return Wrong(http.StatusRequestEntityTooLarge, "file_too_large", "file", "Maximum content size limit (%d) exceeded.", MaxFile)
}

// CutOff returns why the bytes of a client stopped.
func CutOff(err error) error {
	var large *http.MaxBytesError
	if errors.As(err, &large) && large.Limit < MaxFile {
		return Wrong(http.StatusRequestEntityTooLarge, "request_too_large", "", "Maximum request size (%d bytes) exceeded.", large.Limit)
	}
	if large != nil {
		return TooLarge()
	}
	return Wrong(http.StatusBadRequest, "incomplete_request", "", "The request ended too early or cannot be read: %s.",
		assay.Clean(err.Error(), 200))
}
