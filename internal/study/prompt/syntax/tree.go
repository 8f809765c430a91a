// Package syntax parses templates into trees.
package syntax

import (
	"slices"
	"strings"

	"assay/internal/assay"
	"assay/internal/study/prompt/lex"
)

// Source is the text of a template. Offsets in its tree count in it.
type Source struct {
	At   assay.Place // of the first character
	Text string
}

// Place returns the place of an offset in the user's file.
func (s Source) Place(offset int) assay.Place {
	return s.At.After(s.Text[:min(offset, len(s.Text))])
}

// Node is a stretch of a template that writes: Text, Output, If, For or Set.
type Node interface{ node() }

func (Text) node()   {}
func (Output) node() {}
func (If) node()     {}
func (For) node()    {}
func (Set) node()    {}

// Text is written as it is.
type Text string

// Output is {{ value }}.
type Output struct{ Value Expr }

// If is {% if %} to {% endif %}.
type If struct {
	Branches  []Branch
	Otherwise []Node
}

// Branch is an if or elif with its body.
type Branch struct {
	When Expr
	Body []Node
}

// For is {% for %} to {% endfor %}.
type For struct {
	Pos
	Name      string
	Over      Expr
	When      Expr // nil: every element
	Body      []Node
	Otherwise []Node
}

// Set is {% set name = value %}.
type Set struct {
	Name  string
	Value Expr
}

// Expr is an expression or a part of one, of one of the types below.
type Expr interface{ At() int }

// Pos is the offset of an expression in the template.
type Pos int

// At returns the offset.
func (p Pos) At() int { return int(p) }

// Values, and what is reached inside them.
type (
	// Literal is a number, a text, true, false or none.
	Literal struct {
		Pos
		Value any
	}
	// Name is a name of the scope, or one that a set or for gave a value.
	Name struct {
		Pos
		Name string
	}
	// Field is of.name, and of["name"].
	Field struct {
		Pos
		Of   Expr
		Name string
	}
	// Index is of[key].
	Index struct {
		Pos
		Of, Key Expr
	}
	// Slice is of[from:to]; both ends may be nil.
	Slice struct {
		Pos
		Of, From, To Expr
	}
	// List is [a, b], and (a, b).
	List struct {
		Pos
		Items []Expr
	}
)

// Operators.
type (
	// Not is not of.
	Not struct {
		Pos
		Of Expr
	}
	// Sign is -of or +of.
	Sign struct {
		Pos
		Op string
		Of Expr
	}
	// Logic is left and right, or left or right.
	Logic struct {
		Pos
		Op          string
		Left, Right Expr
	}
	// Choice is then if when else otherwise, which may be nil.
	Choice struct {
		Pos
		Then, When, Otherwise Expr
	}
	// Compare is a chain such as a < b <= c.
	Compare struct {
		Pos
		First Expr
		Rest  []Comparison
	}
	// Comparison is a link of such a chain: <= c.
	Comparison struct {
		Pos
		Op    string
		Value Expr
	}
	// Math is left op right with an operator of arithmetic.
	Math struct {
		Pos
		Op          string
		Left, Right Expr
	}
	// Concat is a ~ b ~ c.
	Concat struct {
		Pos
		Parts []Expr
	}
	// Filter is of | filter(args).
	Filter struct {
		Pos
		Of     Expr
		Filter int    // its number in the vocabulary
		Args   []Expr // one for each parameter; nil: not given
	}
	// Test is of is test.
	Test struct {
		Pos
		Of      Expr
		Test    int // its number in the vocabulary
		Negated bool
	}
)

// PathOf returns the names of a chain such as item.meta["title"].
func PathOf(e Expr) ([]string, bool) {
	switch e := e.(type) {
	case Name:
		return []string{e.Name}, true
	case Field:
		path, ok := PathOf(e.Of)
		return append(path, e.Name), ok
	}
	return nil, false
}

// Sets reports whether a name gets a value somewhere.
func Sets(nodes []Node, name string) bool {
	return slices.ContainsFunc(nodes, func(n Node) bool {
		switch n := n.(type) {
		case Set:
			return n.Name == name
		case For:
			return n.Name == name || Sets(n.Body, name) || Sets(n.Otherwise, name)
		case If:
			return Sets(n.Otherwise, name) || slices.ContainsFunc(n.Branches, func(b Branch) bool { return Sets(b.Body, name) })
		}
		return false
	})
}

// Words names an expression in a message.
func Words(e Expr) string {
	if path, ok := PathOf(e); ok {
		return lex.Clip(strings.Join(path, "."))
	}
	return "this value"
}
