// Package convert makes a study from the configuration of another program.
package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"assay/internal/assay"
	"assay/internal/study/catalog"
)

// Found is where a study reaches a file that a configuration names.
type Found struct {
	Path   string   // as the study is to write it
	Fields []string // of its first items
	First  string   // the id of the first
}

// World holds what a configuration is checked against.
type World struct {
	Catalog *catalog.Catalog
	Today   catalog.Date
	Find    func(path string) (Found, bool) // looks for a file or a folder; of one that is not there, only Path is known

	// Generations looks for answers in folders of generations, and returns the models that they are of; nil: no one looks.
	Generations func(dirs []string) (models []string)
}

// Draft is a study made from a configuration.
type Draft struct {
	From string   // which program it is of
	YAML []byte   // of the study, with a comment for all that was left out
	Left []string // what was left out, a line each

	Generations []string // folders of generations whose items and answers the study reads as ItemsFile and AnswersFile
}

// The files beside a study that generations are written to.
const (
	ItemsFile   = "inputs.jsonl"  // id, text and group: the statement
	AnswersFile = "answers.jsonl" // item, lane, text
)

// maxConfig bounds a configuration; real ones have some kilobytes.
const maxConfig = 1 << 20

// ErrUnknown is the error for a file that is no configuration that can be carried over.
var ErrUnknown = errors.New(
	"it is neither a file of lanes (experiment: models: lanes:) nor one of a specification (spec_name, spec_path, and a judge's model)")

// Read makes a study from a configuration. The program it belongs to is recognised by its keys.
func Read(text []byte, w World) (*Draft, error) {
	if len(text) > maxConfig {
		return nil, fmt.Errorf("it has more than %d MB", maxConfig>>20)
	}
	var doc map[string]any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("it is no YAML map: %s", firstLine(err))
	}
	d := &drafter{World: w}
	switch {
	case doc["experiment"] != nil:
		return d.lanesFile(doc)
	case doc["spec_path"] != nil || doc["spec_name"] != nil:
		return d.specFile(doc)
	}
	return nil, ErrUnknown
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return assay.Clean(line, maxComment)
}

// drafter writes a study.
type drafter struct {
	World
	b     strings.Builder
	left  []string
	dirs  []string          // of generations that the study reads
	names map[string]bool   // of lanes
	same  map[string]string // what a lane asks: its name
}

// maxComment bounds one comment.
const maxComment = 300

func (d *drafter) line(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

// omit writes a comment for what is left out.
func (d *drafter) omit(indent, format string, args ...any) {
	text := assay.Clean(fmt.Sprintf(format, args...), maxComment)
	d.left = append(d.left, text)
	d.line("%s# Not carried over: %s", indent, text)
}

// remark writes a comment that asks for nothing.
func (d *drafter) remark(indent, format string, args ...any) {
	d.line("%s# %s", indent, assay.Clean(fmt.Sprintf(format, args...), maxComment))
}

func (d *drafter) draft(from string) *Draft {
	return &Draft{From: from, YAML: []byte(d.b.String()), Left: d.left, Generations: d.dirs}
}

// quoted returns a value in JSON, which is YAML.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return `""`
	}
	return string(text)
}

// name makes a name of letters, digits, dots, dashes and underscores out of any text.
func name(text, otherwise string) string {
	out := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._-", c) {
			return c
		}
		return '-'
	}, text)
	out = strings.Trim(out, "._-")
	if out = out[:min(len(out), maxName)]; out == "" {
		return otherwise
	}
	return out
}

const maxName = 64

// text returns a value as text; empty where it is none.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case nil, map[string]any, []any:
		return ""
	}
	return fmt.Sprint(v)
}

// object returns a value as a map; nil where it is none.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// list returns a value as a list; nil where it is none.
func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// number returns a value as a number.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	}
	return 0, false
}

// rest comments on the keys of a map that were not looked at.
func (d *drafter) rest(indent, where string, m map[string]any, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(known, key) && m[key] != nil {
			d.omit(indent, "%s.%s", where, key)
		}
	}
}
