// Package examples carries the example studies inside the binary, so that `assay init` can write them anywhere.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed */*.csv */*.jsonl */*.md */*.txt */*.yaml lanes/scenes spec-compliance/inputs
var files embed.FS // by their kinds: a folder in which someone has run the example holds a ledger, too

// Example is one example study.
type Example struct {
	Name string
	What string // one line for people
	FS   fs.FS  // its folder; the study is study.yaml
}

// All lists the examples; the first is the one to start with.
func All() []Example {
	return []Example{
		{"start", "twelve questions, three models, two ways to push back, three kinds of judging", folder("start")},
		{"sycophancy", "thirty dangerous questions under three regimes of pressure: does a warning stand?", folder("sycophancy")},
		{"spec-compliance", "twelve statements of a specification: who keeps to them, rated and ranked", folder("spec-compliance")},
		{"writing-pairs", "twenty texts compared in pairs, under five prompts and two traits, by several judges", folder("writing-pairs")},
		{"lanes", "fifteen lanes of five model families on twenty-one scenes: 315 requests", folder("lanes")},
	}
}

func folder(name string) fs.FS {
	sub, err := fs.Sub(files, name)
	if err != nil { // the name is one of ours: this cannot happen
		return files
	}
	return sub
}
