package inputs

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"assay/internal/assay/csvtext"
)

// csvReader reads records whose fields may be quoted and may span lines. A quote inside an unquoted field is a
// character like any other; text after a closing quote is a problem. Line ends inside quotes become \n. Blank lines are
// no records.
type csvReader struct {
	lines lineReader
	comma byte
	r     *reader

	text []byte // the fields of the record, one after the other
	ends []int  // where each ends in text
	line int    // where the record begins
	bad  bool   // a line of the record has reported a problem
}

// How reading goes on after a problem was reported.
var (
	errRecord = errors.New("the next record follows")
	errFile   = errors.New("no record can follow")
	errNoMore = errors.New("the walk was ended")
)

func newCSV(r *reader) *csvReader {
	comma := byte('\t')
	if r.format != formatTSV {
		comma = csvtext.Separator(r.in)
	}
	return &csvReader{lines: lineReader{in: r.in, cap: r.cap}, comma: comma, r: r}
}

// csv reads a file with a heading line. Every value is a string.
func (r *reader) csv() bool {
	c := newCSV(r)
	names, err := c.heading()
	if err != nil {
		return err != errNoMore
	}
	for {
		switch err := c.record(); err {
		case nil:
		case errRecord:
			r.n++
			continue
		case errNoMore:
			return false
		default:
			return true
		}
		r.n++
		if len(c.ends) != len(names) {
			if !r.bad(c.line, 0, "a separator, a quote or a line end inside a field needs quotes around the field",
				"the row has %s, the heading %d", count(len(c.ends), "field"), len(names)) {
				return false
			}
			continue
		}
		if !r.yield(rowOf(c.fields(names), r.made(r.n), r.at(c.line, 0)), nil) {
			return false
		}
	}
}

// heading reads the names of the columns. A column without a name, as some programs write for a row's number, is called
// column_N.
func (c *csvReader) heading() ([]string, error) {
	if err := c.record(); err != nil {
		return nil, err
	}
	names := make([]string, len(c.ends))
	seen := map[string]bool{}
	for i := range names {
		names[i] = c.field(i)
		if names[i] == "" {
			names[i] = "column_" + strconv.Itoa(i+1)
		}
		if seen[names[i]] {
			if !c.r.bad(c.line, 0, "", "the heading names the column %s twice", quote(names[i])) {
				return nil, errNoMore
			}
			return nil, errFile
		}
		seen[names[i]] = true
	}
	return names, nil
}

func (c *csvReader) fields(names []string) map[string]any {
	fields := make(map[string]any, len(names))
	for i, name := range names {
		fields[name] = c.field(i)
	}
	return fields
}

func (c *csvReader) field(i int) string {
	from := 0
	if i > 0 {
		from = c.ends[i-1]
	}
	return string(c.text[from:c.ends[i]])
}

// record reads the next record into text and ends. Problems are reported before it returns.
func (c *csvReader) record() error {
	c.bad = false
	line, err := c.nextLine()
	for err == nil && len(line) == 0 {
		line, err = c.nextLine()
	}
	c.line = c.lines.line
	if err != nil {
		return err
	}
	c.text, c.ends = c.text[:0], c.ends[:0]
	for whole := len(line); ; {
		var more bool
		if len(line) > 0 && line[0] == '"' {
			if line, whole, more, err = c.quoted(line[1:], whole); err != nil {
				return err
			}
		} else {
			line, more = c.unquoted(line)
		}
		c.ends = append(c.ends, len(c.text))
		switch {
		case more:
		case c.bad:
			return errRecord
		default:
			return nil
		}
	}
}

func (c *csvReader) unquoted(line []byte) (rest []byte, more bool) {
	i := bytes.IndexByte(line, c.comma)
	if i < 0 {
		c.text = append(c.text, line...)
		return nil, false
	}
	c.text = append(c.text, line[:i]...)
	return line[i+1:], true
}

// quoted reads a field after its opening quote. whole is the length of the physical line that line is the end of.
func (c *csvReader) quoted(line []byte, whole int) (rest []byte, length int, more bool, err error) {
	openLine, openCol := c.lines.line, whole-len(line)
	for {
		i := bytes.IndexByte(line, '"')
		if i < 0 {
			c.text = append(append(grown(c.text, len(line)+1, c.r.cap), line...), '\n')
			if len(c.text) > c.r.cap {
				return nil, 0, false, c.report(errFile, openLine, openCol, "is its closing quote missing?",
					"the quoted field that begins here is longer than %d MB", c.r.cap>>20)
			}
			if line, err = c.nextLine(); err == io.EOF {
				return nil, 0, false, c.report(errFile, openLine, openCol, "a quote inside a quoted field is written twice",
					"the quote that opens here is never closed")
			} else if err == errRecord { // a line over the cap may have held the closing quote
				return nil, 0, false, errFile
			} else if err != nil {
				return nil, 0, false, err
			}
			whole = len(line)
			continue
		}
		c.text = append(c.text, line[:i]...)
		line = line[i+1:]
		switch {
		case len(line) == 0:
			return nil, whole, false, nil
		case line[0] == c.comma:
			return line[1:], whole, true, nil
		case line[0] != '"':
			return nil, 0, false, c.report(errRecord, c.lines.line, whole-len(line)+1, "a quote inside a quoted field is written twice",
				"text follows a closing quote")
		}
		c.text = append(c.text, '"')
		line = line[1:]
	}
}

// nextLine returns the next physical line. One that is no text is reported and read all the same, so that quotes are
// counted.
func (c *csvReader) nextLine() ([]byte, error) {
	line, err := c.lines.next()
	at := c.lines.line
	switch {
	case err == io.EOF:
		return nil, err
	case err == errLong:
		return nil, c.report(errRecord, at, 0, "", "the line is longer than %d MB", c.r.cap>>20)
	case err != nil:
		return nil, c.report(errFile, at+1, 0, "", "read: %v", err)
	}
	if i, what, hint := fault(line); i >= 0 {
		c.bad = true
		return line, c.report(nil, at, i+1, hint, "%s at byte %d of the line", what, i+1)
	}
	return line, nil
}

// report yields a problem and returns how to go on.
func (c *csvReader) report(then error, line, col int, hint, format string, args ...any) error {
	if !c.r.bad(line, col, hint, format, args...) {
		return errNoMore
	}
	return then
}
