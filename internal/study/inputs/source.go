package inputs

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"time"

	"assay/internal/assay"
)

// Source reads the inputs of one study. It keeps nothing of them but digests, and may be used from several goroutines.
type Source struct {
	// Attach adds to an item of an input what requests about it show. What is wrong with that concerns the item alone. Nil: nothing
	// is shown.
	Attach func(input string, it *assay.Item) assay.Problems

	Now func() time.Time // nil: digests are not kept

	fsys    fs.FS
	specs   map[string]Spec
	caps    caps
	digests *digests
}

// caps bound what is held in memory.
type caps struct {
	value int // bytes of a line, a CSV record, a JSON value or a file that is one item
	table int // bytes of the side of a join that is held
	shown int // problems reported per input
}

func defaultCaps() caps { return caps{value: 32 << 20, table: 256 << 20, shown: 20} }

// stream is a sequence of items that may be read more than once. An error of type assay.Problems concerns one row or
// one file, and the sequence goes on after it; any other error is the last thing in it.
type stream = iter.Seq2[assay.Item, error]

// Open makes a source of inputs by name. Nothing is read yet; the paths in the specs are looked up in fsys.
func Open(fsys fs.FS, specs map[string]Spec) *Source {
	own := maps.Clone(specs)
	for name, spec := range own {
		spec.Name = name
		own[name] = spec
	}
	return &Source{fsys: fsys, specs: own, caps: defaultCaps(), digests: &digests{}}
}

// Items streams one input in the order of its file. The sequence ends after its first error, which is an
// assay.Problems where the input itself is at fault. Equal ids are found by Check, not here. The fields of an item are
// the reader's to change at their top level; records and lists in them may be shared.
func (s *Source) Items(ctx context.Context, name string) iter.Seq2[assay.Item, error] {
	return func(yield func(assay.Item, error) bool) {
		spec, ok := s.specs[name]
		if !ok {
			yield(assay.Item{}, fmt.Errorf("read input %q: the study has no such input", name))
			return
		}
		if problems := s.shape(spec); len(problems) > 0 {
			yield(assay.Item{}, problems)
			return
		}
		for it, err := range s.stream(ctx, spec) {
			if err == nil {
				err = s.attach(name, &it)
			}
			if err != nil {
				yield(assay.Item{}, disinherit(err))
				return
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// attach adds what requests about an item show; the error is of type assay.Problems.
func (s *Source) attach(input string, it *assay.Item) error {
	if s.Attach == nil {
		return nil
	}
	if problems := s.Attach(input, it); len(problems) > 0 {
		return problems
	}
	return nil
}

// Count returns the number of items of an input.
func (s *Source) Count(ctx context.Context, name string) (int, error) {
	n := 0
	bare := *s
	bare.Attach = nil
	for _, err := range bare.Items(ctx, name) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// Population returns the number of items of an input without its sample and its limit.
func (s *Source) Population(ctx context.Context, name string) (int, error) {
	whole := *s
	whole.specs = maps.Clone(s.specs)
	spec := whole.specs[name]
	spec.Sample, spec.Limit = nil, 0
	whole.specs[name] = spec
	return whole.Count(ctx, name)
}

// stream returns the whole way of one input; the package comment lists the steps.
func (s *Source) stream(ctx context.Context, spec Spec) stream {
	var up stream
	switch {
	case spec.Of != "":
		up = inherit(s.stream(ctx, s.specs[spec.Of]))
	case len(spec.All) > 0:
		up = inherit(s.union(ctx, spec))
	default:
		up = s.read(ctx, spec)
	}
	up = pick(up, spec.Rows)
	for _, j := range spec.Join {
		up = s.joined(ctx, up, spec, j)
	}
	up = dress(up, spec)
	up = where(up, spec.Where)
	up = sample(up, spec.Sample)
	return limit(up, spec.Limit)
}

// sourceField is the field with the input that an item of a union comes from, where the item has no such field of its
// own.
const sourceField = "input"

// union streams other inputs one after the other. A field that only some of them have is nothing in the others.
func (s *Source) union(ctx context.Context, spec Spec) stream {
	return func(yield func(assay.Item, error) bool) {
		names := s.sourceFields(spec).names
		for _, name := range spec.All {
			for it, err := range s.stream(ctx, s.specs[name]) {
				if err == nil {
					fill(it.Fields, names, name)
				}
				if !yield(it, err) {
					return
				}
			}
		}
	}
}

func fill(fields map[string]any, names []string, from string) {
	if _, own := fields[sourceField]; !own {
		fields[sourceField] = from
	}
	for _, name := range names {
		if _, has := fields[name]; !has {
			fields[name] = nil
		}
	}
}

// read makes items of the rows of a spec's own source.
func (s *Source) read(ctx context.Context, spec Spec) stream {
	return func(yield func(assay.Item, error) bool) {
		var ids identity
		n := 0
		for r, err := range s.rows(ctx, spec) {
			if n++; n%64 == 0 && ctx.Err() != nil {
				yield(assay.Item{}, fmt.Errorf("read input %q: %w", spec.Name, ctx.Err()))
				return
			}
			var it assay.Item
			if err == nil {
				it, err = ids.item(r, spec.ID)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// inherited marks the problems of another input, which that input's own check reports.
type inherited struct{ error }

func inherit(up stream) stream {
	return func(yield func(assay.Item, error) bool) {
		for it, err := range up {
			if err != nil {
				err = inherited{disinherit(err)}
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

func disinherit(err error) error {
	if i, ok := err.(inherited); ok {
		return i.error
	}
	return err
}
