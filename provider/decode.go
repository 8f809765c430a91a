package provider

import (
	"fmt"
	"io"
	"iter"

	"assay"
	"assay/dialect"
)

// DecodeLines reads result lines as a wire says. A line beyond dialect.MaxLine stays in the part: its outcome says so.
func DecodeLines(w assay.Wire, r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		var d dialect.Decoder
		for raw, err := range dialect.Lines(r, 0) {
			line := Line{Offset: raw.Offset, Length: raw.Length}
			if err != nil {
				yield(line, fmt.Errorf("decode results: %w", err))
				return
			}
			if raw.TooLong {
				line.CustomID, line.Malformed = d.Line(w, raw.Head).ID, true
				line.Outcome = assay.Outcome{Ending: assay.Errored, Fault: &assay.Fault{
					Class: assay.FaultLarge, Code: "line_too_large", Message: fmt.Sprintf("the line has %d bytes", raw.Length),
				}}
			} else {
				res := d.Line(w, raw.Bytes)
				line.CustomID, line.Outcome, line.Malformed, line.Note = res.ID, res.Outcome, res.Malformed, res.Note
			}
			if !yield(line, nil) {
				return
			}
		}
	}
}
