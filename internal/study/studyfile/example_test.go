package studyfile_test

import (
	"fmt"
	"testing/fstest"

	"assay/internal/study/studyfile"
)

// All problems of a study are listed at once, each with its place.
func ExampleRead() {
	files := fstest.MapFS{"study.yaml": {Data: []byte("study: small\nlanez: {}\nbudget: five\n")}}
	_, problems := studyfile.Read(files, "study.yaml", studyfile.Options{})
	for _, p := range problems.Errors() {
		fmt.Println(p)
	}
	// Output:
	// study.yaml:1:1: the study has no stages (add `stages:` with one `ask`)
	// study.yaml:2:1: unknown key "lanez" (did you mean lanes?)
	// study.yaml:3:9: want an amount in dollars, such as 40 USD, got the text "five"
}
