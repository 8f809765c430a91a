package assay

import (
	"strings"
	"unicode/utf8"
)

// After returns the place right behind a text that begins at p; columns count characters. Further lines of the text count as
// indented like its first, which is exact for whole files and for YAML block scalars.
func (p Place) After(text string) Place {
	if p.Line == 0 {
		return p
	}
	if n := strings.Count(text, "\n"); n > 0 {
		p.Line += n
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	if p.Col > 0 {
		p.Col += utf8.RuneCountInString(text)
	}
	return p
}
