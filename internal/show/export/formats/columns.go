package formats

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/find/results/rows"
	"assay/internal/show/export"
	"assay/internal/show/export/table"
)

// ColumnError is the error for a column that a table does not have.
type ColumnError struct{ What, Hint string }

func (e *ColumnError) Error() string { return e.What }

// AnswerColumns returns the columns that a table of answers may have.
func AnswerColumns() []string { return table.ColumnsOf[rows.Answer]() }

// collectColumns returns the columns of what `assay batch collect` writes.
func collectColumns() table.Names {
	return table.Names{"item": "custom_id", "lane": "model", "answered_model": "model", "ending": "status", "fault_message": "error"}
}

// columnsIn finds the columns of the one table that is read, as its user names them or as `assay batch collect` writes them; ours
// reports that it is one of those.
func columnsIn(ctx context.Context, f table.Form, from export.From) (columns table.Names, ours bool, err error) {
	head, err := f.Head(ctx, from.Files, from.File)
	if err != nil || len(head) == 0 {
		return nil, false, err
	}
	for _, name := range slices.Sorted(maps.Keys(from.Columns)) {
		if !slices.Contains(AnswerColumns(), name) {
			return nil, false, &ColumnError{What: fmt.Sprintf("--columns: no column of ours is called %q", name),
				Hint: cmp.Or(assay.DidYouMean(name, AnswerColumns()), "item, lane and text must be there; docs/data.md lists all")}
		}
		if theirs := from.Columns[name]; !slices.Contains(head, theirs) {
			return nil, false, &ColumnError{What: fmt.Sprintf("%s has no column %q", from.File, theirs),
				Hint: cmp.Or(assay.DidYouMean(theirs, head), "it has "+shownNames(head))}
		}
	}
	columns = table.Names{}
	has := func(name string) bool { return slices.Contains(head, name) }
	if ours = has("custom_id") && has("status") && has("line") && !has("item"); ours {
		maps.Copy(columns, collectColumns())
	}
	maps.Copy(columns, from.Columns)
	for _, name := range []string{"item", "lane", "text"} {
		if has(columns.Of(name)) || name == "lane" && from.Lane != "" {
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
		out = append(out, assay.Clean(name, export.MaxShown))
	}
	return strings.Join(out, ", ")
}
