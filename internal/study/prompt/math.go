package prompt

import (
	"math"
	"strings"

	"assay/internal/study/prompt/syntax"
)

func (x *run) comparison(e syntax.Compare) (any, error) {
	left, err := x.value(e.First)
	if err != nil {
		return nil, err
	}
	for _, c := range e.Rest {
		right, err := x.value(c.Value)
		if err != nil {
			return nil, err
		}
		holds, err := x.compare(c, left, right)
		if err != nil || !holds {
			return false, err
		}
		left = right
	}
	return true, nil
}

func (x *run) compare(c syntax.Comparison, a, b any) (bool, error) {
	switch c.Op {
	case "==", "!=":
		same, err := x.equal(c.At(), a, b)
		return same == (c.Op == "=="), err
	case "in", "not in":
		found, err := x.contains(c.At(), b, a)
		return found == (c.Op == "in"), err
	}
	order, ok := orderOf(a, b)
	if !ok {
		return false, x.fail(c.At(), "", "%s and %s have no order", kindOf(a), kindOf(b))
	}
	if s, ok := a.(string); ok {
		if err := x.read(c.At(), len(s)); err != nil {
			return false, err
		}
	}
	switch c.Op {
	case "<":
		return order < 0, nil
	case "<=":
		return order <= 0, nil
	case ">":
		return order > 0, nil
	}
	return order >= 0, nil
}

func (x *run) equal(at int, a, b any) (bool, error) {
	if err := x.spend(at, 1); err != nil {
		return false, err
	}
	if s, ok := a.(string); ok {
		t, ok := b.(string)
		return ok && s == t, x.spend(at, min(len(s), len(t))/256)
	}
	if m, ok := scalarOf(a); ok {
		n, ok := scalarOf(b)
		return ok && compareNumbers(m, n) == 0, nil
	}
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	keys, same := listOf(a)
	others, ok := listOf(b)
	if !same || !ok || kindOf(a) != kindOf(b) || len(keys) != len(others) {
		return false, nil
	}
	for i := range keys {
		v, w := keys[i], others[i]
		if name, ok := v.(string); ok && kindOf(a) == Record.String() {
			if v != w {
				return false, nil
			}
			v, _ = fieldOf(a, name)
			w, _ = fieldOf(b, name)
		}
		if same, err := x.equal(at, v, w); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// contains reports whether something is in a text, a list or the keys of a record.
func (x *run) contains(at int, in, what any) (bool, error) {
	word, isText := what.(string)
	if s, ok := in.(string); ok {
		if !isText {
			return false, x.fail(at, "write | string", "only text can be in text, not %s", kindOf(what))
		}
		return strings.Contains(s, word), x.spend(at, 1+len(s)/256)
	}
	if _, list := listOnly(in); !list && kindOf(in) == Record.String() {
		_, found := fieldOf(in, word)
		return found && isText, x.spend(at, 1)
	}
	all, ok := listOf(in)
	if !ok {
		return false, x.fail(at, "", "nothing can be in %s", kindOf(in))
	}
	for _, v := range all {
		if same, err := x.equal(at, v, what); err != nil || same {
			return same, err
		}
	}
	return false, nil
}

func (x *run) sign(e syntax.Sign) (any, error) {
	v, err := x.value(e.Of)
	if err != nil {
		return nil, err
	}
	n, ok := numberOf(v)
	switch {
	case !ok:
		return nil, x.fail(e.At(), "", "a sign needs a number, not %s", kindOf(v))
	case e.Op == "+":
		return n.value(), nil
	case n.isFloat:
		return -n.f, nil
	}
	return x.whole(e.At(), -n.i, n.i != math.MinInt64)
}

func (x *run) math(e syntax.Math) (any, error) {
	a, err := x.value(e.Left)
	if err != nil {
		return nil, err
	}
	b, err := x.value(e.Right)
	if err != nil {
		return nil, err
	}
	m, ok1 := numberOf(a)
	n, ok2 := numberOf(b)
	switch {
	case !ok1 || !ok2:
		return x.combine(e, a, b)
	case (e.Op == "/" || e.Op == "//" || e.Op == "%") && n.float() == 0:
		return nil, x.fail(e.At(), "", "division by zero")
	case e.Op == "/" || m.isFloat || n.isFloat || e.Op == "**" && n.i < 0:
		return x.floats(e, m.float(), n.float())
	}
	return x.integers(e, m.i, n.i)
}

// combine joins what are not two numbers: texts, lists, and a text repeated.
func (x *run) combine(e syntax.Math, a, b any) (any, error) {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok && e.Op == "+" {
			return s + t, x.made(e.At(), len(s)+len(t))
		}
		if n, ok := wholeOf(b); ok && e.Op == "*" {
			n = max(n, 0)
			if s != "" && n > int64(x.max/len(s)) {
				return nil, x.fits(e.At(), x.max+1)
			}
			return strings.Repeat(s, int(n)), x.made(e.At(), len(s)*int(n))
		}
	}
	if p, ok := listOnly(a); ok && e.Op == "+" {
		if q, ok := listOnly(b); ok {
			return append(p[:len(p):len(p)], q...), x.spend(e.At(), len(p)+len(q))
		}
	}
	return nil, x.fail(e.At(), "join texts with ~; make a number with | int or | float", "%s cannot join %s and %s", e.Op,
		kindOf(a), kindOf(b))
}

func (x *run) floats(e syntax.Math, a, b float64) (any, error) {
	var f float64
	switch e.Op {
	case "+":
		f = a + b
	case "-":
		f = a - b
	case "*":
		f = a * b
	case "/":
		f = a / b
	case "//":
		f = math.Floor(a / b)
	case "%":
		f = math.Mod(a, b)
		if f != 0 && (f < 0) != (b < 0) {
			f += b
		}
	case "**":
		f = math.Pow(a, b)
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, x.fail(e.At(), "", "the result of %s is not a number", e.Op)
	}
	return f, nil
}

func (x *run) integers(e syntax.Math, a, b int64) (any, error) {
	switch e.Op {
	case "+":
		return x.whole(e.At(), a+b, (a+b > a) == (b > 0))
	case "-":
		return x.whole(e.At(), a-b, (a-b < a) == (b > 0))
	case "*":
		return x.whole(e.At(), a*b, fits(a, b))
	case "//":
		return x.whole(e.At(), floorDiv(a, b), a != math.MinInt64 || b != -1)
	case "%":
		return a - floorDiv(a, b)*b, nil
	}
	result, ok := int64(1), true
	for ; b > 0 && ok; b >>= 1 {
		if b&1 == 1 {
			ok = fits(result, a)
			result *= a
		}
		if b > 1 {
			ok = ok && fits(a, a)
			a *= a
		}
	}
	return x.whole(e.At(), result, ok)
}

// whole returns an integer result, unless it left the range of int64.
func (x *run) whole(at int, i int64, ok bool) (any, error) {
	if !ok {
		return nil, x.fail(at, "", "the result does not fit a whole number of 64 bits")
	}
	return i, nil
}

func fits(a, b int64) bool {
	if a == 0 || b == 0 {
		return true
	}
	if a == math.MinInt64 || b == math.MinInt64 {
		return a == 1 || b == 1
	}
	return a*b/b == a
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}
