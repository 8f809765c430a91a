package assay

import (
	"io"
	"strings"
)

// CSV writes rows of comma-separated cells, as encoding/csv does and reads them. It also quotes cells with a semicolon or a tab:
// a spreadsheet that splits at those as well as at commas then leaves the cell whole, and no formula can begin inside it.
type CSV struct {
	out io.Writer
	row []byte
	err error
}

// flushAt is how many bytes are gathered for one write.
const flushAt = 1 << 16

// NewCSV writes to out. Flush it at the end.
func NewCSV(out io.Writer) *CSV { return &CSV{out: out} }

// Write adds a row.
func (c *CSV) Write(cells []string) error {
	for i, cell := range cells {
		if i > 0 {
			c.row = append(c.row, ',')
		}
		c.cell(cell, len(cells) == 1)
	}
	c.row = append(c.row, '\n')
	if len(c.row) >= flushAt {
		c.Flush()
	}
	return c.err
}

func (c *CSV) cell(text string, alone bool) {
	if alone && text == "" || strings.ContainsAny(text, ",\"\r\n;\t") || strings.HasPrefix(text, " ") || text == `\.` {
		c.row = append(c.row, '"')
		c.row = append(c.row, strings.ReplaceAll(text, `"`, `""`)...)
		c.row = append(c.row, '"')
		return
	}
	c.row = append(c.row, text...)
}

// Flush writes what is left.
func (c *CSV) Flush() {
	if c.err == nil && len(c.row) > 0 {
		_, c.err = c.out.Write(c.row)
	}
	c.row = c.row[:0]
}

// Error is the first error of a write.
func (c *CSV) Error() error { return c.err }
