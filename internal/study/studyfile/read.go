// Package studyfile reads a study file and the texts that it names, and reports all problems at once, each with its place.
package studyfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"assay/internal/assay"
	"assay/internal/study"
	"assay/internal/study/decode"
)

// Options change a study while it is read.
type Options struct {
	Profile  string                    // a name under `profiles:`; empty: none
	Set      []string                  // path=value, each over the file
	Mode     assay.Mode                // how everything is sent, overriding study, stages and lanes; empty: as they set it
	Imported map[string]study.Imported // by stage: the shape of the rows of import stages; else they are read
}

// Read reads a study and the texts it names. Files are named relative to the study's own folder, which is where fsys
// starts. The study is nil when the file cannot be read as one at all; problems are all that is wrong, warnings too.
func Read(fsys fs.FS, name string, o Options) (*study.Study, assay.Problems) {
	r := &reader{fsys: fsys, study: &study.Study{}}
	r.Decoder.Problems = &r.found
	text, err := readFile(fsys, name, decode.MaxBytes+1)
	if err != nil {
		hint := "may this user read it?"
		if errors.Is(err, fs.ErrNotExist) {
			hint = "`assay init` writes one to start from"
		}
		r.found.Add(assay.Place{File: name}, hint, "read the study: %s", reason(err))
		return nil, r.found
	}
	if suffix := strings.ToLower(path.Ext(name)); slices.Contains([]string{".csv", ".tsv", ".jsonl", ".parquet", ".xlsx"}, suffix) {
		r.found.Add(assay.Place{File: name}, "assay init DIR --from "+name+" makes a study of a table", "this is a table, and no study")
		return nil, r.found
	}
	root, problems := decode.Parse(name, text)
	r.found = append(r.found, problems...)
	if root == nil || len(problems.Errors()) > 0 {
		return nil, r.found
	}
	if root.Kind != decode.Map {
		r.Wrong(root, "a map that starts with `study: NAME`")
		return nil, r.found
	}
	profiles := slices.Clone(pairsOf(root.Child("profiles")))
	expand(root)
	r.override(root, o)
	expand(root) // what was set may be written in short, too
	r.Into(root, r.study)
	r.otherProfiles(name, text, profiles, o.Profile, r.found)
	r.loadLanes()
	r.expandLanes()
	r.travel(o.Mode)
	r.loadTexts(reflect.ValueOf(r.study).Elem())
	r.loadPairs()
	r.importStages(o.Imported)
	r.check()
	return r.study, r.found.Sort()
}

// travel makes everything travel in one mode.
func (r *reader) travel(m assay.Mode) {
	if m == "" {
		return
	}
	r.study.Mode = study.Mode(m)
	for i := range r.study.Stages {
		r.study.Stages[i].Mode = ""
	}
	for i := range r.study.Lanes {
		r.study.Lanes[i].Mode = ""
	}
}

// reader is one reading of one study.
type reader struct {
	decode.Decoder
	fsys  fs.FS
	study *study.Study
	found assay.Problems
}

// maxText bounds a prompt, rubric or lane file.
const maxText = 4 << 20

func (r *reader) loadLanes() {
	l := &r.study.LaneSpecs
	if l.File == "" {
		return
	}
	text, ok := r.load(l.File, l.At)
	if !ok {
		return
	}
	root, problems := decode.Parse(l.File, []byte(text))
	r.found = append(r.found, problems...)
	if root == nil {
		return
	}
	if lanes := root.Child("lanes"); lanes != nil {
		for _, p := range root.Pairs {
			switch p.Key {
			case "lanes":
			case "lane_defaults":
				r.study.LaneDefaults.Node = p.Value
			default:
				r.UnknownKey(p, []string{"lane_defaults", "lanes"})
			}
		}
		root = lanes
	}
	file := l.File
	l.Read(&r.Decoder, root)
	l.File = file
}

// loadTexts reads the file behind every text that names one.
func (r *reader) loadTexts(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			r.loadTexts(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			r.loadTexts(v.Index(i))
		}
	case reflect.Struct:
		if t, ok := v.Addr().Interface().(*study.Text); ok {
			r.loadText(t)
			return
		}
		if s, ok := v.Addr().Interface().(*study.RawSchema); ok {
			s.JSON = r.loadSchema(*s)
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				r.loadTexts(v.Field(i))
			}
		}
	}
}

func (r *reader) loadText(t *study.Text) {
	if t.File == "" || t.Text != "" {
		return
	}
	text, ok := r.load(t.File, t.At)
	if !ok {
		return
	}
	t.Raw = text
	t.Text, t.Body = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), assay.Place{File: t.File, Line: 1, Col: 1}
}

func (r *reader) loadSchema(s study.RawSchema) json.RawMessage {
	if s.File == "" {
		return s.JSON
	}
	text, ok := r.load(s.File, s.At)
	if !ok {
		return nil
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		r.found.Add(assay.Place{File: s.File, Line: 1, Col: 1}, "", "not a JSON Schema: %s", err)
		return nil
	}
	return json.RawMessage(text)
}

// load reads a text file that the study names at a place.
func (r *reader) load(name string, at assay.Place) (string, bool) {
	return r.loadUpTo(name, at, maxText)
}

func (r *reader) loadUpTo(name string, at assay.Place, most int) (string, bool) {
	name = assay.CleanPath(name) // as a snapshot finds it again
	text, err := readFile(r.fsys, name, int64(most)+1)
	if err != nil {
		hint, why := "files are named relative to the study's folder", reason(err)
		if remote, ok := errors.AsType[assay.Problems](err); ok {
			hint, why = remote[0].Hint, remote[0].What
		}
		r.found.Add(at, hint, "read %s: %s", name, why)
		return "", false
	}
	if len(text) > most {
		r.found.Add(at, "", "%s is larger than %d MB", name, most>>20)
		return "", false
	}
	r.study.Loaded = append(r.study.Loaded, name)
	if !utf8.Valid(text) {
		r.found.Add(at, "save it as UTF-8", "%s is not UTF-8 text", name)
		return "", false
	}
	return strings.TrimPrefix(string(text), "\ufeff"), true
}

func readFile(fsys fs.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(assay.CleanPath(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("it is a folder")
	}
	return io.ReadAll(io.LimitReader(f, most))
}

// reason returns the short cause of a file error: the problem names the path already.
func reason(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "no such file"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return fmt.Sprint(err)
}
