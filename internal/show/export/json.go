package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
)

// NotEmpty reports whether a JSON value is neither absent nor null, false or empty.
func NotEmpty(v json.RawMessage) bool {
	switch strings.TrimSpace(string(v)) {
	case "", "null", "[]", "{}", `""`, "false":
		return false
	}
	return true
}

// PlainText returns a JSON text, or a number as it is written.
func PlainText(v json.RawMessage) (string, bool) {
	var text string
	if json.Unmarshal(v, &text) == nil && len(v) > 0 && v[0] == '"' {
		return text, true
	}
	var n json.Number
	if json.Unmarshal(v, &n) == nil && n != "" {
		return n.String(), true
	}
	return "", false
}

// JSONError returns an error with the place in a text at which its JSON cannot be read.
func JSONError(at assay.Place, text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(0)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	at = at.After(string(text[:min(max(0, offset-1), int64(len(text)))]))
	return fmt.Errorf("%s: %w", at, KindError(err))
}

// KindError returns an error in words for a value of the wrong type; any other as it is.
func KindError(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%s is a %s, which cannot be", kind.Field, kind.Value)
	}
	return err
}

// StrictJSON writes null for NaN and the infinities, which programs in Python write and encoding/json does not read.
func StrictJSON(text []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case 'N', 'I', '-':
			for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(text[i:], []byte(word)) {
					out = append(append(out, text[from:i]...), "null"...)
					i += len(word) - 1
					from = i + 1
					break
				}
			}
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[from:]...)
}

// maxDocument bounds a JSON file that is read whole.
const maxDocument = 256 << 20

// FilesUnder lists the files of a tree with a suffix, by path. Links are not followed.
func FilesUnder(tree fs.FS, suffix string, folders ...string) ([]string, error) {
	if len(folders) == 0 {
		folders = []string{"."}
	}
	var out []string
	for _, dir := range folders {
		err := fs.WalkDir(tree, dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Type().IsRegular() && strings.EqualFold(path.Ext(name), suffix) {
				out = append(out, name)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// ReadDocument reads a JSON file whole.
func ReadDocument(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	if err == nil && len(text) > maxDocument {
		err = fmt.Errorf("it has more than %d MB", maxDocument>>20)
	}
	return text, err
}
