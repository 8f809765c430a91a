package batchrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"assay/internal/assay"
	"assay/internal/keep/artifacts"
	"assay/internal/keep/store/read"
	"assay/internal/send/batchfile"
)

// Line is a line of the kept file as the ledger knows it.
type Line struct {
	ID     string // its author's
	No     int    // in the file, from 1
	Lane   string
	Offset int64 // of its body
	Length int64
	Prompt int // bytes of what the model is shown
	Limit  int // output tokens; 0: none
}

// item returns the line as a row of the snapshot.
func item(e batchfile.Entry) assay.Item {
	return assay.Item{ID: e.ID, Fields: map[string]any{
		"line": int64(e.Line), "lane": e.Lane, "at": e.Offset, "bytes": int64(len(e.Body)), "prompt": int64(e.Prompt),
		"limit": int64(e.Params.MaxTokens),
	}}
}

func lineOf(it assay.Item) (Line, error) {
	l := Line{ID: it.ID}
	var ok [6]bool
	var no, prompt, limit int64
	l.Lane, ok[0] = it.Fields["lane"].(string)
	no, ok[1] = it.Fields["line"].(int64)
	l.Offset, ok[2] = it.Fields["at"].(int64)
	l.Length, ok[3] = it.Fields["bytes"].(int64)
	prompt, ok[4] = it.Fields["prompt"].(int64)
	limit, ok[5] = it.Fields["limit"].(int64)
	l.No, l.Prompt, l.Limit = int(no), int(prompt), int(limit)
	for _, good := range ok {
		if !good {
			return l, fmt.Errorf("line %q of the snapshot cannot be read", it.ID)
		}
	}
	return l, nil
}

// Lines walks over the lines of a batch run in the order of its file.
func Lines(ctx context.Context, ledger *read.Reader, run int64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for it, err := range ledger.Items(ctx, run, input) {
			var l Line
			if err == nil {
				l, err = lineOf(it)
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

// body reads a line's body out of the kept file.
func body(f artifacts.File, l Line) ([]byte, error) {
	if l.Offset < 0 || l.Length < 0 || l.Offset+l.Length > f.Size() {
		return nil, fmt.Errorf("line %d: the copy of the batch file that the run keeps is shorter than it was", l.No)
	}
	text := make([]byte, l.Length)
	if _, err := f.ReadAt(text, l.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: %w", l.No, err)
	}
	return text, nil
}
