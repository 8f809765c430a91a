package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results"
	"assay/internal/study/inputs"
)

// ColumnError says which column of a table is not there.
type ColumnError struct{ What, Hint string }

func (e *ColumnError) Error() string { return e.What }

// AnswerColumns are the columns that a table of answers may have.
func AnswerColumns() []string { return columnsOf[results.Answer]() }

// columnNames says under which names a table has the columns of ours; a name that is not there is its own.
type columnNames map[string]string

func (c columnNames) of(column string) string { return cmp.Or(c[column], column) }

// collected are the columns of what `assay batch collect` writes.
func collected() columnNames {
	return columnNames{"item": "custom_id", "lane": "model", "answered_model": "model", "ending": "status", "fault_message": "error"}
}

// names finds the columns of the one table that is read, as its user says or as `assay batch collect` writes them.
func (f Form) names(ctx context.Context, from From) (columns columnNames, ours bool, err error) {
	head, err := f.head(ctx, from)
	if err != nil || len(head) == 0 {
		return nil, false, err
	}
	for _, name := range slices.Sorted(maps.Keys(from.Columns)) {
		if !slices.Contains(AnswerColumns(), name) {
			return nil, false, &ColumnError{What: fmt.Sprintf("--columns: no column of ours is called %q", name),
				Hint: cmp.Or(assay.DidYouMean(name, AnswerColumns()), "item, lane and text must be there; docs/export.md lists all")}
		}
		if theirs := from.Columns[name]; !slices.Contains(head, theirs) {
			return nil, false, &ColumnError{What: fmt.Sprintf("%s has no column %q", from.File, theirs), Hint: cmp.Or(assay.DidYouMean(theirs, head), "it has "+shownNames(head))}
		}
	}
	columns = columnNames{}
	has := func(name string) bool { return slices.Contains(head, name) }
	if ours = has("custom_id") && has("status") && has("line") && !has("item"); ours {
		maps.Copy(columns, collected())
	}
	maps.Copy(columns, from.Columns)
	for _, name := range []string{"item", "lane", "text"} {
		if has(columns.of(name)) || name == "lane" && from.Lane != "" {
			continue
		}
		hint := fmt.Sprintf("it has %s; name it with --columns %s=COLUMN", shownNames(head), name)
		if name == "lane" {
			hint += ", or give all rows one with --lane NAME"
		}
		return nil, false, &ColumnError{What: fmt.Sprintf("%s has no column %q", from.File, name), Hint: hint}
	}
	return columns, ours, nil
}

// maxNames is how many columns a message lists.
const maxNames = 12

func shownNames(head []string) string {
	var out []string
	for _, name := range head[:min(len(head), maxNames)] {
		out = append(out, assay.Clean(name, maxShownID))
	}
	return strings.Join(out, ", ")
}

// head is the columns of the one table that is read: of JSON lines, the fields of the first. None, where it has no row that
// can be read: the reader says why.
func (f Form) head(ctx context.Context, from From) ([]string, error) {
	if f == Parquet {
		names, _, _ := inputs.Open(from.Files, map[string]inputs.Spec{"rows": {File: from.File, Format: string(Parquet)}}).Fields("rows")
		return names, ctx.Err()
	}
	file, err := from.Files.Open(from.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if f == CSV {
		return csvHead(file)
	}
	line, err := readLine(bufio.NewReader(file))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(line, &fields) != nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(fields)), nil
}

func csvHead(file fs.File) ([]string, error) {
	cells, err := newCSVReader(file).record()
	if err != nil {
		return nil, nil
	}
	head := slices.Clone(cells)
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	return head, nil
}
