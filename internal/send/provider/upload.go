package provider

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
)

// Form is a multipart form with one file, sent without ever being held in memory.
type Form struct {
	Fields [][2]string // in the order they are sent
	Field  string      // name of the file part
	Name   string      // file name
	Type   string      // content type of the file
	File   Source
}

// Call turns the form into a POST with a known length.
func (f Form) Call(path string) (Call, error) {
	var frame bytes.Buffer
	w := multipart.NewWriter(&frame)
	for _, kv := range f.Fields {
		if err := w.WriteField(kv[0], kv[1]); err != nil {
			return Call{}, fmt.Errorf("write form field %s: %w", kv[0], err)
		}
	}
	_, err := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"; filename="%s"`, f.Field, quoted.Replace(f.Name))},
		"Content-Type":        {f.Type},
	})
	if err != nil {
		return Call{}, fmt.Errorf("write form file %s: %w", f.Name, err)
	}
	head := bytes.Clone(frame.Bytes())
	frame.Reset()
	if err := w.Close(); err != nil {
		return Call{}, fmt.Errorf("close form: %w", err)
	}
	file, err := f.File.From(0)
	if err != nil {
		return Call{}, err
	}
	return Call{
		Method: "POST", Path: path, Type: w.FormDataContentType(),
		Length: int64(len(head)) + f.File.Size + int64(frame.Len()),
		Body: struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), file, &frame), file},
	}, nil
}

var quoted = strings.NewReplacer("\\", "\\\\", `"`, "\\\"", "\r", "", "\n", "")
