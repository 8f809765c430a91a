package prompt

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"assay/internal/study/prompt/lex"
)

// textFilter makes a filter of a change of text.
func textFilter(change func(string) string) func(*call, any) (any, error) {
	return func(c *call, v any) (any, error) {
		s, err := c.text(v)
		if err != nil {
			return nil, err
		}
		return c.text(change(s))
	}
}

// title writes the first letter of every word large and the others small.
func title(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	start := true
	for _, r := range s {
		switch {
		case lex.IsSpace(r) || strings.ContainsRune("-({[<", r):
			start = true
			b.WriteRune(r)
			continue
		case start:
			b.WriteRune(unicode.ToUpper(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		start = false
	}
	return b.String()
}

func capitalize(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToTitle(r)) + strings.ToLower(s[size:])
}

func trimFilter(c *call, v any) (any, error) {
	s, err := c.text(v)
	if err != nil {
		return nil, err
	}
	if c.args[0] == nil {
		return strings.TrimFunc(s, lex.IsSpace), nil
	}
	cut, err := c.textArg(0, "")
	return strings.Trim(s, cut), err
}

func replaceFilter(c *call, v any) (any, error) {
	s, err := c.text(v)
	if err != nil {
		return nil, err
	}
	from, err := c.textArg(0, "")
	if err != nil {
		return nil, err
	}
	to, err := c.textArg(1, "")
	if err != nil {
		return nil, err
	}
	most, err := c.wholeArg(2, -1)
	if err != nil {
		return nil, err
	}
	n := strings.Count(s, from)
	if most >= 0 {
		n = min(n, most)
	}
	if err := c.x.made(c.e.At(), n*max(0, len(to)-len(from))); err != nil {
		return nil, err
	}
	return strings.Replace(s, from, to, most), nil
}

// truncateFilter shortens a text that is longer than length and leeway, at a space unless killwords is true.
func truncateFilter(c *call, v any) (any, error) {
	s, err := c.text(v)
	if err != nil {
		return nil, err
	}
	length, err := c.wholeArg(0, 255)
	if err != nil {
		return nil, err
	}
	end, err := c.textArg(2, "...")
	if err != nil {
		return nil, err
	}
	leeway, err := c.wholeArg(3, 5)
	if err != nil {
		return nil, err
	}
	keep := length - utf8.RuneCountInString(end)
	if keep < 0 || leeway < 0 {
		return nil, c.fail("needs a length of at least its end, and a leeway of at least 0")
	}
	if utf8.RuneCountInString(s) <= length+leeway {
		return s, nil
	}
	s = s[:runeOffset(s, keep)]
	if i := strings.LastIndexByte(s, ' '); i >= 0 && !truth(c.args[1]) {
		s = s[:i]
	}
	return c.text(s + end)
}

func wordcountFilter(c *call, v any) (any, error) {
	s, err := c.text(v)
	if err != nil {
		return nil, err
	}
	words := strings.FieldsFuncSeq(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	n := 0
	for range words {
		n++
	}
	return n, nil
}

// indentFilter indents every line but the first; blank ones only when asked to.
func indentFilter(c *call, v any) (any, error) {
	s, err := c.text(v)
	if err != nil {
		return nil, err
	}
	by, ok := c.args[0].(string)
	if !ok {
		width, err := c.wholeArg(0, 4)
		if err != nil {
			return nil, err
		}
		by = strings.Repeat(" ", max(width, 0))
	}
	lines := strings.Split(unixLines(s), "\n")
	if err := c.x.made(c.e.At(), len(lines)*len(by)); err != nil {
		return nil, err
	}
	for i, line := range lines {
		if i == 0 && truth(c.args[1]) || i > 0 && (line != "" || truth(c.args[2])) {
			lines[i] = by + line
		}
	}
	return strings.Join(lines, "\n"), nil
}

func jsonFilter(c *call, v any) (any, error) {
	width, err := c.wholeArg(0, -1)
	if err != nil {
		return nil, err
	}
	w := &jsonWriter{call: c, width: min(width, 16)}
	if err := w.value(v, 0); err != nil {
		return nil, err
	}
	return c.text(string(w.out))
}

// jsonWriter writes JSON as Python does (", " and ": ", or lines when indented), with the keys in order.
type jsonWriter struct {
	*call
	out   []byte
	width int // of the indent; negative: all on one line
}

func (w *jsonWriter) value(v any, depth int) error {
	if err := w.x.spend(w.e.At(), 1); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		w.out = append(w.out, "null"...)
	case string:
		return w.quote(v)
	case map[string]any, map[string]string:
		return w.record(v, depth)
	case []any, []string:
		list, _ := listOf(v)
		return w.group('[', ']', len(list), depth, func(i int) error { return w.value(list[i], depth+1) })
	default:
		var ok bool
		if w.out, ok = appendPlain(w.out, v); !ok {
			return w.fail("cannot write %s", kindOf(v))
		}
	}
	return w.x.fits(w.e.At(), len(w.out))
}

func (w *jsonWriter) record(v any, depth int) error {
	keys, _ := listOf(v)
	return w.group('{', '}', len(keys), depth, func(i int) error {
		name, _ := keys[i].(string)
		if err := w.quote(name); err != nil {
			return err
		}
		w.out = append(w.out, ": "...)
		member, _ := fieldOf(v, name)
		return w.value(member, depth+1)
	})
}

// group writes n members between brackets.
func (w *jsonWriter) group(opening, closing byte, n, depth int, member func(i int) error) error {
	w.out = append(w.out, opening)
	for i := range n {
		switch {
		case i > 0 && w.width < 0:
			w.out = append(w.out, ", "...)
		case i > 0:
			w.out = append(w.out, ',')
		}
		w.line(depth + 1)
		if err := member(i); err != nil {
			return err
		}
	}
	if n > 0 {
		w.line(depth)
	}
	w.out = append(w.out, closing)
	return w.x.fits(w.e.At(), len(w.out))
}

func (w *jsonWriter) line(depth int) {
	if w.width >= 0 {
		w.out = append(w.out, '\n')
		w.out = append(w.out, strings.Repeat(" ", w.width*depth)...)
	}
}

func (w *jsonWriter) quote(s string) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return w.fail("cannot write a text: %v", err)
	}
	w.out = append(w.out, strings.TrimSuffix(b.String(), "\n")...)
	return w.x.fits(w.e.At(), len(w.out))
}
