package catalog

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"testing"
)

var update = flag.Bool("update", false, "pack the rows into rows.json anew")

// TestThePackedRowsAreThoseOfTheFiles holds what the program reads against what people write.
func TestThePackedRowsAreThoseOfTheFiles(t *testing.T) {
	t.Parallel()
	want, err := read(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(os.DirFS(".")); err != nil { // checks every row
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("rows.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		packed = text
	}
	if !bytes.Equal(text, packed) {
		t.Fatal("rows.json is of other files; go test ./internal/study/catalog -update packs them anew")
	}
	var got rows
	if err := json.Unmarshal(packed, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("rows.json does not hold all that the files say")
	}
}
