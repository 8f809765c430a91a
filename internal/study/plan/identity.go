package plan

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/inputs"
)

// Identity is how the items of a table are told apart.
type Identity struct {
	Input, File string
	Column      string // that is the id; empty: the numbers of the rows are
	Other       string // a column whose name is that of an id, where none is; empty: there is none
}

// Identities returns how the items of the tables of a study are told apart.
func (d *Input) Identities(ctx context.Context) ([]Identity, error) {
	var out []Identity
	for _, e := range d.Study.Inputs {
		in := e.Value
		suffix := cmp.Or(in.Format, strings.TrimPrefix(path.Ext(in.File), "."))
		if in.File == "" || !slices.Contains([]string{"csv", "tsv", "jsonl", "parquet"}, strings.ToLower(suffix)) {
			continue
		}
		for it, err := range d.Rows.Items(ctx, e.Name) {
			if err != nil {
				return nil, err
			}
			out = append(out, identityOf(e.Name, in.File, in.ID, it))
			break
		}
	}
	return out, nil
}

// identityOf looks at the first item of a table.
func identityOf(input, file, named string, it assay.Item) Identity {
	i := Identity{Input: input, File: file, Column: cmp.Or(named, inputs.OwnID(it.Fields))}
	if i.Column != "" {
		return i
	}
	for name := range it.Fields {
		if inputs.LooksLikeID(name) && (i.Other == "" || name < i.Other) {
			i.Other = name
		}
	}
	return i
}
