package inputs

import (
	"fmt"
	"strconv"
	"strings"

	"assay/internal/assay"
)

// Spec describes where the items of one input come from and which of them count. Exactly one of File (or Files), Of,
// All and Items names the source. A field is named by its column or by a dotted path that reaches inside
// (metadata.chunk_id).
type Spec struct {
	Name string
	At   assay.Place // where the study names the input

	File   string           // a file or a folder
	Files  string           // a glob inside the folder (* ? [a-z] and ** for any depth); empty: the folder's own files
	Format string           // overrides the suffix: lines, text, csv, tsv, jsonl, json or parquet
	Of     string           // another input, of which this is a slice
	All    []string         // other inputs, one after the other
	Items  []map[string]any // items written in the study itself

	ID          string // the field that is the id
	Text        string // the field that prompts call `text`
	Rows        []Range
	Join        []Join
	Cluster     string // the field that is the unit of error bars; empty: the item itself
	Expect      string // the right answer of every item
	ExpectField string // the field that holds the right answer
	Where       func(assay.Item) (bool, error)
	Sample      *Sample
	Limit       int  // 0: all
	Repeated    bool // ids may repeat: the rows are not items but refer to items
}

// Range is a run of rows, both ends counted from 1 and included. To 0 means up to the end.
type Range struct {
	From, To int
}

// Sample asks for N items chosen by a hash of seed and id: the choice depends neither on the order of the file nor on N
// (a smaller sample is part of a larger one), and hardly changes when the file grows.
type Sample struct {
	N    int
	Seed uint64
}

// Join puts the row of another source whose Right field equals the item's Left field under the field As.
type Join struct {
	At      assay.Place // empty: the input's
	With    string      // the name of an input, else a file
	Left    string      // a field of the item; `id` is its id where it has no such field
	Right   string      // a field of the other row, likewise
	As      string      // empty: the input's name or the file's stem
	Missing Missing
}

// Missing is the treatment of an item without a partner in a join.
type Missing string

// What may become of an item without a partner.
const (
	MissingProblem Missing = "problem" // the default
	MissingKeep    Missing = "keep"    // the field is null
)

// ParseRows reads ranges as a study writes them: "1-100", "5", "10-" or several with commas.
func ParseRows(s string) ([]Range, error) {
	var out []Range
	for part := range strings.SplitSeq(s, ",") {
		r, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("rows %q: %w", s, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseRange(s string) (Range, error) {
	from, to, isRange := strings.Cut(s, "-")
	a, err := strconv.Atoi(strings.TrimSpace(from))
	if err != nil || a < 1 {
		return Range{}, fmt.Errorf("want ranges such as 1-100, 5 or 10-, counted from 1; got %q", s)
	}
	if !isRange {
		return Range{a, a}, nil
	}
	if to = strings.TrimSpace(to); to == "" {
		return Range{From: a}, nil
	}
	b, err := strconv.Atoi(to)
	if err != nil || b < a {
		return Range{}, fmt.Errorf("want the end of %q to be a number from %d up", s, a)
	}
	return Range{a, b}, nil
}

// String returns the range as a study writes it.
func (r Range) String() string {
	switch r.To {
	case 0:
		return fmt.Sprintf("%d-", r.From)
	case r.From:
		return strconv.Itoa(r.From)
	}
	return fmt.Sprintf("%d-%d", r.From, r.To)
}

func (j Join) place(of Spec) assay.Place {
	if j.At != (assay.Place{}) {
		return j.At
	}
	return of.At
}

// as returns the field that takes the joined row.
func (j Join) as() string {
	if j.As != "" {
		return j.As
	}
	return stem(baseName(j.With))
}
