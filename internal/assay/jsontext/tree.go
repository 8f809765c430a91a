package jsontext

import (
	"bytes"
	"errors"
	"iter"
)

const (
	maxDepth  = 200     // deeper documents are not read
	maxValues = 1 << 22 // nor are larger ones: every value costs memory
	maxSource = 1 << 31 // positions are 32 bits wide
)

var errTooMany = errors.New("more JSON than we read at once")

// Tree is a JSON document parsed in place: it copies nothing and keeps the position of every value. Its memory is used
// again for the next document. It is lenient inside values (a number is any run of a number's characters, a string may
// hold control characters) and strict about structure.
type Tree struct {
	src   []byte
	nodes []node // in the order in which they begin: the children of a node come right behind it
	Skip  string // the member of the top object that is passed over as a whole; empty: none
}

// node is one value.
type node struct {
	name    span // of the member, without quotes; empty for elements
	at      span // of the value; of a string without its quotes
	next    int32
	kind    Kind
	escaped bool // the name holds a backslash
}

type span struct{ from, to uint32 }

// Kind is the first byte of a value, with a digit for every number; 0 if there is no value.
type Kind byte

// Kinds of values.
const (
	Object Kind = '{'
	Array  Kind = '['
	Text   Kind = '"'
	Number Kind = '0'
	Null   Kind = 'n'
	True   Kind = 't'
)

// Release lets go of the document, and of memory for more than so many values.
func (t *Tree) Release(keep int) {
	t.src = nil
	if cap(t.nodes) > keep {
		t.nodes = nil
	}
}

// Parse reads a document and returns its top value, which is valid until the next call.
func (t *Tree) Parse(src []byte) (Value, error) {
	t.src, t.nodes = src, t.nodes[:0]
	if len(src) >= maxSource {
		return Value{}, errTooMany
	}
	end, err := t.value(t.space(0), span{}, false, 0)
	if err != nil {
		return Value{}, err
	}
	if t.space(end) != len(src) {
		return Value{}, ErrJSON
	}
	return Value{t, 0}, nil
}

func (t *Tree) space(i int) int {
	for i < len(t.src) && t.src[i] <= ' ' && (t.src[i] == ' ' || t.src[i] == '\n' || t.src[i] == '\t' || t.src[i] == '\r') {
		i++
	}
	return i
}

// value reads the value at i and returns where it ends.
func (t *Tree) value(i int, name span, escaped bool, depth int) (int, error) {
	if i >= len(t.src) {
		return i, ErrJSON
	}
	if depth > maxDepth || len(t.nodes) >= maxValues {
		return i, errTooMany
	}
	self := len(t.nodes)
	t.nodes = append(t.nodes, node{name: name, escaped: escaped, kind: Kind(t.src[i])})
	end, err := i, ErrJSON
	switch c := t.src[i]; {
	case c == '"':
		if end = t.quote(i + 1); end > 0 {
			t.nodes[self].at = span{uint32(i + 1), uint32(end)}
			t.nodes[self].next = int32(len(t.nodes))
			return end + 1, nil
		}
	case c == '{':
		end, err = t.members(i+1, depth+1)
	case c == '[':
		end, err = t.elements(i+1, depth+1)
	case c == 't':
		end, err = t.word(i, "true")
	case c == 'f':
		end, err = t.word(i, "false")
	case c == 'n':
		end, err = t.word(i, "null")
	case c == '-' || '0' <= c && c <= '9':
		t.nodes[self].kind = Number
		for end++; end < len(t.src) && inNumber(t.src[end]); end++ {
		}
		err = nil
	}
	t.nodes[self].at = span{uint32(i), uint32(end)}
	t.nodes[self].next = int32(len(t.nodes))
	return end, err
}

func inNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}

func (t *Tree) word(i int, word string) (int, error) {
	if !bytes.HasPrefix(t.src[i:], []byte(word)) {
		return i, ErrJSON
	}
	return i + len(word), nil
}

// quote returns where the string ends whose first character is at i: the index of its closing quote, or -1.
func (t *Tree) quote(i int) int {
	for j := i; ; j++ {
		n := bytes.IndexByte(t.src[j:], '"')
		if n < 0 {
			return -1
		}
		j += n
		slash := j
		for slash > i && t.src[slash-1] == '\\' {
			slash--
		}
		if (j-slash)%2 == 0 {
			return j
		}
	}
}

// members reads an object from behind its brace.
func (t *Tree) members(i, depth int) (int, error) {
	if i = t.space(i); i < len(t.src) && t.src[i] == '}' {
		return i + 1, nil
	}
	for {
		if i = t.space(i); i >= len(t.src) || t.src[i] != '"' {
			return i, ErrJSON
		}
		name, escaped := t.name(i + 1)
		if i = t.space(int(name.to) + 1); i >= len(t.src) || t.src[i] != ':' {
			return i, ErrJSON
		}
		i = t.space(i + 1)
		if depth == 1 && t.Skip != "" && string(t.src[name.from:name.to]) == t.Skip {
			i = t.pass(i)
		} else {
			end, err := t.value(i, name, escaped, depth)
			if err != nil {
				return end, err
			}
			i = end
		}
		if i = t.space(i); i >= len(t.src) {
			return i, ErrJSON
		}
		switch t.src[i] {
		case '}':
			return i + 1, nil
		case ',':
			i++
		default:
			return i, ErrJSON
		}
	}
}

// pass returns the index after the closing bracket of an object or list that is skipped, or the end of the source if
// there is none. For any other value it returns i.
func (t *Tree) pass(i int) int {
	for depth := 0; i < len(t.src); i++ {
		switch t.src[i] {
		case '"':
			end := t.quote(i + 1)
			if end < 0 {
				return len(t.src)
			}
			i = end
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return i
}

// name reads a member's name; names are short and seldom escaped. One without an end reaches to the end of the source.
func (t *Tree) name(i int) (name span, escaped bool) {
	for j := i; j < len(t.src); j++ {
		switch t.src[j] {
		case '"':
			return span{uint32(i), uint32(j)}, escaped
		case '\\':
			escaped = true
			j++
		}
	}
	return span{uint32(i), uint32(len(t.src))}, escaped
}

// elements reads an array from behind its bracket.
func (t *Tree) elements(i, depth int) (int, error) {
	if i = t.space(i); i < len(t.src) && t.src[i] == ']' {
		return i + 1, nil
	}
	for {
		end, err := t.value(t.space(i), span{}, false, depth)
		if err != nil {
			return end, err
		}
		if i = t.space(end); i >= len(t.src) {
			return i, ErrJSON
		}
		switch t.src[i] {
		case ']':
			return i + 1, nil
		case ',':
			i++
		default:
			return i, ErrJSON
		}
	}
}

// Value is one value of a tree. The zero value is one that is not there; it can be asked everything.
type Value struct {
	t *Tree
	i int32
}

// Kind returns what the value is.
func (v Value) Kind() Kind {
	if v.t == nil {
		return 0
	}
	return v.t.nodes[v.i].kind
}

// Is reports whether the value is of a kind.
func (v Value) Is(k Kind) bool { return v.Kind() == k }

// Source returns the value as it was written; a string without its quotes.
func (v Value) Source() []byte {
	if v.t == nil {
		return nil
	}
	at := v.t.nodes[v.i].at
	return v.t.src[at.from:at.to]
}

// Get returns the member of that name, the first if there are several.
func (v Value) Get(name string) Value {
	if !v.Is(Object) {
		return Value{}
	}
	nodes := v.t.nodes
	for i, end := v.i+1, nodes[v.i].next; i < end; i = nodes[i].next {
		n := &nodes[i]
		if int(n.name.to-n.name.from) != len(name) && !n.escaped {
			continue
		}
		key := v.t.src[n.name.from:n.name.to]
		if string(key) == name || n.escaped && string(AppendUnescaped(nil, key)) == name {
			return Value{v.t, i}
		}
	}
	return Value{}
}

// Members yields the members of an object with their names as they were written.
func (v Value) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		if !v.Is(Object) {
			return
		}
		nodes := v.t.nodes
		for i, end := v.i+1, nodes[v.i].next; i < end; i = nodes[i].next {
			name := nodes[i].name
			if !yield(v.t.src[name.from:name.to], Value{v.t, i}) {
				return
			}
		}
	}
}

// All yields the elements of an array.
func (v Value) All() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if !v.Is(Array) {
			return
		}
		nodes := v.t.nodes
		for i, end := v.i+1, nodes[v.i].next; i < end; i = nodes[i].next {
			if !yield(Value{v.t, i}) {
				return
			}
		}
	}
}

// First returns the first element of an array.
func (v Value) First() Value {
	if v.Is(Array) && v.i+1 < v.t.nodes[v.i].next {
		return Value{v.t, v.i + 1}
	}
	return Value{}
}

// Present reports whether the value is there and is not null, false, 0 or empty.
func (v Value) Present() bool {
	switch v.Kind() {
	case Object, Array:
		return v.t.nodes[v.i].next > v.i+1
	case Text:
		return len(v.Source()) > 0
	case Number:
		return string(v.Source()) != "0"
	}
	return v.Is(True)
}
