package prompt

import (
	"fmt"

	"assay/internal/assay"
)

// maxSteps bounds the work of one rendering: about one step for each node, value and 256 bytes handled.
const maxSteps = 1_000_000

// run is one rendering.
type run struct {
	t      *Template
	values Values
	dst    []byte
	base   int // where the output begins in dst
	max    int
	steps  int
	locals []local // innermost last
	frame  int     // where the locals of the innermost loop begin
}

// local is a name that a set or for gave a value.
type local struct {
	name  string
	value any
}

func (x *run) fail(at int, hint, format string, args ...any) error {
	return &Error{assay.Problem{Place: x.t.place(at), What: fmt.Sprintf(format, args...), Hint: hint}}
}

// spend pays for work.
func (x *run) spend(at, steps int) error {
	if x.steps -= steps; x.steps < 0 {
		return x.fail(at, "loop over less", "filling the template takes more than %d steps", maxSteps)
	}
	return nil
}

// read pays for going through a text of n bytes.
func (x *run) read(at, n int) error { return x.spend(at, n/256) }

// made pays for a text that the template made longer by n bytes, which are never more than the cap.
func (x *run) made(at, n int) error {
	if err := x.fits(at, n); err != nil {
		return err
	}
	return x.read(at, n)
}

func (x *run) fits(at, n int) error {
	if n > x.max {
		return x.fail(at, "", "a text in the template is longer than the cap of %d bytes", x.max)
	}
	return nil
}

func (x *run) nodes(all []node) error {
	for _, n := range all {
		if err := n.run(x); err != nil {
			return err
		}
	}
	return nil
}

func (n textNode) run(x *run) error { return x.write(0, string(n)) }

func (x *run) write(at int, s string) error {
	if len(x.dst)-x.base+len(s) > x.max {
		return x.fail(at, "", "the filled template is longer than the cap of %d bytes", x.max)
	}
	x.dst = append(x.dst, s...)
	return nil
}

func (n outputNode) run(x *run) error {
	at := n.value.at()
	if err := x.spend(at, 1); err != nil {
		return err
	}
	v, err := x.value(n.value)
	if err != nil {
		return err
	}
	if s, ok := v.(string); ok {
		return x.write(at, s)
	}
	var ok bool
	if x.dst, ok = appendPlain(x.dst, v); !ok {
		return x.notText(at, v)
	}
	return x.write(at, "")
}

func (x *run) notText(at int, v any) error {
	return x.fail(at, "name a field, or use | join or | tojson", "%s does not print", kindOf(v))
}

func (n ifNode) run(x *run) error {
	for _, b := range n.branches {
		if err := x.spend(b.when.at(), 1); err != nil {
			return err
		}
		v, err := x.value(b.when)
		if err != nil {
			return err
		}
		if truth(v) {
			return x.nodes(b.body)
		}
	}
	return x.nodes(n.otherwise)
}

func (n setNode) run(x *run) error {
	v, err := x.value(n.value)
	if err != nil {
		return err
	}
	for i := x.frame; i < len(x.locals); i++ {
		if x.locals[i].name == n.name {
			x.locals[i].value = v
			return nil
		}
	}
	x.locals = append(x.locals, local{n.name, v})
	return x.spend(n.value.at(), 1)
}

// run binds the names of each round in a frame of their own: what a round sets is gone with it, as in Jinja.
func (n forNode) run(x *run) error {
	elems, err := x.elements(n)
	if err != nil {
		return err
	}
	frame, mark := x.frame, len(x.locals)
	x.frame = mark
	defer func() { x.frame, x.locals = frame, x.locals[:mark] }()
	if len(elems) == 0 {
		return x.nodes(n.otherwise)
	}
	loop := &loopState{length: len(elems)}
	for i, e := range elems {
		if err := x.spend(n.at(), 1); err != nil {
			return err
		}
		loop.index = i
		x.locals = append(x.locals[:mark], local{"loop", loop}, local{n.name, e})
		if err := x.nodes(n.body); err != nil {
			return err
		}
	}
	return nil
}

// elements are what a loop goes through.
func (x *run) elements(n forNode) ([]any, error) {
	v, err := x.value(n.over)
	if err != nil {
		return nil, err
	}
	elems, ok := listOf(v)
	if !ok {
		hint := ""
		if kindOf(v) == Text.String() {
			hint = "its characters are | list"
		}
		return nil, x.fail(n.over.at(), hint, "a loop needs a list or a record, not %s", kindOf(v))
	}
	if n.when == nil {
		return elems, x.spend(n.at(), 1)
	}
	var kept []any
	mark := len(x.locals)
	defer func() { x.locals = x.locals[:mark] }()
	for _, e := range elems {
		if err := x.spend(n.at(), 1); err != nil {
			return nil, err
		}
		x.locals = append(x.locals[:mark], local{n.name, e})
		v, err := x.value(n.when)
		if err != nil {
			return nil, err
		}
		if truth(v) {
			kept = append(kept, e)
		}
	}
	return kept, nil
}

// loopState is the value of loop.
type loopState struct{ index, length int }

// loopFields are the fields of loop.
var loopFields = map[string]Shape{
	"index": {Kind: Number}, "index0": {Kind: Number}, "revindex": {Kind: Number}, "revindex0": {Kind: Number},
	"length": {Kind: Number}, "first": {Kind: Bool}, "last": {Kind: Bool},
}

func (l *loopState) field(name string) (any, bool) {
	switch name {
	case "index":
		return l.index + 1, true
	case "index0":
		return l.index, true
	case "revindex":
		return l.length - l.index, true
	case "revindex0":
		return l.length - l.index - 1, true
	case "length":
		return l.length, true
	case "first":
		return l.index == 0, true
	case "last":
		return l.index == l.length-1, true
	}
	return nil, false
}
