package export

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

// growing are files of a tree that are written to by turns.
type growing struct {
	tree *Tree
	open map[string]io.WriteCloser
	used []string // names of open files, the one that was used last at the end
}

func newGrowing(t *Tree) *growing { return &growing{tree: t, open: map[string]io.WriteCloser{}} }

// write appends to a file.
func (g *growing) write(name string, text []byte) error {
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

func (g *growing) close() error {
	var all error
	for _, f := range g.open {
		all = errors.Join(all, f.Close())
	}
	g.open, g.used = map[string]io.WriteCloser{}, nil
	return all
}

// documents writes many JSON documents by turns; each has a list that grows, so that none is held in memory.
type documents struct {
	files *growing
	begun map[string]int
}

// newDocuments begins to write documents into a tree.
func newDocuments(t *Tree) *documents { return &documents{newGrowing(t), map[string]int{}} }

// Add appends an element to the list of a document. A document that is a list alone has no name for it.
func (l *documents) Add(file, list string, element any) error {
	text, err := marshal(element)
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
	return l.files.write(file, append([]byte(before), text...))
}

// Close ends all documents. Rest gives the other fields of a document, as a struct or map; nil for a list alone.
func (l *documents) Close(rest func(file string) any) error {
	for _, file := range slices.Sorted(maps.Keys(l.begun)) {
		end := []byte("\n]\n")
		if fields := rest(file); fields != nil {
			text, err := marshal(fields)
			if err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
			end = append([]byte("\n], "), append(text[1:], '\n')...) // the fields without their opening brace
		}
		if err := l.files.write(file, end); err != nil {
			return err
		}
	}
	return l.files.close()
}

// marshal is JSON that leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// lineFiles writes many files of lines by turns.
type lineFiles struct{ files *growing }

// newLineFiles begins to write files of lines into a tree.
func newLineFiles(t *Tree) *lineFiles { return &lineFiles{newGrowing(t)} }

// Add appends a line to a file.
func (x *lineFiles) Add(file string, line []byte) error {
	return x.files.write(file, append(slices.Clip(line), '\n'))
}

// Close ends all files.
func (x *lineFiles) Close() error { return x.files.close() }

// sheets writes many CSV files by turns, each with the same columns.
type sheets[T any] struct {
	files *growing
	begun map[string]bool
}

// newSheets begins to write CSV files into a tree.
func newSheets[T any](t *Tree) *sheets[T] { return &sheets[T]{newGrowing(t), map[string]bool{}} }

// Add appends a row to a file.
func (s *sheets[T]) Add(file string, row *T) error {
	var b bytes.Buffer
	table := newCSVTable[T](&b)
	table.begun = s.begun[file]
	s.begun[file] = true
	if err := table.Write(row); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	if err := table.Close(); err != nil {
		return err
	}
	return s.files.write(file, b.Bytes())
}

// Close ends all files.
func (s *sheets[T]) Close() error { return s.files.close() }
