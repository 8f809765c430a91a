package prompt

import (
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/internal/study/prompt/lex"
)

func lengthFilter(c *call, v any) (any, error) {
	if s, ok := v.(string); ok {
		return utf8.RuneCountInString(s), c.x.read(c.e.At(), len(s))
	}
	all, ok := listOf(v)
	if !ok {
		return nil, c.fail("needs text, a list or a record, not %s", kindOf(v))
	}
	return len(all), c.x.spend(c.e.At(), 1)
}

func joinFilter(c *call, v any) (any, error) {
	all, err := c.sequence(v)
	if err != nil {
		return nil, err
	}
	between, err := c.textArg(0, "")
	if err != nil {
		return nil, err
	}
	var out []byte
	for i, e := range all {
		if e, err = c.attribute(1, e); err != nil {
			return nil, err
		}
		if i > 0 {
			out = append(out, between...)
		}
		var ok bool
		if out, ok = appendPlain(out, e); !ok {
			return nil, c.x.notText(c.e.At(), e)
		}
		if err := c.x.fits(c.e.At(), len(out)); err != nil {
			return nil, err
		}
	}
	return c.text(string(out))
}

func firstFilter(c *call, v any) (any, error) { return c.end(v, 0) }

func lastFilter(c *call, v any) (any, error) { return c.end(v, -1) }

// end returns the first or the last element; undefined when there is none.
func (c *call) end(v any, i int64) (any, error) {
	if s, ok := v.(string); ok && s != "" {
		_, size := utf8.DecodeRuneInString(s)
		if i == 0 {
			return s[:size], nil
		}
		_, size = utf8.DecodeLastRuneInString(s)
		return s[len(s)-size:], nil
	}
	all, err := c.sequence(v)
	if err != nil {
		return nil, err
	}
	if i, ok := inside(i, len(all)); ok {
		return all[i], nil
	}
	return &undefined{at: c.e.At(), what: c.f.name + " of nothing", hint: "where it may be empty, write | default('')"}, nil
}

func listFilter(c *call, v any) (any, error) { return c.sequence(v) }

// sorted is an element with what it is sorted by.
type sorted struct{ by, value any }

func sortFilter(c *call, v any) (any, error) {
	all, err := c.sequence(v)
	if err != nil {
		return nil, err
	}
	if err := c.x.spend(c.e.At(), len(all)*4); err != nil { // comparing costs more than looking
		return nil, err
	}
	rows := make([]sorted, len(all))
	for i, e := range all {
		by, err := c.attribute(2, e)
		if err != nil {
			return nil, err
		}
		if by, err = c.folded(1, by); err != nil {
			return nil, err
		}
		if rows[i] = (sorted{by, e}); i > 0 {
			if _, ok := orderOf(rows[i-1].by, rows[i].by); !ok {
				return nil, c.fail("cannot order %s and %s", kindOf(rows[i-1].by), kindOf(by))
			}
		}
	}
	order := func(a, b sorted) int {
		order, _ := orderOf(a.by, b.by)
		if truth(c.args[0]) {
			return -order
		}
		return order
	}
	sort.SliceStable(rows, func(i, j int) bool { return order(rows[i], rows[j]) < 0 })
	out := make([]any, len(rows))
	for i, r := range rows {
		out[i] = r.value
	}
	return out, nil
}

// folded returns a value to compare by: small letters, unless the argument case_sensitive is true.
func (c *call) folded(i int, v any) (any, error) {
	s, ok := v.(string)
	if !ok {
		return v, nil
	}
	if !truth(c.args[i]) {
		s = strings.ToLower(s)
	}
	return s, c.x.read(c.e.At(), len(s))
}

func uniqueFilter(c *call, v any) (any, error) {
	all, err := c.sequence(v)
	if err != nil {
		return nil, err
	}
	seen := map[any]bool{}
	var out []any
	for _, e := range all {
		by, err := c.attribute(1, e)
		if err != nil {
			return nil, err
		}
		key, err := c.folded(0, by)
		if err != nil {
			return nil, err
		}
		if n, ok := scalarOf(key); ok {
			key = n.value()
			if i, ok := n.whole(); ok {
				key = i
			}
		} else if _, ok := key.(string); !ok && key != nil {
			return nil, c.fail("cannot compare %s", kindOf(key))
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	return out, nil
}

func intFilter(c *call, v any) (any, error) {
	n, ok, err := c.read(v)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return c.orElse(0, int64(0)), nil
	case !n.isFloat:
		return n.i, nil
	case math.Abs(n.f) >= 1<<63:
		return nil, c.fail("found a number too large for 64 bits")
	}
	return int64(n.f), nil
}

func floatFilter(c *call, v any) (any, error) {
	n, ok, err := c.read(v)
	if err != nil || ok {
		return n.float(), err
	}
	return c.orElse(0, float64(0)), nil
}

// read takes a number from a value, also from text; it is not ok where there is none.
func (c *call) read(v any) (number, bool, error) {
	s, isText := v.(string)
	if !isText {
		n, ok := scalarOf(v)
		return n, ok && !math.IsNaN(n.f), nil
	}
	if err := c.x.read(c.e.At(), len(s)); err != nil {
		return number{}, false, err
	}
	s = strings.TrimFunc(s, lex.IsSpace)
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return number{i: i}, true, nil
	}
	if strings.ContainsAny(s, "xXpP_iInN") { // Go's other forms of a number, and the infinities
		return number{}, false, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	return number{f: f, isFloat: true}, err == nil, nil
}

// roundFilter rounds to the nearest, halves to even as Python does, or by method ceil or floor.
func roundFilter(c *call, v any) (any, error) {
	n, ok := numberOf(v)
	if !ok {
		return nil, c.fail("needs a number, not %s", kindOf(v))
	}
	digits, err := c.wholeArg(0, 0)
	if err != nil {
		return nil, err
	}
	method, err := c.textArg(1, "common")
	if err != nil {
		return nil, err
	}
	digits = min(max(digits, -300), 300)
	scale := math.Pow10(digits)
	var f float64
	switch {
	case method == "ceil":
		f = math.Ceil(n.float()*scale) / scale
	case method == "floor":
		f = math.Floor(n.float()*scale) / scale
	case method != "common":
		return nil, c.fail("knows the methods common, ceil and floor, not %s", lex.Clip(method))
	case digits >= 0 && !n.isFloat:
		return n.i, nil
	case digits >= 0:
		f, err = strconv.ParseFloat(strconv.FormatFloat(n.f, 'f', digits, 64), 64)
	default:
		f = math.RoundToEven(n.float()*scale) / scale
	}
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, c.fail("found a number too large")
	}
	return f, nil
}
