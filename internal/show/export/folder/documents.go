package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// maxOpen is how many files are open at once while many grow.
const maxOpen = 64

// Appender are files of a tree that are written to by turns.
type Appender struct {
	tree *Tree
	open map[string]io.WriteCloser
	used []string // names of open files, the one that was used last at the end
}

func NewAppender(t *Tree) *Appender { return &Appender{tree: t, open: map[string]io.WriteCloser{}} }

// Write appends to a file.
func (g *Appender) Write(name string, text []byte) error {
	f, ok := g.open[name]
	if ok {
		i := slices.Index(g.used, name)
		g.used = append(slices.Delete(g.used, i, i+1), name)
	} else {
		if len(g.used) == maxOpen {
			if err := g.open[g.used[0]].Close(); err != nil {
				return err
			}
			delete(g.open, g.used[0])
			g.used = slices.Delete(g.used, 0, 1)
		}
		var err error
		if f, err = g.tree.Append(name); err != nil {
			return err
		}
		g.open[name], g.used = f, append(g.used, name)
	}
	_, err := f.Write(text)
	return err
}

func (g *Appender) Close() error {
	var all error
	for _, f := range g.open {
		all = errors.Join(all, f.Close())
	}
	g.open, g.used = map[string]io.WriteCloser{}, nil
	return all
}

// Documents writes many JSON documents by turns; each has a list that grows, so that none is held in memory.
type Documents struct {
	files *Appender
	begun map[string]int
}

// NewDocuments begins to write documents into a tree.
func NewDocuments(t *Tree) *Documents { return &Documents{NewAppender(t), map[string]int{}} }

// Add appends an element to the list of a document. A document that is a list alone has no name for it.
func (l *Documents) Add(file, list string, element any) error {
	text, err := Marshal(element)
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	before := ",\n"
	if l.begun[file] == 0 {
		before = "[\n"
		if list != "" {
			before = fmt.Sprintf("{%q: [\n", list)
		}
	}
	l.begun[file]++
	return l.files.Write(file, append([]byte(before), text...))
}

// Close ends all documents. Rest gives the other fields of a document, as a struct or map; nil for a list alone.
func (l *Documents) Close(rest func(file string) any) error {
	for _, file := range slices.Sorted(maps.Keys(l.begun)) {
		end := []byte("\n]\n")
		if fields := rest(file); fields != nil {
			text, err := Marshal(fields)
			if err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
			end = append([]byte("\n], "), append(text[1:], '\n')...) // the fields without their opening brace
		}
		if err := l.files.Write(file, end); err != nil {
			return err
		}
	}
	return l.files.Close()
}

// Marshal is JSON that leaves <, > and & as they are.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// LineFiles writes many files of lines by turns.
type LineFiles struct{ files *Appender }

// NewLineFiles begins to write files of lines into a tree.
func NewLineFiles(t *Tree) *LineFiles { return &LineFiles{NewAppender(t)} }

// Add appends a line to a file.
func (x *LineFiles) Add(file string, line []byte) error {
	return x.files.Write(file, append(slices.Clip(line), '\n'))
}

// Close ends all files.
func (x *LineFiles) Close() error { return x.files.Close() }
