package inputs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"assay/internal/assay"
)

// yieldRow hands a row or a problem on; false means that the caller wants no more.
type yieldRow = func(row, error) bool

// rows yields the records of a spec's own source. After a row's problem the next row follows, after a file's problem
// the next file.
func (s *Source) rows(ctx context.Context, spec Spec) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		if spec.File == "" && spec.Files == "" {
			inline(spec, yield)
			return
		}
		in := bufio.NewReaderSize(nil, 128<<10)
		for f, err := range s.files(spec) {
			if err == nil && ctx.Err() != nil {
				err = fmt.Errorf("read input %q: %w", spec.Name, ctx.Err())
			}
			if err != nil {
				if !yield(row{}, err) || ctx.Err() != nil {
					return
				}
				continue
			}
			if !s.readFile(f, in, yield) {
				return
			}
		}
	}
}

// readFile yields the rows of one file; false when the caller wants no more.
func (s *Source) readFile(f file, in *bufio.Reader, yield yieldRow) bool {
	opened, err := s.fsys.Open(f.path)
	if err != nil {
		return yield(row{}, problem(assay.Place{File: f.path}, "", "open: %v", err))
	}
	defer opened.Close()
	if f.format == formatParquet {
		return readParquet(f, opened, s.caps.value, yield)
	}
	in.Reset(opened)
	if err := skipBOM(f, in); err != nil {
		return yield(row{}, err)
	}
	r := reader{file: f, in: in, cap: s.caps.value, yield: yield}
	switch f.format {
	case formatLines:
		return r.lines()
	case formatText:
		return r.text()
	case formatCSV, formatTSV:
		return r.csv()
	case formatJSONL:
		return r.jsonl()
	}
	return r.json()
}

// reader reads one file of text.
type reader struct {
	file
	in    *bufio.Reader
	cap   int
	yield yieldRow
	n     int // rows so far, those with problems included
}

func (r *reader) at(line, col int) assay.Place {
	return assay.Place{File: r.path, Line: line, Col: col}
}

// bad yields a problem at a place.
func (r *reader) bad(line, col int, hint, format string, args ...any) bool {
	return r.yield(row{}, problem(r.at(line, col), hint, format, args...))
}

// made returns the made id of row n of a file.
func (f file) made(n int) made {
	if f.among {
		return made{f.stem, n}
	}
	return made{n: n}
}

// skipBOM takes the mark of UTF-8 away and refuses that of UTF-16, and what is plainly of another format than its name says.
func skipBOM(f file, in *bufio.Reader) error {
	head, _ := in.Peek(4)
	first := assay.Place{File: f.path, Line: 1, Col: 1}
	table := f.format == formatCSV || f.format == formatTSV
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return problem(first, "is it a spreadsheet? save it as CSV", "the file is a ZIP archive")
	case table && (bytes.HasPrefix(head, []byte("[{")) || bytes.HasPrefix(head, []byte(`{"`))):
		return problem(first, "name it .json, or .jsonl where each line is an object", "the file is JSON")
	case bytes.HasPrefix(head, []byte{0xEF, 0xBB, 0xBF}):
		_, err := in.Discard(3)
		return err
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return problem(first, "save the file as UTF-8", "the file is UTF-16")
	}
	return nil
}

// fault returns where text cannot be used: bytes that are not UTF-8, and NUL, which databases and providers refuse.
func fault(text []byte) (at int, what, hint string) {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return i, "NUL byte", "is the file UTF-16 or binary? save it as UTF-8"
	}
	if utf8.Valid(text) {
		return -1, "", ""
	}
	for i := 0; ; {
		c, size := utf8.DecodeRune(text[i:])
		if c == utf8.RuneError && size == 1 {
			return i, fmt.Sprintf("invalid UTF-8 (byte 0x%02X)", text[i]), "save the file as UTF-8"
		}
		i += size
	}
}

// lineReader cuts a file into lines of bounded length.
type lineReader struct {
	in   *bufio.Reader
	cap  int
	line int    // the number of the line read last
	long []byte // holds a line longer than the buffer of in
}

// errLong is the error of a line over the cap, which has been skipped.
var errLong = errors.New("line is too long")

// next returns the next line without its end. It is good until the next call.
func (l *lineReader) next() ([]byte, error) {
	part, err := l.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		part, err = l.nextLong(part)
	}
	if len(part) == 0 && err != nil || err != nil && err != io.EOF && err != errLong {
		return nil, err
	}
	l.line++
	if err == errLong {
		return nil, err
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r")), nil
}

func (l *lineReader) nextLong(part []byte) ([]byte, error) {
	l.long = l.long[:0]
	over := false
	for err := bufio.ErrBufferFull; ; part, err = l.in.ReadSlice('\n') {
		if over = over || len(l.long)+len(part) > l.cap; !over {
			l.long = append(grown(l.long, len(part), l.cap), part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case over && (err == nil || err == io.EOF):
			return part, errLong
		default:
			return l.long, err
		}
	}
}

// grown makes room for n more bytes by doubling, up to what may be held at most.
func grown(b []byte, n, most int) []byte {
	need := len(b) + n
	if need <= cap(b) {
		return b
	}
	return append(make([]byte, 0, max(need, min(2*need, most))), b...)
}

// eachLine calls do with every good line; problems of lines are yielded here.
func (r *reader) eachLine(do func(number int, line []byte) bool) bool {
	l := lineReader{in: r.in, cap: r.cap}
	for {
		line, err := l.next()
		switch {
		case err == io.EOF:
			return true
		case err == errLong:
			r.n++
			if !r.bad(l.line, 0, "", "the line is longer than %d MB", r.cap>>20) {
				return false
			}
			continue
		case err != nil:
			return r.bad(l.line+1, 0, "", "read: %v", err)
		}
		if at, what, hint := fault(line); at >= 0 {
			r.n++
			if !r.bad(l.line, at+1, hint, "%s at byte %d of the line", what, at+1) {
				return false
			}
			continue
		}
		if !do(l.line, line) {
			return false
		}
	}
}

// lines reads one item a line. Blank lines and lines that begin with # are not kept and not counted; white space around
// a line is no part of it.
func (r *reader) lines() bool {
	return r.eachLine(func(number int, line []byte) bool {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			return true
		}
		r.n++
		return r.yield(row{fields: map[string]any{"text": string(line)}, made: r.made(r.n), place: r.at(number, 0)}, nil)
	})
}

// text reads one item a file. Line ends become \n, and those at the end of the file are no part of the text.
func (r *reader) text() bool {
	all, err := r.whole(1, 1)
	if err != nil {
		return r.yield(row{}, err)
	}
	text := strings.ReplaceAll(string(all), "\r\n", "\n")
	text = strings.TrimRight(text, "\n")
	return r.yield(row{fields: map[string]any{"text": text}, made: made{stem: r.stem}, place: r.at(1, 0)}, nil)
}

// whole returns the rest of a file that is one value, from a place on.
func (r *reader) whole(line, col int) ([]byte, error) {
	var all []byte
	for {
		_, err := r.in.Peek(1)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, problem(r.at(line, col), "", "read: %v", err)
		}
		window, _ := r.in.Peek(r.in.Buffered())
		if len(all)+len(window) > r.cap {
			return nil, problem(r.at(line, col), "", "the value is longer than %d MB", r.cap>>20)
		}
		all = append(grown(all, len(window), r.cap), window...)
		r.in.Discard(len(window)) // cannot fail: the buffer holds them
	}
	if at, what, hint := fault(all); at >= 0 {
		line, col = position(all[:at], line, col)
		return nil, problem(r.at(line, col), hint, "%s at byte %d of the line", what, col)
	}
	return all, nil
}

// position returns the line and the column that follow a text which begins at a line and a column; columns count bytes.
func position(text []byte, line, col int) (int, int) {
	lines := bytes.Count(text, []byte{'\n'})
	if lines == 0 {
		return line, col + len(text)
	}
	return line + lines, len(text) - bytes.LastIndexByte(text, '\n')
}

// inline yields the items that the study itself holds.
func inline(spec Spec, yield yieldRow) {
	for i, given := range spec.Items {
		fields := make(map[string]any, len(given))
		var err error
		for k, v := range given {
			if fields[k], err = normal(v); err != nil {
				err = problem(spec.At, "", "item %d, field %s: %v", i+1, quote(k), err)
				break
			}
		}
		if !yield(rowOf(fields, made{n: i + 1}, spec.At), err) {
			return
		}
	}
}

// normal brings a value that a YAML reader made to the types of an item's fields.
func normal(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int64, json.Number:
		return v, nil
	case int:
		return int64(v), nil
	case uint64:
		if v > math.MaxInt64 {
			return json.Number(strconv.FormatUint(v, 10)), nil
		}
		return int64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is not a number", v)
		}
		return v, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			var err error
			if out[i], err = normal(v[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, w := range v {
			var err error
			if out[k], err = normal(w); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return nil, fmt.Errorf("a value of type %T cannot be a field", v)
}
