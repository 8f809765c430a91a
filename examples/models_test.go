package examples_test

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"assay/examples"
)

func TestTheModelsToBeginWithAreThoseOfTheFirstExample(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(examples.All()[0].FS, "study.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.Concat(examples.Models(), []string{examples.Judge}) {
		if !strings.Contains(string(text), "model: "+id+",") {
			t.Errorf("the first example does not ask %s", id)
		}
	}
}
