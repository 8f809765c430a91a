package inputs_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"assay/internal/study/inputs"
)

// Items are read one after the other, from any file system.
func ExampleOpen() {
	files := fstest.MapFS{"questions.csv": {Data: []byte("id,text\n1,What is love?\n2,Who wrote Hamlet?\n")}}
	source := inputs.Open(files, map[string]inputs.Spec{"questions": {Name: "questions", File: "questions.csv"}})
	for item, err := range source.Items(context.Background(), "questions") {
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := inputs.Value(item, "text")
		fmt.Println(item.ID, text)
	}
	// Output:
	// 1 What is love?
	// 2 Who wrote Hamlet?
}
