package inputs

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"

	"assay/internal/assay"
)

// table is the far side of a join, held in memory.
type table struct {
	rows   map[string]partner
	size   int
	broken bool // some of its rows are at fault: what is missing here may not be missing there
}

type partner struct {
	record map[string]any
	place  assay.Place
}

// errFull is the error of a table that passed its cap.
var errFull = errors.New("table is full")

// joined puts the partner of every item under a field. The table is loaded when the first item is asked for, and kept
// for a second reading of the same stream.
func (s *Source) joined(ctx context.Context, up stream, spec Spec, j Join) stream {
	var t *table
	return func(yield func(assay.Item, error) bool) {
		if t == nil {
			var problems []error
			if t, problems = s.table(ctx, up, spec, j); len(problems) > 0 {
				for _, p := range problems {
					if !yield(assay.Item{}, p) {
						return
					}
				}
			}
		}
		for it, err := range up {
			if err == nil {
				err = t.join(&it, j)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

func (t *table) join(it *assay.Item, j Join) error {
	as := j.as()
	if _, taken := it.Fields[as]; taken {
		return problem(it.Place, "choose another name with `as:`", "item %s already has the field %s that the join fills",
			quote(it.ID), quote(as))
	}
	v, _ := find(*it, j.Left)
	key, ok := textOf(v)
	p, found := t.rows[key]
	switch {
	case ok && found:
		it.Fields[as] = p.record
		return nil
	case j.Missing == MissingKeep || t.broken:
		it.Fields[as] = nil
		return nil
	case !ok:
		return problem(it.Place, "`missing: keep` allows it", "item %s has no field %s to join by", quote(it.ID), quote(j.Left))
	}
	return problem(it.Place, "`missing: keep` allows it", "item %s: no row of %s has %s = %s", quote(it.ID), j.With, j.Right, quote(key))
}

// table loads the far side. Where that passes the cap, only the rows that the near side names are held: the smaller
// side decides.
func (s *Source) table(ctx context.Context, up stream, spec Spec, j Join) (*table, []error) {
	t, problems, err := s.load(ctx, spec, j, func(string) bool { return true })
	if !errors.Is(err, errFull) {
		return t, problems
	}
	seed := maphash.MakeSeed()
	var wanted hashes
	for it, err := range up {
		if err == nil {
			v, _ := find(it, j.Left)
			if key, ok := textOf(v); ok {
				wanted.add(maphash.String(seed, key))
			}
		}
	}
	t, problems, err = s.load(ctx, spec, j, func(key string) bool { return wanted.has(maphash.String(seed, key)) })
	if errors.Is(err, errFull) {
		t.broken = true
		problems = append(problems, problem(j.place(spec), "join fewer or smaller rows",
			"the rows of %s that input %s joins take more than %d MB", j.With, spec.Name, s.caps.table>>20))
	}
	return t, problems
}

func (s *Source) load(ctx context.Context, spec Spec, j Join, wanted func(key string) bool) (*table, []error, error) {
	t := &table{rows: map[string]partner{}}
	var problems []error
	report := func(err error) {
		t.broken = true
		if len(problems) < 5*s.caps.shown {
			problems = append(problems, err)
		}
	}
	for it, err := range s.far(ctx, spec, j) {
		if err != nil {
			report(err)
			continue
		}
		v, _ := find(it, j.Right)
		key, ok := textOf(v)
		switch {
		case !ok:
			report(problem(it.Place, "", "the row has no field %s to join by", quote(j.Right)))
			continue
		case !wanted(key):
			continue
		}
		if first, twice := t.rows[key]; twice {
			report(problem(it.Place, "a join needs one row for each key", "%s = %s also stands at %s", j.Right, quote(key), first.place))
			continue
		}
		t.put(key, it)
		if t.size > s.caps.table {
			return t, problems, errFull
		}
	}
	return t, problems, nil
}

// far streams the other side of a join.
func (s *Source) far(ctx context.Context, spec Spec, j Join) stream {
	if other, ok := s.specs[j.With]; ok {
		return inherit(s.stream(ctx, other))
	}
	return s.stream(ctx, farSpec(spec, j))
}

// farSpec returns the input that a join with a file amounts to.
func farSpec(spec Spec, j Join) Spec {
	return Spec{Name: fmt.Sprintf("%s (joined with %s)", spec.Name, j.With), At: j.place(spec), File: j.With}
}

// put holds a row with its id, which is not always among its fields.
func (t *table) put(key string, it assay.Item) {
	record := it.Fields
	if _, has := record["id"]; !has {
		record = maps.Clone(record)
		record["id"] = it.ID
	}
	t.rows[key] = partner{record, it.Place}
	t.size += len(key) + 100 + sizeOf(record)
}

// sizeOf is about what a value takes in memory.
func sizeOf(v any) int {
	n := 16
	switch v := v.(type) {
	case string:
		n += 16 + len(v)
	case map[string]any:
		n += 48
		for k, w := range v {
			n += 16 + len(k) + sizeOf(w)
		}
	case []any:
		n += 24
		for _, w := range v {
			n += sizeOf(w)
		}
	}
	return n
}
