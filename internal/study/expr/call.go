package expr

import (
	"encoding/json"
	"fmt"

	"assay/internal/assay"
)

// The functions that names are compiled to. No user can write their names.
const (
	fnItem  = "$item"
	fnLane  = "$lane"
	fnMaybe = "$maybe"
)

// fnField finds a field of the item, by its type.
var fnField = [...]string{Any: "$any", Text: "$text", Number: "$number", Bool: "$bool", List: "$list", Record: "$record"}

// vars returns the first argument of every call.
func vars(args []any) *Vars {
	v, _ := args[0].(*Vars)
	return v
}

// text returns an argument that the type check has found to be text.
func text(args []any, i int) string {
	if i >= len(args) {
		return ""
	}
	s, _ := args[i].(string)
	return s
}

func callVerdict(args ...any) (any, error) {
	v := vars(args)
	if v.Source == nil {
		return nil, fmt.Errorf("verdict(%q): there are no verdicts here", text(args, 1))
	}
	got, err := v.Source.Verdict(text(args, 1), text(args, 2))
	if err != nil {
		return nil, fmt.Errorf("verdict(%q): %w", text(args, 1), err)
	}
	return got, nil
}

func callFinding(args ...any) (any, error) {
	v := vars(args)
	stage, what := text(args, 1), text(args, 2)
	if v.Source == nil {
		return nil, fmt.Errorf("finding(%q, %q): there are no findings here", stage, what)
	}
	var got any
	var err error
	if len(args) == 3 {
		got, err = v.Source.Findings(stage, what)
	} else {
		got, err = v.Source.Finding(stage, what, text(args, 3))
	}
	if err != nil {
		return nil, fmt.Errorf("finding(%q, %q): %w", stage, what, err)
	}
	return got, nil
}

func callLane(args ...any) (any, error) { return vars(args).Lane, nil }

func callItem(args ...any) (any, error) {
	item := vars(args).Item
	if item == nil {
		return nil, fmt.Errorf("there is no item here")
	}
	return item.Fields, nil
}

// callMaybe finds a field, or nil where there is none.
func callMaybe(args ...any) (any, error) {
	item := vars(args).Item
	if item == nil {
		return nil, fmt.Errorf("there is no item here")
	}
	v, _ := find(item, text(args, 1))
	return v, nil
}

func callField(args ...any) (any, error) {
	item, name := vars(args).Item, text(args, 1)
	if item == nil {
		return nil, fmt.Errorf("there is no item here")
	}
	v, ok := find(item, name)
	if !ok {
		return nil, fmt.Errorf("item %q has no field %s (where it may be missing, write (%s ?? \"\"))", clip(item.ID),
			clip(name), clip(name))
	}
	return v, nil
}

// find looks a field up; expect and id are the item's own where it has no such field, or has another value.
func find(item *assay.Item, name string) (any, bool) {
	if name == "expect" && item.Expect != "" {
		return item.Expect, true
	}
	v, ok := item.Fields[name]
	if !ok && name == "id" {
		return item.ID, true
	}
	if n, isNumber := v.(json.Number); isNumber {
		return number(n), ok
	}
	return v, ok
}

func number(n json.Number) any {
	if i, err := n.Int64(); err == nil {
		return i
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n.String()
}

// typed finds a field that must be of a type.
func typed[T any](t Type) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		v, err := callField(args...)
		if err != nil {
			return nil, err
		}
		if _, ok := v.(T); !ok {
			return nil, wrongType(args, v, t)
		}
		return v, nil
	}
}

func callNumber(args ...any) (any, error) {
	v, err := callField(args...)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case float64:
		return v, nil
	case int64:
		return float64(v), nil
	case int:
		return float64(v), nil
	}
	return nil, wrongType(args, v, Number)
}

func wrongType(args []any, v any, want Type) error {
	name := [...]string{Any: "anything", Text: "text", Number: "a number", Bool: "true or false", List: "a list", Record: "a record"}[want]
	return fmt.Errorf("field %s of item %q is %s, not %s", clip(text(args, 1)), clip(vars(args).Item.ID), kindOf(v), name)
}
