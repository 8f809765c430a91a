package shell

import (
	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/cli/term"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// SqlFlags are the flags of a command that prints rows of the ledger.
type SqlFlags struct {
	Home      HomeFlags
	Json, Csv bool
	Rehearsal bool
	Short     bool // keys in a table are shortened
}

// Register adds the flags to a command.
func (f *SqlFlags) Register(c *cobra.Command) {
	f.Home.Register(c)
	c.Flags().BoolVar(&f.Json, "json", false, "print one JSON object per row")
	c.Flags().BoolVar(&f.Csv, "csv", false, "print CSV")
}

// Open opens the ledger that is asked: that of the rehearsals where there has been nothing else.
func (f *SqlFlags) Open(ctx context.Context, w *World) (*Home, error) {
	if !f.Rehearsal && f.Home.HasHome(w, false) {
		h, err := f.Home.OpenHome(ctx, w, false)
		if err != nil || !f.Home.HasHome(w, true) {
			return h, err
		}
		if runs, err := h.Ledger.Pages.RunsPage(ctx, 0, 1); err != nil || len(runs) > 0 {
			return h, err
		}
		if err := h.Close(); err != nil {
			return nil, err
		}
	}
	if !f.Home.HasHome(w, true) {
		if err := f.Home.Lost(w.Workspace()); err != nil {
			return nil, err
		}
		return nil, Usage("assay run STUDY begins one", "there is no run yet")
	}
	fmt.Fprintln(w.Stderr, "REHEARSAL: this is the ledger of the rehearsals")
	return f.Home.OpenHome(ctx, w, true)
}

// PrintQuery prints the rows of a query as a table, CSV or JSON.
func PrintQuery(ctx context.Context, w *World, h *Home, query string, f SqlFlags) error {
	var t term.Table
	out := assay.NewCSV(w.RawOut())
	lines := json.NewEncoder(w.Stdout)
	lines.SetEscapeHTML(false)
	err := h.Ledger.Reader.Query(ctx, query, func(columns []string, values []any) error {
		f.spellKeys(columns, values)
		switch {
		case f.Json:
			return lines.Encode(rowObject{columns, values})
		case f.Csv:
			if t.Head == nil {
				t.Head = columns
				if err := out.Write(columns); err != nil {
					return err
				}
			}
			return out.Write(CsvRow(values))
		}
		t.Head = columns
		t.Add(Cells(values)...)
		return nil
	})
	if err != nil {
		if errors.Is(err, store.ErrNoQuery) {
			return Usage("nothing can be written through `assay sql`", "%s", err)
		}
		return Usage("docs/data.md has the views", "%s", err)
	}
	if f.Json {
		return nil
	}
	if f.Csv {
		out.Flush()
		return out.Error()
	}
	if t.Len() == 0 {
		fmt.Fprintln(w.Stderr, "nothing")
		return nil
	}
	return t.Write(w.Stdout)
}

// spellKeys writes the keys of requests as every command does, so that `assay show` takes them.
func (f SqlFlags) spellKeys(columns []string, values []any) {
	for i, c := range columns {
		b, ok := values[i].([]byte)
		if !ok || len(b) != len(assay.Key{}) || c != "key" && !strings.HasSuffix(c, "_key") {
			continue
		}
		k := assay.Key(b)
		values[i] = k.String()
		if f.Short && !f.Json && !f.Csv {
			values[i] = k.Short()
		}
	}
}

// Cells returns values as texts.
func Cells(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = Cell(v)
	}
	return out
}

// Cell returns a value as text: bytes that are no text as hex, nothing as nothing.
func Cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []byte:
		if !utf8.Valid(v) || len(v) == 16 {
			return hex.EncodeToString(v)
		}
		return string(v)
	}
	return fmt.Sprint(v)
}

// CsvRow keeps a spreadsheet from taking a text for a formula.
func CsvRow(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = Cell(v)
		if _, text := v.(string); text {
			out[i] = assay.SafeCell(out[i])
		}
	}
	return out
}

// rowObject is a row as a JSON object, in the order of its columns.
type rowObject struct {
	columns []string
	values  []any
}

// MarshalJSON writes the columns as they were asked for.
func (r rowObject) MarshalJSON() ([]byte, error) {
	out := bytes.NewBufferString("{")
	write := json.NewEncoder(out)
	write.SetEscapeHTML(false)
	for i, c := range r.columns {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := write.Encode(c); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		value := r.values[i]
		if b, ok := value.([]byte); ok {
			value = Cell(b)
		}
		if err := write.Encode(value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
