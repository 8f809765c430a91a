package export

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/klauspost/compress/zstd"

	"assay/internal/assay"
	"assay/internal/assay/jsonlist"
)

// inspectSource is one log that is read: a zip, or a JSON document.
type inspectSource struct {
	files fs.FS
	name  string
	head  inspectHead
}

// inspectHead is what a log says before its samples, as far as it is needed.
type inspectHead struct {
	Status string `json:"status"`
	Eval   struct {
		Created  string          `json:"created"`
		Task     string          `json:"task"`
		Model    string          `json:"model"`
		Config   map[string]any  `json:"model_generate_config"`
		Args     map[string]any  `json:"task_args"`
		Metadata json.RawMessage `json:"metadata"`
	} `json:"eval"`

	mark *inspectMark // nil: another program wrote it
}

// inspectStamp is how the name of a JSON log begins; there are other JSON files in its folder.
var inspectStamp = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}`)

// inspectLogs lists the logs of a folder, by path.
func inspectLogs(from From) ([]string, error) {
	if from.File != "" {
		return []string{from.File}, nil
	}
	names, err := filesUnder(from.Files, string(inspectZip))
	if err != nil {
		return nil, err
	}
	documents, err := filesUnder(from.Files, string(inspectJSON))
	for _, name := range documents {
		if inspectStamp.MatchString(path.Base(name)) {
			names = append(names, name)
		}
	}
	return names, err
}

// open reads the head of a log.
func (s *inspectSource) open() error {
	text, err := s.header()
	if err != nil {
		return err
	}
	text = strictJSON(text)
	if err := json.Unmarshal(text, &s.head); err != nil {
		return fmt.Errorf("%s: %w", s.name, wrongKind(err))
	}
	if s.head.Eval.Task == "" {
		return fmt.Errorf("%s: it is no log of Inspect: it names no task", s.name)
	}
	var origin inspectOrigin
	if json.Unmarshal(s.head.Eval.Metadata, &origin) == nil && origin.Assay != nil && origin.Assay.Stage != "" && origin.Assay.Lane != "" {
		s.head.mark = origin.Assay
	}
	return nil
}

func (s *inspectSource) header() ([]byte, error) {
	if !strings.EqualFold(path.Ext(s.name), string(inspectZip)) {
		var rest bytes.Buffer
		err := s.document(jsonlist.Document{Rest: &rest})
		return rest.Bytes(), err
	}
	var text []byte
	err := s.members(func(z *zip.Reader, budget *int64) error {
		var found *zip.File
		for _, name := range []string{"header.json", "_journal/start.json"} { // of a run that was cut off there is a journal alone
			for _, f := range z.File {
				if f.Name == name {
					found = f // of several, the last
				}
			}
			if found != nil {
				break
			}
		}
		if found == nil {
			return fmt.Errorf("%s: it is no log of Inspect: it has no header.json", s.name)
		}
		var err error
		if text, err = unpack(found, budget); err != nil {
			return fmt.Errorf("%s: %w", path.Join(s.name, found.Name), err)
		}
		return nil
	})
	return text, err
}

// document reads a JSON log without holding its samples.
func (s *inspectSource) document(d jsonlist.Document) error {
	file, err := s.files.Open(s.name)
	if err != nil {
		return err
	}
	defer file.Close()
	d.Lists, d.Max = [][]string{{"samples"}}, maxRecord
	err = jsonlist.Read(file, d)
	var wrong *jsonlist.Error
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", assay.Place{File: s.name, Line: wrong.Line, Col: wrong.Col}, wrong.Err)
	}
	return err
}

// samples hands on every sample with its place. What cannot be read is noted, and the rest is read.
func (s *inspectSource) samples(bad Bad, take func(assay.Place, []byte) error) error {
	if !strings.EqualFold(path.Ext(s.name), string(inspectZip)) {
		return s.document(jsonlist.Document{Each: func(e jsonlist.Element) error {
			at := assay.Place{File: s.name, Line: e.Line, Col: e.Col}
			if e.TooLong {
				bad.at(at, "a sample has more than %d MB", maxRecord>>20)
				return nil
			}
			return take(at, e.Text)
		}})
	}
	return s.members(func(z *zip.Reader, budget *int64) error {
		last := map[string]int{}
		for i, f := range z.File {
			if strings.HasPrefix(f.Name, "samples/") && strings.HasSuffix(f.Name, ".json") {
				last[f.Name] = i
			}
		}
		for i, f := range z.File {
			if n, ok := last[f.Name]; !ok || n != i {
				continue
			}
			at := assay.Place{File: path.Join(s.name, f.Name)}
			text, err := unpack(f, budget)
			switch {
			case errors.Is(err, errBomb):
				return fmt.Errorf("%s: %w", s.name, err)
			case err != nil:
				bad.at(at, "%v", err)
				continue
			}
			at.Line, at.Col = 1, 1
			if err := take(at, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// What a zip may unpack to in all: so much, and so many times its own size.
const (
	unpackedBytes = 1 << 30
	unpackedTimes = 200
	zipZstd       = 93
)

var errBomb = errors.New("it unpacks to far more than a log has: not read on")

// members opens the log as a zip.
func (s *inspectSource) members(read func(*zip.Reader, *int64) error) error {
	file, err := s.files.Open(s.name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	at, ok := file.(io.ReaderAt)
	if !ok {
		return fmt.Errorf("%s: it cannot be read from any place", s.name)
	}
	z, err := zip.NewReader(at, info.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names of members are never names of files
		return fmt.Errorf("%s: %w", s.name, err)
	}
	z.RegisterDecompressor(zipZstd, zstd.ZipDecompressor(zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20)))
	budget := int64(unpackedBytes) + unpackedTimes*info.Size()
	return read(z, &budget)
}

// unpack reads a member whole, as far as one may be.
func unpack(f *zip.File, budget *int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, min(maxRecord, *budget)+1))
	*budget -= int64(len(text))
	switch {
	case *budget < 0:
		err = errBomb
	case len(text) > maxRecord:
		err = fmt.Errorf("it has more than %d MB", maxRecord>>20)
	}
	return text, errors.Join(err, r.Close())
}

// inPlace says where in a text JSON cannot be read.
func inPlace(at assay.Place, text []byte, err error) error {
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
	return fmt.Errorf("%s: %w", at, wrongKind(err))
}

// wrongKind says in words that a value is of a kind that its place does not take.
func wrongKind(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fmt.Errorf("%s is a %s, which cannot be", kind.Field, kind.Value)
	}
	return err
}

// strictJSON writes null for NaN and the infinities, which programs in Python write and encoding/json does not read.
func strictJSON(text []byte) []byte {
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
