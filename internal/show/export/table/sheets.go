package table

import (
	"bytes"
	"fmt"

	"assay/internal/show/export/folder"
)

// Sheets writes many CSV files by turns, each with the same columns.
type Sheets[T any] struct {
	files *folder.Appender
	begun map[string]bool
}

// NewSheets begins to write CSV files into a tree.
func NewSheets[T any](t *folder.Tree) *Sheets[T] {
	return &Sheets[T]{folder.NewAppender(t), map[string]bool{}}
}

// Add appends a row to a file.
func (s *Sheets[T]) Add(file string, row *T) error {
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
	return s.files.Write(file, b.Bytes())
}

// Close ends all files.
func (s *Sheets[T]) Close() error { return s.files.Close() }
