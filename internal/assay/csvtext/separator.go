package csvtext

import (
	"bufio"
	"io"
)

// maxHeading is how much of a file is looked at to tell how its columns are separated.
const maxHeading = 16 << 10

// NewReader returns a buffer that is large enough for [Separator].
func NewReader(in io.Reader) *bufio.Reader { return bufio.NewReaderSize(in, maxHeading) }

// Separator returns what separates the columns of a heading: commas, or where it has none outside of quotes, semicolons, as spreadsheets
// write where the comma is the decimal point, or tabs. Nothing is read from in.
func Separator(in *bufio.Reader) byte {
	begin, _ := in.Peek(maxHeading) // an error shows when it is read
	found, quoted := byte(','), false
	for _, c := range begin {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == ',':
			return ','
		case c == '\n':
			return found
		case c == ';', c == '\t' && found != ';':
			found = c
		}
	}
	return found
}
