package assay

import (
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// Place is a position in a file the user wrote. Line and column count from 1; 0 means unknown.
type Place struct {
	File string
	Line int
	Col  int
}

// String returns file:line:col, as far as it is known.
func (p Place) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

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

// Remote begins the name of a file in a dataset of Hugging Face, where a file of this machine may be named, too.
const Remote = "hf://"

// IsRemote reports whether a name is one of a file in a dataset, also after path.Clean.
func IsRemote(name string) bool { return strings.HasPrefix(name, "hf:/") }

// CleanPath returns a path as a study writes it in the form that a file system takes.
func CleanPath(name string) string {
	if rest, ok := strings.CutPrefix(name, "hf:/"); ok {
		return Remote + strings.TrimPrefix(path.Clean("/"+rest), "/")
	}
	return path.Clean(name)
}
