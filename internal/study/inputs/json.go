package inputs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"maps"

	"assay/internal/assay/jsontext"
)

// jsonl reads one JSON value a line. Blank lines are no rows.
func (r *reader) jsonl() bool {
	p := jsontext.NewParser()
	return r.eachLine(func(number int, line []byte) bool {
		if len(bytes.TrimSpace(line)) == 0 {
			return true
		}
		r.n++
		v, err := p.Parse(line)
		if err != nil {
			return r.badJSON(err, line, number, 1)
		}
		return r.element(v, number, 0)
	})
}

// badJSON reports a syntax error in a text that begins at a place of the file.
func (r *reader) badJSON(err error, text []byte, line, col int) bool {
	var syntax *jsontext.SyntaxError
	if !errors.As(err, &syntax) {
		return r.bad(line, col, "", "%v", err)
	}
	line, col = position(text[:min(syntax.At, len(text))], line, col)
	return r.bad(line, col, "", "bad JSON: %s", syntax.What)
}

// element yields a value of a list: a record, or a text alone.
func (r *reader) element(v any, line, col int) bool {
	switch v := v.(type) {
	case map[string]any:
		return r.yield(rowOf(v, r.made(r.n), r.at(line, col)), nil)
	case string:
		return r.yield(row{fields: map[string]any{"text": v}, made: r.made(r.n), place: r.at(line, col)}, nil)
	}
	return r.bad(line, col, "a row is an object or a text", "the row is %s", kindOf(v))
}

// json reads a document: an array of rows, an object with `inputs`, or an object that is one item.
func (r *reader) json() bool {
	first, line, col, err := firstByte(r.in)
	switch {
	case err == io.EOF:
		return r.bad(1, 1, "", "the file is empty")
	case err != nil:
		return r.bad(line, col, "", "read: %v", err)
	case first == '[':
		return r.array(line, col)
	}
	text, err := r.whole(line, col)
	if err != nil {
		return r.yield(row{}, err)
	}
	v, err := jsontext.NewParser().Parse(text)
	if err != nil {
		return r.badDocument(err, text, line, col)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return r.bad(line, col, "an input is an array or an object", "the document is %s", kindOf(v))
	}
	if list, ok := object["inputs"].([]any); ok {
		return r.inputs(object, list, line, col)
	}
	return r.yield(rowOf(object, made{stem: r.stem}, r.at(line, col)), nil)
}

func (r *reader) badDocument(err error, text []byte, line, col int) bool {
	var syntax *jsontext.SyntaxError
	if errors.As(err, &syntax) && syntax.At < len(text) && text[syntax.At] == '{' && oneValue(text[:syntax.At]) {
		line, col = position(text[:syntax.At], line, col)
		return r.bad(line, col, "for one object per line, name the file .jsonl or say `format: jsonl`", "a second value follows the first")
	}
	return r.badJSON(err, text, line, col)
}

// oneValue reports whether a text is one whole value.
func oneValue(text []byte) bool {
	_, err := jsontext.NewParser().Parse(text)
	return err == nil
}

// inputs yields the elements of an object's `inputs`. Each has the object's other fields too, `group` (the file's stem)
// and `original_index` (from 0); its own fields win over these. Ids are made of the stem even where the file is alone.
func (r *reader) inputs(object map[string]any, list []any, line, col int) bool {
	shared := map[string]any{"group": r.stem}
	for k, v := range object {
		if k != "inputs" {
			shared[k] = v
		}
	}
	for i, v := range list {
		r.n++
		fields := maps.Clone(shared)
		fields["original_index"] = int64(i)
		one := row{fields: fields, made: made{r.stem, i + 1}, place: r.at(line, col)}
		var err error
		switch v := v.(type) {
		case map[string]any:
			maps.Copy(fields, v)
			one.own, one.name = ownID(v)
		case string:
			fields["text"] = v
		default:
			err = problem(one.place, "an element is an object or a text", "element %d of `inputs` is %s", i+1, kindOf(v))
		}
		if !r.yield(one, err) {
			return false
		}
	}
	return true
}

// firstByte reads over white space and returns the position of the first other byte, which it leaves unread.
func firstByte(in *bufio.Reader) (first byte, line, col int, err error) {
	line, col = 1, 1
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, line, col, err
		}
		switch c {
		case '\n':
			line, col = line+1, 1
		case ' ', '\t', '\r':
			col++
		default:
			return c, line, col, in.UnreadByte()
		}
	}
}

var errStopped = errors.New("no more rows are wanted")

// array reads the elements of an array one by one.
func (r *reader) array(line, col int) bool {
	p := jsontext.NewParser()
	err := jsontext.Read(r.in, jsontext.Document{Lists: [][]string{{}}, Max: r.cap, Line: line, Col: col,
		Each: func(e jsontext.Element) error {
			r.n++
			var more bool
			if e.TooLong {
				more = r.bad(e.Line, e.Col, "", "the element is longer than %d MB", r.cap>>20)
			} else {
				more = r.oneElement(p, e.Text, e.Line, e.Col)
			}
			if !more {
				return errStopped
			}
			return nil
		}})
	var wrong *jsontext.Error
	switch {
	case errors.Is(err, jsontext.ErrCut):
		return r.bad(line, col, "", "the array that opens here is never closed")
	case errors.Is(err, jsontext.ErrAfter) && errors.As(err, &wrong):
		return r.bad(wrong.Line, wrong.Col, "", "bad JSON: text follows the array")
	case errors.As(err, &wrong):
		return r.bad(wrong.Line, wrong.Col, "", "read: %v", wrong.Err)
	}
	return err == nil
}

func (r *reader) oneElement(p *jsontext.Parser, text []byte, line, col int) bool {
	if at, what, hint := fault(text); at >= 0 {
		line, col = position(text[:at], line, col)
		return r.bad(line, col, hint, "%s at byte %d of the line", what, col)
	}
	v, err := p.Parse(text)
	if err != nil {
		return r.badJSON(err, text, line, col)
	}
	return r.element(v, line, col)
}
