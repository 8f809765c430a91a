package batchfile

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"assay/internal/assay"
	"assay/internal/study/catalog"
	"assay/internal/study/inputs"
	"assay/internal/study/prompt"
)

// Questions are the rows of a table that become the requests of a file.
type Questions struct {
	Source   *inputs.Source
	Input    string // the table's name among the source's
	Template *prompt.Template
	System   string
	Lane     assay.Lane
	Vendor   catalog.Vendor
	Wire     assay.Wire
}

const (
	maxPromptBytes = 32 << 20
	maxBadRows     = 20 // rows that are reported: as many as a person reads
)

// columns returns those that are asked as they are if there is no template, the first that is there.
func columns() []string { return []string{"text", "question", "prompt"} }

// ErrNoColumn is the error for a table with none of the columns that are asked as they are.
var ErrNoColumn = errors.New("no column text, question or prompt")

// Template returns what every row of an input is put into: the text of a file, or the column of questions where the file has no
// name.
func Template(source *inputs.Source, input, file, text string) (*prompt.Template, error) {
	fields, open, problems := source.Fields(input)
	if len(problems.Errors()) > 0 {
		return nil, problems.Errors()
	}
	if file == "" {
		column := columns()[0]
		if i := slices.IndexFunc(columns(), func(c string) bool { return slices.Contains(fields, c) }); i >= 0 {
			column = columns()[i]
		}
		text = "{{ " + column + " }}"
	}
	t, problems := prompt.Parse(assay.Place{File: file, Line: 1, Col: 1}, text)
	if len(problems.Errors()) > 0 {
		return nil, problems.Errors()
	}
	scope := prompt.Scope{Fields: map[string]prompt.Shape{}, Open: open}
	for _, c := range fields {
		scope.Fields[c] = prompt.Shape{}
	}
	if problems := t.Check(scope); len(problems.Errors()) > 0 {
		if file == "" {
			return nil, ErrNoColumn
		}
		return nil, problems.Errors()
	}
	return t, nil
}

// Check reads all questions before anything is written. It returns how many there are, and what is wrong with them.
func (q *Questions) Check(ctx context.Context) (int, assay.Problems) {
	n, ids := 0, q.Vendor.IDs()
	var bad assay.Problems
	problems := q.Source.Walk(ctx, q.Input, func(it assay.Item) bool {
		n++
		q.check(it, ids, &bad)
		return len(bad) < maxBadRows
	})
	return n, append(problems.Errors(), bad...).Sort()
}

func (q *Questions) check(it assay.Item, ids *regexp.Regexp, bad *assay.Problems) {
	if ids != nil && !ids.MatchString(it.ID) {
		bad.Add(it.Place, "--id names another column", "the id %q: %s takes %s", it.ID, q.Lane.Provider, q.Vendor.IDWords)
	}
	if _, err := q.request(it); err != nil {
		bad.Add(it.Place, "", "%s", err)
	}
}

func (q *Questions) request(it assay.Item) (*assay.Request, error) {
	text, err := q.Template.Render(nil, prompt.Values{Fields: it.Fields}, maxPromptBytes)
	if err != nil {
		return nil, err
	}
	p := &assay.Prompt{System: q.System, Messages: []assay.Message{{Role: assay.RoleUser, Text: string(text)}}}
	return &assay.Request{Lane: &q.Lane, Wire: &q.Wire, Prompt: p}, nil
}

// Write writes all questions, under their ids, and closes the writer.
func (q *Questions) Write(ctx context.Context, out *Writer) error {
	for it, err := range q.Source.Items(ctx, q.Input) {
		if err != nil {
			return err
		}
		req, err := q.request(it)
		if err != nil {
			return err
		}
		if err := out.Add(it.ID, req); err != nil {
			return err
		}
	}
	return out.Close()
}
