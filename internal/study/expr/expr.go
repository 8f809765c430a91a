// Package expr checks and evaluates the conditions of a study: where, when and require.
//
// A condition is an expression of expr-lang that is true or false. It is type-checked before anything runs, asks for verdicts and
// findings by name only, and its work is bounded: no loops but over what it is given, no clock, nothing that grows.
package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"assay/internal/assay"
)

// Kind is the key of a study that a condition belongs to, which decides what it may see.
type Kind uint8

// The kinds of condition.
const (
	Rows    Kind = iota // where of an input: the item
	Items               // where of a stage: the item, and verdict(stage) or verdict(stage, judge)
	When                // when of a stage: finding(stage, what) or finding(stage, what, lane)
	Lanes               // where of a stage's lanes: lane, and the findings
	Require             // a gate of the whole study: the findings
)

// String returns the key of the study.
func (k Kind) String() string {
	return [...]string{"the where of an input", "the where of a stage", "when", "the where of lanes", "require"}[k]
}

// Type is the type of a field as far as it is known before the data is read.
type Type uint8

// The types of a field. Any is compared when the data is there.
const (
	Any Type = iota
	Text
	Number
	Bool
	List
	Record
)

// Env holds the names that a condition may use. Fields are those of the item, found bare and under item; Open: it may have more.
type Env struct {
	Kind   Kind
	Fields map[string]Type
	Open   bool
}

// Verdict is the value of verdict(stage). Where there is none, its state is that, and the rest is empty.
type Verdict struct {
	Label string  `expr:"label"`
	Score float64 `expr:"score"`
	State string  `expr:"state"` // valid, abstained, malformed, failed, missing, excluded
	Judge string  `expr:"judge"`
}

// Finding is the value of finding(stage, what, lane), and an element of finding(stage, what).
type Finding struct {
	Value    float64 `expr:"value"`
	Low      float64 `expr:"low"`
	High     float64 `expr:"high"`
	N        int     `expr:"n"`
	Coverage float64 `expr:"coverage"` // share of what was planned that the number rests on
	Verdict  string  `expr:"verdict"`  // of no-worse: no worse, worse or cannot tell
	Lane     string  `expr:"lane"`
	Branch   string  `expr:"branch"`
	Template string  `expr:"template"`
	Turn     string  `expr:"-"`
}

// Source answers what a condition asks for while it runs. A finding that has no number has NaN in it, so that no comparison holds.
type Source interface {
	Verdict(stage, judge string) (Verdict, error) // judge "": that of the stage's jury
	Findings(stage, what string) ([]Finding, error)
	Finding(stage, what, lane string) (Finding, error)
}

// Vars are the values with which a condition is evaluated. Its kind decides which of them it needs.
type Vars struct {
	Item   *assay.Item
	Lane   string
	Source Source
}

// Reference is a stage that a condition asks about.
type Reference struct {
	assay.Place
	Func  string // verdict or finding
	Stage string
	What  string // of a finding
	Lane  string // of a finding, where it is written; else all, or the lane at hand
	Judge string // of a verdict; empty: the jury
}

// Use is a field of the item that a condition looks at.
type Use struct {
	assay.Place
	Field    string
	Optional bool // the condition handles a missing value
}

// Program is a compiled condition. It is safe for use by several goroutines at once.
type Program struct {
	at     assay.Place
	src    string
	code   *vm.Program
	stages []Reference
	fields []Use
}

// Stages lists the stages the condition asks about, in the order they are written.
func (p *Program) Stages() []Reference { return append([]Reference(nil), p.stages...) }

// Fields lists the fields the condition looks at, in the order they are written.
func (p *Program) Fields() []Use { return append([]Use(nil), p.fields...) }

// memoryBudget bounds the elements that one evaluation may make lists of.
const memoryBudget = 100_000

// Bool evaluates the condition. A field that is missing is an error unless the condition handles that.
func (p *Program) Bool(v Vars) (bool, error) {
	machine := vm.VM{MemoryBudget: memoryBudget}
	out, err := machine.Run(p.code, &v)
	if err != nil {
		return false, p.failed(err)
	}
	yes, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("%s: the condition gives %s, not true or false", p.at, kindOf(out))
	}
	return yes, nil
}

// failed puts the place of the study in front of an evaluation error.
func (p *Program) failed(err error) error {
	known, ok := err.(*file.Error)
	if !ok {
		return fmt.Errorf("%s: %w", p.at, err)
	}
	at := place(p.at, p.src, known.From)
	if known.Prev != nil {
		return fmt.Errorf("%s: %w", at, known.Prev)
	}
	what, hint := translate(known.Message)
	return fmt.Errorf("%s", assay.Problem{Place: at, What: what, Hint: hint})
}

// place returns the place of a character of the source in the study.
func place(at assay.Place, src string, char int) assay.Place {
	i := 0
	for ; char > 0 && i < len(src); char-- {
		_, size := utf8.DecodeRuneInString(src[i:])
		i += size
	}
	return at.After(src[:i])
}

// kindOf returns the kind of a value, as messages name it.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "true or false"
	case int, int64, float64:
		return "a number"
	case []any, []string, []Finding:
		return "a list"
	case Verdict:
		return "a verdict"
	case Finding:
		return "a finding"
	}
	return "a record"
}

func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
