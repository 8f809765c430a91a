package inspect

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
	"assay/internal/assay/jsontext"
	"assay/internal/show/export"
	"assay/internal/show/export/table"
)

// source is one log that is read: a zip, or a JSON document.
type source struct {
	files fs.FS
	name  string
	head  sourceHead
}

// sourceHead holds the fields of a log before its samples, as far as they are needed.
type sourceHead struct {
	Status string `json:"status"`
	Eval   struct {
		Created  string          `json:"created"`
		Task     string          `json:"task"`
		Model    string          `json:"model"`
		Config   map[string]any  `json:"model_generate_config"`
		Args     map[string]any  `json:"task_args"`
		Metadata json.RawMessage `json:"metadata"`
	} `json:"eval"`

	mark *runMark // nil: another program wrote it
}

// logStamp is how the name of a JSON log begins; there are other JSON files in its folder.
var logStamp = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}`)

// logNames lists the logs of a folder, by path.
func logNames(from export.From) ([]string, error) {
	if from.File != "" {
		return []string{from.File}, nil
	}
	names, err := export.FilesUnder(from.Files, string(Zip))
	if err != nil {
		return nil, err
	}
	documents, err := export.FilesUnder(from.Files, string(JSON))
	for _, name := range documents {
		if logStamp.MatchString(path.Base(name)) {
			names = append(names, name)
		}
	}
	return names, err
}

// open reads the head of a log.
func (s *source) open() error {
	text, err := s.header()
	if err != nil {
		return err
	}
	text = export.StrictJSON(text)
	if err := json.Unmarshal(text, &s.head); err != nil {
		return fmt.Errorf("%s: %w", s.name, export.KindError(err))
	}
	if s.head.Eval.Task == "" {
		return fmt.Errorf("%s: it is no log of Inspect: it names no task", s.name)
	}
	var origin origin
	if json.Unmarshal(s.head.Eval.Metadata, &origin) == nil && origin.Assay != nil && origin.Assay.Stage != "" && origin.Assay.Lane != "" {
		s.head.mark = origin.Assay
	}
	return nil
}

func (s *source) header() ([]byte, error) {
	if !strings.EqualFold(path.Ext(s.name), string(Zip)) {
		var rest bytes.Buffer
		err := s.document(jsontext.Document{Rest: &rest})
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
func (s *source) document(d jsontext.Document) error {
	file, err := s.files.Open(s.name)
	if err != nil {
		return err
	}
	defer file.Close()
	d.Lists, d.Max = [][]string{{"samples"}}, table.MaxRecord
	err = jsontext.Read(file, d)
	var wrong *jsontext.Error
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", assay.Place{File: s.name, Line: wrong.Line, Col: wrong.Col}, wrong.Err)
	}
	return err
}

// samples hands on every sample with its place. What cannot be read is noted, and the rest is read.
func (s *source) samples(bad table.Report, take func(assay.Place, []byte) error) error {
	if !strings.EqualFold(path.Ext(s.name), string(Zip)) {
		return s.document(jsontext.Document{Each: func(e jsontext.Element) error {
			at := assay.Place{File: s.name, Line: e.Line, Col: e.Col}
			if e.TooLong {
				bad.At(at, "a sample has more than %d MB", table.MaxRecord>>20)
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
				bad.At(at, "%v", err)
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
func (s *source) members(read func(*zip.Reader, *int64) error) error {
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
	z.RegisterDecompressor(zipZstd,
		zstd.ZipDecompressor(zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20)))
	return read(z, new(int64(unpackedBytes)+unpackedTimes*info.Size()))
}

// unpack reads a member whole, as far as one may be.
func unpack(f *zip.File, budget *int64) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, min(table.MaxRecord, *budget)+1))
	*budget -= int64(len(text))
	switch {
	case *budget < 0:
		err = errBomb
	case len(text) > table.MaxRecord:
		err = fmt.Errorf("it has more than %d MB", table.MaxRecord>>20)
	}
	return text, errors.Join(err, r.Close())
}
