// Package examples carries the example studies inside the binary, so that `assay init` can write them anywhere.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed all:start
var files embed.FS

// Example is one example study.
type Example struct {
	Name string
	What string // one line for people
	FS   fs.FS  // its folder; the study is study.yaml
}

// All lists the examples; the first is the one to start with.
func All() []Example {
	return []Example{
		{"start", "twelve questions, three models, one push back, three kinds of judging", folder("start")},
	}
}

func folder(name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil { // the name is one of ours: this cannot happen
		return files
	}
	return sub
}
