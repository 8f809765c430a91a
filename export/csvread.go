package export

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// csvReader reads records whose fields may be quoted and may span lines. Unlike encoding/csv it gives line ends inside
// quotes back as they are, because an answer has to come back to the byte; and it goes on after a broken record.
type csvReader struct {
	in    *bufio.Reader
	line  int // the line that is read
	begun int // the line on which the record begins
	cells []string
	cell  []byte
	size  int
}

// brokenRecord says why a record cannot be read; the next one can.
type brokenRecord struct{ why string }

func (b *brokenRecord) Error() string { return b.why }

func newCSVReader(r io.Reader) *csvReader {
	return &csvReader{in: bufio.NewReaderSize(r, 1<<16), line: 1}
}

// record reads the next record; blank lines are none. The cells are valid until the next one.
func (c *csvReader) record() ([]string, error) {
	for {
		c.begun, c.cells, c.size = c.line, c.cells[:0], 0
		end, err := c.field()
		for err == nil && !end {
			end, err = c.field()
		}
		if err != nil {
			return nil, err
		}
		if len(c.cells) == 1 && c.cells[0] == "" && c.size == 0 {
			if _, err := c.in.Peek(1); errors.Is(err, io.EOF) {
				return nil, io.EOF
			}
			continue
		}
		return c.cells, nil
	}
}

// field reads one field and what ends it; end tells whether the record ends with it.
func (c *csvReader) field() (end bool, err error) {
	c.cell = c.cell[:0]
	b, err := c.next()
	if err == nil && b == '"' {
		c.size++
		return c.quoted()
	}
	for ; err == nil && b != ',' && b != '\n'; b, err = c.next() {
		if err := c.put(b); err != nil {
			return false, err
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if err != nil || b == '\n' {
		if n := len(c.cell); n > 0 && c.cell[n-1] == '\r' {
			c.cell = c.cell[:n-1]
			if n == 1 {
				c.size--
			}
		}
		c.cells = append(c.cells, string(c.cell))
		return true, nil
	}
	c.size++
	c.cells = append(c.cells, string(c.cell))
	return false, nil
}

// quoted reads the rest of a field that began with a quote.
func (c *csvReader) quoted() (end bool, err error) {
	for {
		b, err := c.next()
		if errors.Is(err, io.EOF) {
			return true, &brokenRecord{"a quote is never closed"}
		}
		if err != nil {
			return false, err
		}
		if b != '"' {
			if err := c.put(b); err != nil {
				return false, err
			}
			continue
		}
		b, err = c.next()
		if err == nil && b == '"' {
			if err := c.put(b); err != nil {
				return false, err
			}
			continue
		}
		c.cells = append(c.cells, string(c.cell))
		return c.after(b, err)
	}
}

// after looks at what follows a closing quote.
func (c *csvReader) after(b byte, err error) (end bool, _ error) {
	if err == nil && b == '\r' {
		b, err = c.next()
		if err == nil && b != '\n' {
			return false, c.skip(b)
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, err
	case b == '\n':
		return true, nil
	case b == ',':
		return false, nil
	}
	return false, c.skip(b)
}

// skip goes to the end of the line after text that follows a closing quote.
func (c *csvReader) skip(b byte) error {
	for b != '\n' {
		var err error
		if b, err = c.next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	return &brokenRecord{"text follows a closing quote"}
}

func (c *csvReader) put(b byte) error {
	if c.size++; c.size > maxRecord {
		return fmt.Errorf("the record at line %d has more than %d MB", c.begun, maxRecord>>20)
	}
	c.cell = append(c.cell, b)
	return nil
}

func (c *csvReader) next() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil && b == '\n' {
		c.line++
	}
	return b, err
}
