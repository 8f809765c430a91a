package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"assay/internal/assay"
	"assay/internal/keep/store"
	"assay/internal/show/cli/term"
)

type sqlFlags struct {
	home      homeFlags
	json, csv bool
	rehearsal bool
	short     bool // keys in a table are shortened
}

func (f *sqlFlags) register(c *cobra.Command) {
	f.home.register(c)
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object per row")
	c.Flags().BoolVar(&f.csv, "csv", false, "print CSV")
}

func sqlCommand(w *World) *cobra.Command {
	var f sqlFlags
	c := &cobra.Command{
		Use:     "sql QUERY",
		GroupID: groupLook,
		Short:   "Query the ledger in SQL, read-only",
		Long: "Queries the ledger in SQL; nothing can be written. Views for people: answers, verdicts_named, jobs_named,\n" +
			"lane_status, lane_coverage, run_errors, run_spend.\n\n" +
			"  assay sql 'SELECT lane, status, count, cache_hits FROM lane_status'",
		Args: args("QUERY"),
		RunE: func(c *cobra.Command, args []string) error {
			h, err := f.open(c.Context(), w)
			if err != nil {
				return err
			}
			defer h.Close()
			return printQuery(c.Context(), w, h, args[0], f)
		},
	}
	f.register(c)
	c.Flags().BoolVar(&f.rehearsal, "rehearsal", false, "ask the ledger of the rehearsals")
	return c
}

// open opens the ledger that is asked: that of the rehearsals where there has been nothing else.
func (f *sqlFlags) open(ctx context.Context, w *World) (*home, error) {
	if !f.rehearsal && f.home.exists(w, false) {
		h, err := f.home.open(ctx, w, false)
		if err != nil || !f.home.exists(w, true) {
			return h, err
		}
		if runs, err := h.Ledger.Pages.RunsPage(ctx, 0, 1); err != nil || len(runs) > 0 {
			return h, err
		}
		if err := h.Close(); err != nil {
			return nil, err
		}
	}
	if !f.home.exists(w, true) {
		return nil, usage("assay run STUDY begins one", "there is no run yet")
	}
	fmt.Fprintln(w.Stderr, "REHEARSAL: this is the ledger of the rehearsals")
	return f.home.open(ctx, w, true)
}

func printQuery(ctx context.Context, w *World, h *home, query string, f sqlFlags) error {
	var t term.Table
	out := assay.NewCSV(w.rawOut())
	lines := json.NewEncoder(w.Stdout)
	lines.SetEscapeHTML(false)
	err := h.Ledger.Reader.Query(ctx, query, func(columns []string, values []any) error {
		f.spellKeys(columns, values)
		switch {
		case f.json:
			return lines.Encode(rowObject{columns, values})
		case f.csv:
			if t.Head == nil {
				t.Head = columns
				if err := out.Write(columns); err != nil {
					return err
				}
			}
			return out.Write(csvRow(values))
		}
		t.Head = columns
		t.Add(cells(values)...)
		return nil
	})
	if err != nil {
		if errors.Is(err, store.ErrNoQuery) {
			return usage("nothing can be written through `assay sql`", "%s", err)
		}
		return usage("docs/ledger.md has the tables and views", "%s", err)
	}
	if f.json {
		return nil
	}
	if f.csv {
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
func (f sqlFlags) spellKeys(columns []string, values []any) {
	for i, c := range columns {
		b, ok := values[i].([]byte)
		if !ok || len(b) != len(assay.Key{}) || c != "key" && !strings.HasSuffix(c, "_key") {
			continue
		}
		k := assay.Key(b)
		values[i] = k.String()
		if f.short && !f.json && !f.csv {
			values[i] = k.Short()
		}
	}
}

func cells(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = cell(v)
	}
	return out
}

// cell is a value as text: bytes that are no text as hex, nothing as nothing.
func cell(v any) string {
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

// csvRow keeps a spreadsheet from taking a text for a formula.
func csvRow(values []any) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = cell(v)
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
			value = cell(b)
		}
		if err := write.Encode(value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
